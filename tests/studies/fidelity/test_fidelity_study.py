"""The study of fidelities: by hand on small tables, and on the cells of NAS-Bench-101 that come with the package."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import nasbed
from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows, concatenate
from nasbed.results.store import write_results
from nasbed.studies.fidelity.page import fidelity_outcome, fidelity_table, write_fidelity_report
from nasbed.studies.fidelity.study import fidelity_study
from support.commands import run_command
from support.documentation import page_text
from support.result_samples import ACCURACY

NB201 = nasbed.space("nb201")
CODES = NB201.codes(list(NB201.enumerate()))[::157]
TRUTH = np.random.default_rng(0).normal(50, 5, len(CODES))


def training(
    folder: Path, noise: float, cost_s: float, *, seeds: int = 3, epochs: int = 1, codes: np.ndarray = CODES
) -> TabularBenchmark:
    """A table of the truth with noise."""
    rng = np.random.default_rng(round(100 * noise) + 7)
    rows = [
        Rows.of(
            codes,
            {ACCURACY.key: TRUTH[: len(codes)] + noise * rng.normal(size=len(codes))},
            fidelity=epochs,
            seed=seed,
            train_time_s=cost_s,
        )
        for seed in range(seeds)
    ]
    return TabularBenchmark(
        write_results(folder, TableInfo(folder.name, "nb201", (ACCURACY,), dataset="a"), [concatenate(rows)])
    )


def test_noise_lowers_what_is_measured_and_not_what_is_corrected(tmp_path: Path) -> None:
    reference = training(tmp_path / "reference", 1.0, 100.0)
    tables = [training(tmp_path / name, noise, cost) for name, noise, cost in (("a", 5.0, 1.0), ("b", 2.0, 10.0))]
    study = fidelity_study(reference, tables, resamples=50)
    noisy, better = study.agreements
    assert [noisy.training, better.training] == ["a, 1 epoch", "b, 1 epoch"]
    assert noisy.spearman.estimate < better.spearman.estimate < 1 and noisy.reliability < better.reliability
    assert noisy.corrected == pytest.approx(1, abs=0.12) and better.corrected == pytest.approx(1, abs=0.05)
    assert study.chosen == noisy and study.frontier[0] == noisy
    assert "It takes 0.01 of the reference's time" in fidelity_outcome(study)


def test_correlations_are_scipys_of_the_means(tmp_path: Path) -> None:
    reference, cheap = training(tmp_path / "reference", 1.0, 9.0), training(tmp_path / "cheap", 4.0, 1.0, seeds=1)
    (agreement,) = fidelity_study(reference, [cheap], resamples=20).agreements
    means, single = (table.mean_objective(CODES) for table in (reference, cheap))
    assert agreement.spearman.estimate == pytest.approx(spearmanr(means, single).statistic)
    assert agreement.parameters == pytest.approx(spearmanr(means, NB201.properties(CODES)["parameters"]).statistic)
    assert np.isnan(agreement.corrected) and agreement.best_estimate == agreement.spearman.estimate


def test_a_dominated_training_is_not_on_the_frontier(tmp_path: Path) -> None:
    reference = training(tmp_path / "reference", 0.5, 100.0)
    tables = [
        training(tmp_path / name, noise, cost, seeds=1)
        for name, noise, cost in (("cheap", 4.0, 1.0), ("worse", 9.0, 2.0), ("good", 1.0, 3.0))
    ]
    study = fidelity_study(reference, tables, resamples=20, at_least=0.95)
    assert [agreement.training.split(",")[0] for agreement in study.frontier] == ["cheap", "good"]
    assert study.chosen is not None and study.chosen.training.startswith("good")
    strict = fidelity_study(reference, tables[:2], resamples=20, at_least=0.95)
    assert strict.chosen is None and "No training agrees" in fidelity_outcome(strict)


def test_cells_of_nas_bench_101_need_four_epochs(tmp_path: Path) -> None:
    """As docs/findings/fidelity.md says; the same correlations as in docs/datasheets/darts.md up to test instead of validation."""
    mini = nasbed.load("nb101-mini-cifar10-16-v1.0")
    assert isinstance(mini, TabularBenchmark)
    study = fidelity_study(mini, resamples=50)
    assert [round(agreement.corrected, 2) for agreement in study.agreements] == [0.78, 0.86, 0.97]
    assert "| 0.78 | 0.86 | 0.97 | 0.88 |" in page_text("fidelity")
    assert {round(agreement.parameters, 2) for agreement in study.agreements} == {0.88}
    assert study.chosen is not None and study.chosen.training == "nb101-mini-cifar10-16-v1.0, 4 epochs"
    write_fidelity_report(study, tmp_path, formats=())
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["chosen"] == study.chosen.training and len(numbers["trainings"]) == 3
    page = (tmp_path / "report.html").read_text()
    assert all(row[3] in page for row in fidelity_table(study).rows)


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    reference = training(tmp_path / "reference", 1.0, 9.0)
    few = training(tmp_path / "few", 1.0, 1.0, codes=CODES[:10])
    other = nasbed.load("nb101-mini-cifar10-16-v1.0")
    assert isinstance(other, TabularBenchmark)
    for tables, message in (([], "has one fidelity"), ([few], "have 10 in common"), ([other], "of nb201 and nb101-")):
        with pytest.raises(InvalidOption, match=message):
            fidelity_study(reference, tables)
    flat = TabularBenchmark(
        write_results(
            tmp_path / "flat",
            TableInfo("flat", "nb201", (ACCURACY,)),
            [Rows.of(CODES, {ACCURACY.key: 0 * TRUTH + 5}, fidelity=1)],
        )
    )
    for tables, message in (([reference], "named once"), ([flat], "the same result in flat, 1 epoch")):
        with pytest.raises(InvalidOption, match=message):
            fidelity_study(reference, tables)
    with pytest.raises(InvalidOption, match="between 0 and 1, got 2"):
        fidelity_study(reference, [reference], at_least=2)


def test_command_prints_the_table_and_writes_the_page(tmp_path: Path) -> None:
    folders = [
        str(training(tmp_path / name, noise, cost).results.folder)
        for name, noise, cost in (("reference", 1.0, 100.0), ("cheap", 2.0, 10.0))
    ]
    run = run_command("study", "fidelity", *folders, "--out", tmp_path / "out", "--format", "svg")
    assert run.returncode == 0, run.stderr
    assert "cheap, 1 epoch is the cheapest that ranks like reference, 1 epoch" in run.stdout
    assert (tmp_path / "out" / "figures" / "frontier.svg").exists()
