"""Engines with real processes that raise, die and hang. All tests of Ray are here: its cluster is started once."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks import NoiseFree, TabularBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import WAIT, Engine, LocalEngine, SerialEngine
from support import engine_tasks
from support.dying_campaign import check_dying_campaign


@pytest.fixture(params=["serial", "local", pytest.param("ray", marks=pytest.mark.ray)])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "serial":
        return SerialEngine()
    if request.param == "local":
        return LocalEngine(2)
    pytest.importorskip("ray", reason="needs the extra ray")
    from nasbed.core.execution.ray_engine import RayEngine

    return RayEngine()


rarely_with_ray = pytest.mark.parametrize(
    "engine",
    ["serial", "local", pytest.param("ray", marks=[pytest.mark.ray, pytest.mark.thorough])],
    indirect=True,
)
"""For what all engines promise: to start Ray takes seconds each time."""


def test_engine_gives_every_result_once(engine: Engine) -> None:
    outcomes = list(engine.map_unordered(engine_tasks.square, range(20)))
    assert sorted(outcome.task for outcome in outcomes) == list(range(20))
    assert {outcome.task: outcome.result for outcome in outcomes} == {n: n * n for n in range(20)}
    assert not any(outcome.error for outcome in outcomes)


def test_engine_without_tasks_is_done(engine: Engine) -> None:
    assert list(engine.map_unordered(engine_tasks.square, [])) == []


@rarely_with_ray
def test_engine_takes_tasks_that_are_made_from_outcomes(engine: Engine) -> None:
    """Each round of tasks is made when the one before has ended, by the same workers."""
    finished: list[int] = []

    def rounds() -> Iterator[Any]:
        for start in range(0, 9, 3):
            assert sorted(finished) == list(range(start))
            yield from range(start, start + 3)
            while len(finished) < start + 3:
                yield WAIT

    workers = set()
    for outcome in engine.map_unordered(engine_tasks.process_of, rounds()):
        assert not outcome.error
        finished.append(outcome.task)
        workers.add(outcome.result)
    assert sorted(finished) == list(range(9))
    assert len(workers) <= 3, "workers stay from round to round"


@rarely_with_ray
def test_engine_refuses_tasks_that_wait_for_nothing(engine: Engine) -> None:
    with pytest.raises(InvalidOption, match="tasks wait for an outcome while none is running"):
        list(engine.map_unordered(engine_tasks.square, [1, WAIT, WAIT, 2]))


@rarely_with_ray
def test_engine_task_that_raises_is_named_and_alone(engine: Engine, tmp_path: Path) -> None:
    tasks = [("fine", ""), ("raise", ""), ("fine", "")]
    outcomes = {outcome.task: outcome for outcome in engine.map_unordered(engine_tasks.misbehave, tasks)}
    assert outcomes[1].error == "ValueError: as asked"
    assert outcomes[0].result == outcomes[2].result == "fine"


@rarely_with_ray
def test_engine_tells_a_refusal_from_a_failure(engine: Engine) -> None:
    (outcome,) = engine.map_unordered(engine_tasks.refuse, ["no GPU here; take cpu"])
    assert (outcome.refusal, outcome.error) == ("no GPU here; take cpu", "NotReady: no GPU here; take cpu")
    (failed,) = engine.map_unordered(engine_tasks.misbehave, [("raise", "")])
    assert failed.error and not failed.refusal


def test_local_engine_worker_may_have_processes_of_its_own() -> None:
    (outcome,) = LocalEngine(1).map_unordered(engine_tasks.square_in_another_process, [7])
    assert (outcome.result, outcome.error) == (49, "")


def test_local_engine_worker_that_dies_costs_one_retry(tmp_path: Path) -> None:
    tasks = [("fine", ""), ("die once", str(tmp_path)), ("die", ""), ("fine", ""), ("fine", "")]
    outcomes = {outcome.task: outcome for outcome in LocalEngine(2).map_unordered(engine_tasks.misbehave, tasks)}
    assert outcomes[1].result == "die once" and not outcomes[1].error
    assert "died twice, exit code 3" in outcomes[2].error
    assert [outcomes[n].result for n in (0, 3, 4)] == ["fine"] * 3


def test_local_engine_worker_that_hangs_is_ended(tmp_path: Path) -> None:
    tasks = [("hang", ""), ("fine", ""), ("fine", ""), ("fine", "")]
    outcomes = {
        outcome.task: outcome for outcome in LocalEngine(2).map_unordered(engine_tasks.misbehave, tasks, timeout_s=6)
    }
    assert outcomes[0].error == "no result within 6 s; the process was ended"
    assert [outcomes[n].result for n in (1, 2, 3)] == ["fine"] * 3


def test_local_engine_stopped_early_leaves_no_process(tmp_path: Path) -> None:
    before = set(multiprocessing.active_children())
    outcomes = LocalEngine(2).map_unordered(engine_tasks.square, range(100))
    next(outcomes)
    assert len(set(multiprocessing.active_children()) - before) == 2
    outcomes.close()  # type: ignore[attr-defined]
    assert not set(multiprocessing.active_children()) - before


def test_engine_refuses_no_processes() -> None:
    with pytest.raises(InvalidOption, match="at least one process"):
        LocalEngine(-1)


@pytest.mark.thorough
@pytest.mark.ray
def test_ray_engine_counts_time_from_the_start_of_a_task(tmp_path: Path) -> None:
    """With one worker, the tasks behind the one that hangs wait longer than the time-out."""
    pytest.importorskip("ray", reason="needs the extra ray")
    from nasbed.core.execution.ray_engine import RayEngine

    tasks = [("hang", ""), ("die once", str(tmp_path)), ("fine", "")]
    engine = RayEngine(workers=1)
    outcomes = {outcome.task: outcome for outcome in engine.map_unordered(engine_tasks.misbehave, tasks, timeout_s=1)}
    assert outcomes[0].error == "no result within 1 s; the process was ended"
    assert [outcomes[1].result, outcomes[2].result] == ["die once", "fine"]
    with pytest.raises(InvalidOption, match="a task takes 1 cores and 64 GPUs, the cluster has"):
        list(RayEngine(gpus=64).map_unordered(engine_tasks.square, [1]))


@pytest.mark.thorough
@pytest.mark.ray
def test_benchmarks_answer_the_same_in_a_ray_task() -> None:
    """Arguments of a task of a user's own; one task for all of them, since most of its time goes into imports."""
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    from nasbed.core.execution.ray_engine import RayEngine

    RayEngine()  # starts Ray, unless another test has
    table = nasbed.load("nb101-mini-cifar10-16-v1.0")
    assert isinstance(table, TabularBenchmark)
    surrogate = nasbed.load("snb-darts-cifar10-16-lgb-v2.0")
    rng = np.random.default_rng(0)
    cases = [
        (table, [*islice(table.architectures(), 10)]),
        (NoiseFree(table), [*islice(table.architectures(), 10)]),
        (surrogate, [surrogate.space.sample(rng) for _ in range(10)]),
    ]
    references = ray.remote(engine_tasks.accuracies).remote(cases)
    assert ray.get(references) == engine_tasks.accuracies(cases)


@pytest.mark.ray
@pytest.mark.kill
@pytest.mark.thorough
def test_campaign_ray_worker_killed_in_a_trial_is_replaced_and_the_trial_repeated(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra ray")
    from nasbed.core.execution.ray_engine import RayEngine

    check_dying_campaign(tmp_path, RayEngine(cpus=0.5, workers=2))


@pytest.mark.parametrize("end", ["kill", "exit", "slow exit"])
def test_local_engine_that_ends_takes_its_workers_along(tmp_path: Path, end: str) -> None:
    """They hang in a task when the process that started them is killed, or exits without having stopped them. In a slow
    exit the engine's thread has a second in which it could start other workers."""
    code = (
        "import threading, time, sys\nfrom support import engine_tasks\n"
        "from multiprocessing.util import Finalize\n"
        "from pathlib import Path\n"
        "from nasbed.core.execution import LocalEngine\n"
        f"if {end == 'slow exit'}:\n"
        "    Finalize(None, time.sleep, args=(1,), exitpriority=0)\n"
        "def work():\n"
        f"    list(LocalEngine(2).map_unordered(engine_tasks.write_pid_and_hang, [r'{tmp_path}'] * 2))\n"
        "if __name__ == '__main__':\n"
        "    threading.Thread(target=work, daemon=True).start()\n"
        f"    while not Path(r'{tmp_path}', 'end').exists():\n"
        "        time.sleep(0.02)\n"
    )
    (tmp_path / "script.py").write_text(code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen([sys.executable, str(tmp_path / "script.py")], env=environment)
    deadline = time.monotonic() + 30
    try:
        while len(workers := list(tmp_path.glob("*.pid"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        if end == "kill":
            process.kill()
        else:
            (tmp_path / "end").touch()
        process.wait(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert len(workers) == 2
    while any(_lives(int(path.stem)) for path in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_lives(int(path.stem)) for path in workers)


def _lives(process: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
