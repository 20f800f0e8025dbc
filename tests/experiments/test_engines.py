"""Engines with real processes that raise, die and hang."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import engine_tasks
import pytest

from nasbed.core.errors import InvalidOption
from nasbed.experiments.engines import Engine, LocalEngine, SerialEngine


@pytest.fixture(params=["serial", "local", "ray"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "serial":
        return SerialEngine()
    if request.param == "local":
        return LocalEngine(2)
    pytest.importorskip("ray", reason="needs the extra ray")
    from nasbed.experiments.ray_engine import RayEngine

    return RayEngine()


def test_engine_gives_every_result_once(engine: Engine) -> None:
    outcomes = list(engine.map_unordered(engine_tasks.square, range(20)))
    assert sorted(outcome.task for outcome in outcomes) == list(range(20))
    assert {outcome.task: outcome.result for outcome in outcomes} == {n: n * n for n in range(20)}
    assert not any(outcome.error for outcome in outcomes)


def test_engine_without_tasks_is_done(engine: Engine) -> None:
    assert list(engine.map_unordered(engine_tasks.square, [])) == []


def test_engine_task_that_raises_is_named_and_alone(engine: Engine, tmp_path: Path) -> None:
    tasks = [("fine", ""), ("raise", ""), ("fine", "")]
    outcomes = {outcome.task: outcome for outcome in engine.map_unordered(engine_tasks.misbehave, tasks)}
    assert outcomes[1].error == "ValueError: as told"
    assert outcomes[0].result == outcomes[2].result == "fine"


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
    engine = LocalEngine(2)
    outcomes = engine.map_unordered(engine_tasks.square, range(100))
    next(outcomes)
    assert len(multiprocessing.active_children()) == 2
    outcomes.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []


def test_engine_refuses_no_processes() -> None:
    with pytest.raises(InvalidOption, match="at least one process"):
        LocalEngine(-1)
