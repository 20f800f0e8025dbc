"""The case study on local search: on curves whose answers are known, and against the comparison's own numbers."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed import Metric
from nasbed.benchmarks import load
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.evaluation.anytime import anytime
from nasbed.evaluation.judging import Trajectory
from nasbed.evaluation.summary import summarise
from nasbed.experiments.runs import load_runs
from nasbed.studies.local_search.page import moments_table, outcome, write_local_search_report
from nasbed.studies.local_search.study import LocalSearchStudy, compare_moments, local_search_study
from support.pages import check_page
from support.tables import nb201_table

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
SEEDS = 10


def falling(method: str, seed: int, *, before: float, after: float, at: int) -> Trajectory:
    """A regret over a hundred evaluations that drops once."""
    places = np.arange(1, 101)
    regret = np.where(places < at, before, after) + seed / 100
    return Trajectory(method, seed, places.astype(float), places - 1, regret, regret)


@pytest.fixture
def curves() -> dict[str, list[Trajectory]]:
    """Local search is behind random search until evaluation 60, and behind evolution throughout."""
    drops = {"ls": (9.0, 2.0, 60), "rs": (5.0, 4.0, 20), "re": (3.0, 1.0, 50)}
    return {
        name: [falling(name, seed, before=before, after=after, at=at) for seed in range(SEEDS)]
        for name, (before, after, at) in drops.items()
    }


def study_of(curves: dict[str, list[Trajectory]]) -> LocalSearchStudy:
    moments, passes = compare_moments(curves, 100, np.random.default_rng(0))
    drawn = {name: anytime(own) for name, own in curves.items()}
    return LocalSearchStudy(
        "made-up", ACCURACY, 90.0, SEEDS, "100ev", "evaluations", 0.1, moments, passes, drawn, drawn, {}
    )


def test_moments_have_the_places_and_exact_p_values(curves: dict[str, list[Trajectory]]) -> None:
    """All ten pairs differ the same way: 2 / 2¹⁰ for each of two tests, so Holm doubles both."""
    study = study_of(curves)
    assert [moment.at for moment in study.moments] == [1, 3, 10, 30, 100]
    assert [moment.place for moment in study.moments] == [3, 3, 3, 3, 2]
    for moment in study.moments:
        assert list(moment.p.values()) == pytest.approx([2 * 2**-9] * 2)
        assert sum(rank.estimate for rank in moment.ranks.values()) == pytest.approx(6)
    assert study.early.better == ["rs", "re"] and study.late.better == ["re"] and study.late.beaten == ["rs"]
    assert study.late.regrets["ls"].estimate == pytest.approx(2 + 0.045)


def test_passing_is_where_the_curve_drops_and_never_is_infinite(curves: dict[str, list[Trajectory]]) -> None:
    study = study_of(curves)
    step = 100 ** (1 / 199)  # of the grid
    assert 60 <= study.passes["rs"] <= 60 * step
    assert math.isinf(study.passes["re"])


def test_outcome_says_what_the_numbers_say(curves: dict[str, list[Trajectory]]) -> None:
    text = outcome(study_of(curves))
    assert text.startswith("Local search is worst of 3 at 10 evaluations (mean regret 9.0")
    assert "significantly worse than rs (p = 0.0039) and re (p = 0.0039). It is second of 3 at 100 evaluations" in text
    assert "below that of rs from 6" in text and "not below that of re in the end" in text
    assert "(even worse than random search)” early: here that is seen. " in text
    assert text.endswith("It calls it “one of the best” late: here that is not seen.")
    assert outcome(study_of({name: curves[name] for name in ("ls", "rs")})).endswith("late: here that is seen.")


def test_too_few_seeds_say_nothing_of_the_paper(curves: dict[str, list[Trajectory]]) -> None:
    """Five pairs and two tests: 2 / 2⁵ · 2 = 0.125 at the least."""
    small = study_of({name: own[:5] for name, own in curves.items()})
    assert min(small.late.p.values()) == pytest.approx(0.125)
    text = outcome(replace(small, seeds=5))
    assert text.endswith(
        "With 5 seeds and 2 other methods no difference can be significant, however large: run more seeds."
    )
    assert "paper" not in text


def test_moments_before_a_run_has_found_anything_are_left_out(curves: dict[str, list[Trajectory]]) -> None:
    late = curves["rs"][3]
    curves["rs"][3] = Trajectory("rs", 3, late.time_s[4:], late.incumbent[4:], late.validation_regret[4:],
                                 late.test_regret[4:])  # fmt: skip
    assert [moment.at for moment in study_of(curves).moments] == [10, 30, 100]
    with pytest.raises(InvalidOption, match="no seed finished"):
        study_of({"ls": curves["ls"][:3], "rs": curves["rs"][3:]})


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LocalSearchStudy]:
    table = tmp_path_factory.mktemp("tables") / "nb201"
    nb201_table(table)
    out = tmp_path_factory.mktemp("studies") / "ls"
    return out, local_search_study(
        str(table), rivals=["rs", "re"], seeds=6, budget="120ev", out=out, engine=SerialEngine()
    )


def test_late_is_what_a_comparison_of_the_same_runs_says(searched: tuple[Path, LocalSearchStudy]) -> None:
    out, study = searched
    runs = load_runs(out)
    summary = summarise(runs, load(runs.setup.benchmark), np.random.default_rng(0))
    for method in summary.methods:
        assert study.late.regrets[method.method].estimate == pytest.approx(summary.regret(method).estimate)
        assert study.late.ranks[method.method].estimate == pytest.approx(method.mean_rank.estimate)
    assert study.best == summary.best and study.metric.key == summary.judged_by


def test_seconds_are_a_budget_too_and_runs_are_not_run_again(
    searched: tuple[Path, LocalSearchStudy], tmp_path: Path
) -> None:
    out, study = searched
    table = load_runs(out).setup.benchmark
    methods: list[str] = []
    repeated = local_search_study(
        table, rivals=["rs"], seeds=6, budget="120ev", out=out, progress=lambda *run: methods.append(run[0])
    )
    assert not methods and repeated.late.regrets["ls"].estimate == study.late.regrets["ls"].estimate
    timed = local_search_study(
        table, rivals=["rs"], seeds=3, budget="3e5s", early=0.5, out=tmp_path, engine=SerialEngine()
    )
    assert timed.unit == "s" and timed.late.at == 3e5 and "simulated s" in outcome(timed)
    assert timed.early.at == 1.5e5 and timed.early is not timed.late


def test_report_is_one_page_with_the_same_numbers(searched: tuple[Path, LocalSearchStudy], tmp_path: Path) -> None:
    _, study = searched
    write_local_search_report(study, tmp_path / "new", formats=("svg",))
    numbers = json.loads((tmp_path / "new" / "numbers.json").read_text())
    assert numbers["outcome"] == outcome(study)
    assert numbers["moments"][-1]["mean_regret"]["rs"][0] == study.late.regrets["rs"].estimate
    page = (tmp_path / "new" / "report.html").read_text()
    assert len(check_page(tmp_path / "new" / "report.html").charts) == 2
    assert all(cell in page for row in moments_table(study).rows for cell in row)
    assert {path.name for path in (tmp_path / "new" / "figures").iterdir()} == {"evaluations.svg", "time.svg"}
