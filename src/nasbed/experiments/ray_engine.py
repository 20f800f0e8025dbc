"""Tasks on a Ray cluster: the one that this machine belongs to, or a small one started here."""

from __future__ import annotations

import logging
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Any

from nasbed.core.errors import InvalidOption, MissingDependency
from nasbed.experiments.engines import Engine, Outcome, TaskSource, attempt


class RayEngine(Engine):
    """Tasks are carried out by Ray actors, each of which holds ``cpus`` cores and ``gpus`` of a GPU, which may be a
    fraction, and as many as the cluster has room for, or ``workers``. What a function remembers stays in its actor.

    A task whose actor dies, or whose machine is lost, is tried once more in a new one; one past its time-out, counted
    from when its actor takes it, is ended together with its actor. Workers look for modules where this process does, so
    that functions of a script can be found there too.
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
        there = self._ray.cluster_resources()
        rooms = [there.get(name, 0) / needed for name, needed in (("CPU", self._cpus), ("GPU", self._gpus)) if needed]
        room = int(min(rooms) + 1e-9)
        if room < 1:
            raise InvalidOption(
                f"a task takes {self._cpus:g} cores and {self._gpus:g} GPUs, the cluster has {there.get('CPU', 0):g} "
                f"and {there.get('GPU', 0):g}; ask for less"
            )
        return room if self._workers is None else min(room, self._workers)

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[Outcome]:
        source, slots = TaskSource(tasks), self.slots
        again: deque[tuple[int, Any]] = deque()
        retried: set[int] = set()
        actors: list[_Actor] = []
        make = self._ray.remote(_Worker).options(num_cpus=self._cpus, num_gpus=self._gpus, max_restarts=0)
        shared = self._ray.put(function)
        try:
            while True:
                while (idle := _idle(actors)) is not None or len(actors) < slots:
                    taken = again.popleft() if again else source.take()
                    if taken is None:
                        break
                    if idle is None:
                        idle = _Actor(make.remote(shared))
                        actors.append(idle)
                    idle.give(*taken)
                if all(actor.task is None for actor in actors):
                    source.check_ended()
                    return
                for outcome in self._collect(actors, again, retried, timeout_s):
                    yield outcome
                    source.outcome_dealt_with()
        finally:
            for actor in actors:
                self._ray.kill(actor.handle)

    def _collect(
        self, actors: list[_Actor], again: deque[tuple[int, Any]], retried: set[int], timeout_s: float | None
    ) -> Iterator[Outcome]:
        ray = self._ray
        busy = [actor for actor in actors if actor.task is not None]
        waited = [actor.begun if actor.since is None else actor.answer for actor in busy]
        done, _ = ray.wait(waited, num_returns=1, timeout=0.2 if timeout_s is not None else 5.0)
        for actor, reference in zip(busy, waited, strict=True):
            assert actor.task is not None
            number, task = actor.task
            if reference in done:
                try:
                    found = ray.get(reference)
                except ray.exceptions.RayError as error:
                    actors.remove(actor)
                    ray.kill(actor.handle)
                    if number in retried:
                        yield Outcome(number, error=f"the process died twice: {type(error).__name__}")
                    else:
                        retried.add(number)
                        again.appendleft((number, task))
                    continue
                if actor.since is None:
                    actor.since = monotonic()
                else:
                    actor.task = None
                    yield found
            elif timeout_s is not None and actor.since is not None and monotonic() - actor.since > timeout_s:
                actors.remove(actor)
                ray.kill(actor.handle)
                yield Outcome(number, error=f"no result within {timeout_s:g} s; the process was ended")


class _Worker:
    """What runs in an actor."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def begin(self) -> None:
        """Answers when the actor is there and has nothing else to do."""

    def attempt(self, number: int, task: Any) -> Outcome:
        return attempt(self._function, number, task)


class _Actor:
    """An actor and the task that it has."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.task: tuple[int, Any] | None = None
        self.begun: Any = None
        self.answer: Any = None
        self.since: float | None = None

    def give(self, number: int, task: Any) -> None:
        self.task, self.since = (number, task), None
        self.begun = self.handle.begin.remote()
        self.answer = self.handle.attempt.remote(number, task)


def _idle(actors: list[_Actor]) -> _Actor | None:
    return next((actor for actor in actors if actor.task is None), None)
