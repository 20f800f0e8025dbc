"""``nasbed.compare``: the runs of the command, from a call that needs a benchmark and methods alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.experiments import compare as comparison
from nasbed.experiments.provenance import source_fingerprint
from nasbed.optimizers.random_search import RandomSearch

TABLE = "nb201-chesseract-v1.0"


class Climber(nasbed.Optimizer):
    """Mutates the last architecture of its own, from a fixed first one."""

    def __init__(self, problem: nasbed.optimizers.Problem, rng: np.random.Generator, first: int = 0) -> None:
        super().__init__(problem, rng)
        self.current = nasbed.Architecture("nb201", (first,) * 6)

    def ask(self, n: int = 1) -> list[nasbed.Proposal]:
        return [nasbed.Proposal(self.current)]

    def tell(self, observations: Sequence[nasbed.Observation]) -> None:
        self.current = self.space.mutate(self.current, self.rng)


def codes(runs: nasbed.Runs) -> dict[tuple[str, int], list[list[int]]]:
    return {(run.method, run.seed): run.codes.tolist() for run in runs.runs}


def test_compare_makes_the_runs_of_the_command(tmp_path: Path) -> None:
    runs = nasbed.compare(TABLE, ["rs", "re"], seeds=2, budget="20ev", progress=False)
    stored = comparison.compare(
        TABLE, ["rs", "re"], seeds=2, budget="20ev", out=tmp_path / "runs", engine=SerialEngine()
    )
    assert codes(runs) == codes(stored)
    assert codes(nasbed.compare(nasbed.load(TABLE), RandomSearch, seeds=2, budget="20ev")) == {
        key: value for key, value in codes(stored).items() if key[0] == "rs"
    }


def test_compare_takes_a_class_and_its_settings() -> None:
    runs = nasbed.compare(TABLE, Climber, seeds=2, budget="10ev", settings={"Climber": {"first": 3}})
    assert runs.methods == ["Climber"]
    assert all(run.codes[0].tolist() == [3] * 6 and not run.error for run in runs.runs)
    steps = np.abs(np.sign(np.diff(runs.runs[0].codes, axis=0))).sum(axis=1)
    assert (steps == 1).all(), "a mutation changes one operation"
    assert runs.runs[0].codes.tolist() != runs.runs[1].codes.tolist(), "seeds differ"


def test_compare_makes_the_same_runs_of_a_class_and_of_its_file() -> None:
    runs = nasbed.compare(TABLE, Climber, seeds=2, budget="10ev")
    assert codes(runs) == codes(nasbed.compare(TABLE, f"{__file__}:Climber", seeds=2, budget="10ev"))


def test_compare_keeps_stored_runs_of_a_class(tmp_path: Path) -> None:
    first = nasbed.compare(TABLE, [Climber], seeds=2, budget="10ev", out=str(tmp_path))
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    again = nasbed.compare(TABLE, [Climber], seeds=3, budget="10ev", out=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in files} == files
    assert codes(first).items() <= codes(again).items() and len(again.runs) == 3
    provenance = first.runs[0].made_by
    assert provenance is not None
    assert provenance.origin == f"{__name__}:Climber"
    assert provenance.source == object_fingerprint(Climber) == source_fingerprint(provenance.origin)


def test_compare_refuses_in_one_line_what_it_cannot_run() -> None:
    class Inner(Climber):
        pass

    for method, message in (
        (int, "subclass of nasbed.Optimizer"),
        ("res", "did you mean"),
        (Inner, "put the class in a file"),
    ):
        with pytest.raises(nasbed.NasbedError, match=message) as refusal:
            nasbed.compare(TABLE, [method], processes=2)  # type: ignore[list-item]
        assert "\n" not in str(refusal.value)
    renamed = nasbed.load(TABLE)
    renamed.name = "nowhere"
    with pytest.raises(InvalidOption, match="pass the path"):
        nasbed.compare(renamed, "rs")
