"""Tasks on a Ray cluster: the one that this machine belongs to, or a small one started here."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Collection
from time import monotonic
from typing import Any

from nasbed.core.errors import InvalidOption, MissingDependency
from nasbed.core.execution.engine import TaskOutcome, Worker, WorkerDied, WorkerEngine, attempt


class RayWorker(Worker):
    """A Ray actor and the task that it has."""

    def __init__(self, ray: Any, handle: Any) -> None:
        super().__init__()
        self._ray, self._handle = ray, handle
        self._started: Any = None
        self._outcome: Any = None
        self._since: float | None = None
        self._death = ""

    def give(self, number: int, task: Any) -> bool:
        self.task, self._since = (number, task), None
        self._started = self._handle.start.remote()
        self._outcome = self._handle.attempt.remote(number, task)
        return True

    @property
    def awaited(self) -> Any:
        """The reference that comes next: that the actor has started on the task, or its outcome."""
        return self._started if self._since is None else self._outcome

    def receive(self) -> TaskOutcome | None:
        try:
            outcome: TaskOutcome | None = self._ray.get(self.awaited)
        except self._ray.exceptions.RayError as error:
            self._death = f": {type(error).__name__}"
            raise WorkerDied from None
        if self._since is None:
            self._since = monotonic()
            return None
        return outcome

    @property
    def elapsed_s(self) -> float:
        return 0.0 if self._since is None else monotonic() - self._since

    def stop(self) -> None:
        self._ray.kill(self._handle)

    def cause_of_death(self) -> str:
        return self._death


class RayEngine(WorkerEngine[RayWorker]):
    """Runs tasks in Ray actors, as many as the cluster has room for, or ``workers``.

    Each actor holds ``cpus`` cores and ``gpus`` GPUs; either may be a fraction. What a function remembers stays in its
    actor. A task whose actor dies, or whose machine is lost, is tried once more in a new one. One that exceeds its
    timeout, counted from when its actor takes it, is ended together with its actor. Workers look for modules where this
    process does, so that functions of a script can be found there too.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        cpus: float = 1,
        gpus: float = 0,
        workers: int | None = None,
    ) -> None:
        try:
            import ray
        except ImportError:
            raise MissingDependency("the ray engine needs ray; get it with: pip install nasbed[ray]") from None
        if cpus < 0 or gpus < 0 or cpus + gpus <= 0:
            raise InvalidOption(f"a task takes some of a core or of a GPU, got {cpus:g} cores and {gpus:g} GPUs")
        if workers is not None and workers < 1:
            raise InvalidOption(f"an engine has at least one worker, got {workers}")
        self._ray: Any = ray
        self._cpus, self._gpus, self._workers = cpus, gpus, workers
        if not ray.is_initialized():
            ray.init(
                address=address,
                log_to_driver=False,
                include_dashboard=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
            )

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        total = self._ray.cluster_resources()
        rooms = [total.get(name, 0) / needed for name, needed in (("CPU", self._cpus), ("GPU", self._gpus)) if needed]
        room = int(min(rooms) + 1e-9)
        if room < 1:
            raise InvalidOption(
                f"a task takes {self._cpus:g} cores and {self._gpus:g} GPUs, the cluster has {total.get('CPU', 0):g} "
                f"and {total.get('GPU', 0):g}; ask for less"
            )
        return room if self._workers is None else min(room, self._workers)

    def _start(self, function: Callable[[Any], Any]) -> Callable[[], RayWorker]:
        actor = self._ray.remote(_Actor).options(num_cpus=self._cpus, num_gpus=self._gpus, max_restarts=0)
        shared = self._ray.put(function)
        return lambda: RayWorker(self._ray, actor.remote(shared))

    def _ready(self, busy: list[RayWorker], *, wait_s: float) -> Collection[RayWorker]:
        awaited = {worker.awaited: worker for worker in busy}
        references, _ = self._ray.wait(list(awaited), num_returns=1, timeout=wait_s)
        return [awaited[reference] for reference in references]


class _Actor:
    """What runs in a Ray actor."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def start(self) -> None:
        """Returns when the actor exists and has nothing else to do."""

    def attempt(self, number: int, task: Any) -> TaskOutcome:
        return attempt(self._function, number, task)
