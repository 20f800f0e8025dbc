"""Tasks on a Ray cluster: the one that this machine belongs to, or a small one started here."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any

from nasbed.core.errors import MissingDependency
from nasbed.experiments.engines import Engine, Outcome, attempt


class RayEngine(Engine):
    """Each task is a Ray task on one core. One whose worker dies is tried once more, one past its time-out is ended.

    Workers look for modules where this process does, so that functions of a script can be found there too.
    """

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise MissingDependency("the ray engine needs ray; get it with: pip install nasbed[ray]") from None
        self._ray = ray
        if not ray.is_initialized():
            ray.init(
                address=address,
                log_to_driver=False,
                include_dashboard=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
            )

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Sequence[Any], *, timeout_s: float | None = None
    ) -> Iterator[Outcome]:
        ray = self._ray
        remote = ray.remote(attempt).options(num_cpus=1, max_retries=1)
        slots = max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting = list(range(len(tasks)))[::-1]
        running: dict[Any, tuple[int, float]] = {}
        while waiting or running:
            while waiting and len(running) < slots:
                number = waiting.pop()
                running[remote.remote(function, number, tasks[number])] = number, monotonic()
            done, _ = ray.wait(list(running), num_returns=1, timeout=0.2 if timeout_s is not None else None)
            for reference in done:
                number, _ = running.pop(reference)
                try:
                    yield ray.get(reference)
                except ray.exceptions.RayError as error:
                    yield Outcome(number, error=f"the process died twice: {type(error).__name__}")
            if timeout_s is not None:
                for reference, (number, since) in list(running.items()):
                    if monotonic() - since > timeout_s:
                        del running[reference]
                        ray.cancel(reference, force=True)
                        yield Outcome(number, error=f"no result within {timeout_s:g} s; the process was ended")
