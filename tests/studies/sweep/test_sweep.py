"""A sweep over settings: the grid, its tests against the default, and runs that are kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nasbed import NasbedError
from nasbed.benchmarks import load
from nasbed.core.execution import SerialEngine
from nasbed.evaluation.anytime import anytime
from nasbed.studies.sweep.page import outcome, write_sweep_report
from nasbed.studies.sweep.study import compare_settings, sweep_plan, sweep_study
from nasbed.studies.variants import VariantResult
from support.pages import check_page

TABLE = "nb201-cifar10-16-v1.0"


def result(name: str, finals: list[float]) -> VariantResult:
    return VariantResult(name, anytime([]), np.array(finals), tuple(range(len(finals))))


def test_settings_are_tested_against_the_default_with_holms_correction() -> None:
    """Eight seeds that all differ one way have p = 2^-7; the other setting is equal, so Holm doubles that."""
    default = result("default", [1.0, 2, 3, 4, 5, 6, 7, 8])
    settings = compare_settings(
        [default, result("same", default.finals.tolist()), result("worse", (default.finals + 9).tolist())],
        np.random.default_rng(0),
    )
    assert np.isnan(settings[0].p) and settings[1].p == 1 and settings[2].p == pytest.approx(2 * 2**-7)
    assert [setting.differs for setting in settings] == [False, False, True]
    assert [setting.rank.estimate for setting in settings] == [1.5, 1.5, 3.0]
    assert settings[2].regret.estimate == pytest.approx(13.5)


def test_sweep_plan_is_every_combination_the_method_takes() -> None:
    table = load(TABLE)
    varied = {"population_size": [10, 100], "sample_size": [0, 10]}
    plan = sweep_plan(table, "re", varied, name=TABLE, budget="20ev")
    assert [variant.name for variant in plan.variants] == [
        "population_size=100, sample_size=10 (default)",
        "population_size=10, sample_size=10",
    ]
    assert plan.default.settings == {} and len(plan.left_out) == 2
    assert "at least 1, got 0" in plan.left_out["population_size=10, sample_size=0"]
    paper = sweep_plan(table, "re", {"sample_size": [50]}, name=TABLE, budget="20ev", preset="snb")
    assert paper.default.name == "sample_size=100 (default)"  # appendix C.3
    for bad, words in (
        ({"population": [1]}, "re has no setting 'population'"),
        ({"population_size": [0]}, "at least 1, got 0"),
        ({}, "at least one setting"),
    ):
        with pytest.raises(NasbedError, match=words):
            sweep_plan(table, "re", bad, name=TABLE, budget="20ev")


def test_sweep_keeps_its_runs_and_writes_a_page(tmp_path: Path) -> None:
    finished_runs: list[str] = []
    for _ in range(2):
        study = sweep_study(
            TABLE,
            "re",
            {"population_size": [4]},
            seeds=2,
            budget="12ev",
            out=tmp_path / "out",
            engine=SerialEngine(),
            progress=lambda folder, seed, error: finished_runs.append(f"{folder} {seed}{error}"),
        )
    assert finished_runs == ["re 0", "re 1", "re-population_size-4 0", "re-population_size-4 1"]
    assert not study.can_tell and "2 seeds no difference can be significant" in outcome(study)
    write_sweep_report(study, tmp_path / "out")
    check_page(tmp_path / "out" / "report.html")
    numbers = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert numbers["settings"][1]["final_regrets"] == {
        str(seed): value for seed, value in study.settings[1].variant.by_seed.items()
    }
