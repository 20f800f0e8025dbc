"""The study of transfer: by hand on small tables, and on the tables that come with the package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from scipy.stats import spearmanr

import nasbed
from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.results.store import write_results
from nasbed.studies.nas_bench_unseen import NAS_BENCH_UNSEEN
from nasbed.studies.transfer.page import transfer_summary, transfer_table, write_transfer_report
from nasbed.studies.transfer.study import TransferStudy, transfer_study
from support.commands import run_command
from support.result_samples import ACCURACY, LOSS, TEST_ACCURACY

NB201 = nasbed.space("nb201")
CODES = NB201.codes(list(NB201.enumerate()))[::521]
UP = np.linspace(10, 90, len(CODES))


def table(folder: Path, values: dict[str, np.ndarray], *, codes: np.ndarray = CODES) -> TabularBenchmark:
    metrics = tuple(metric for metric in (ACCURACY, TEST_ACCURACY, LOSS) if metric.key in values)
    info = TableInfo(folder.name, "nb201", metrics, dataset=folder.name)
    return TabularBenchmark(write_results(folder, info, [Rows.of(codes, values, fidelity=1)]))


@pytest.fixture(scope="module")
def unseen() -> TransferStudy:
    return transfer_study([nasbed.load(name) for name in NAS_BENCH_UNSEEN], resamples=20)  # type: ignore[misc]


def test_regret_is_what_the_best_of_one_is_worth_on_the_other(tmp_path: Path) -> None:
    """The best by validation on the first is the second best by test there, and the worst on the second."""
    validation = UP.copy()
    validation[[-1, -2]] = validation[[-2, -1]]
    first = table(tmp_path / "first", {ACCURACY.key: validation, TEST_ACCURACY.key: UP})
    down = UP[::-1].copy()
    down[-2] = 1.0
    second = table(tmp_path / "second", {ACCURACY.key: down, TEST_ACCURACY.key: down})
    study = transfer_study([first, second], resamples=5)
    step = UP[1] - UP[0]
    np.testing.assert_allclose(study.regrets.regret, [[step, 89], [80, 0]], rtol=1e-12)
    share = 100 / len(CODES)
    np.testing.assert_allclose(study.regrets.better_percent, [[share, 100 - share], [100 - share, 0]], rtol=1e-12)
    assert "the rankings of first and second correlate by" in transfer_summary(
        study
    ) and "89.00 points below" in transfer_summary(study)


def test_losses_are_better_when_lower(tmp_path: Path) -> None:
    first = table(tmp_path / "first", {ACCURACY.key: UP, TEST_ACCURACY.key: UP})
    second = table(tmp_path / "second", {ACCURACY.key: UP, LOSS.key: 100 - UP})
    study = transfer_study([first, second], resamples=5)
    assert study.columns[1].metric == LOSS
    assert study.ranks.spearman == pytest.approx(np.ones((2, 2))) and not study.regrets.regret.any()


def test_only_what_all_tables_have_is_compared(tmp_path: Path) -> None:
    first = table(tmp_path / "first", {ACCURACY.key: UP})
    second = table(tmp_path / "second", {ACCURACY.key: UP[5:]}, codes=CODES[5:])
    assert transfer_study([first, second], resamples=5).architectures == len(CODES) - 5
    third = table(tmp_path / "third", {ACCURACY.key: UP[:7]}, codes=CODES[:7])
    with pytest.raises(InvalidOption, match="20 architectures or more, these tables have 2 in common"):
        transfer_study([second, third])


def test_one_table_twice_or_of_another_space_is_refused(tmp_path: Path) -> None:
    first = table(tmp_path / "first", {ACCURACY.key: UP})
    other = nasbed.load("nb101-mini-cifar10-16-v1.0")
    assert isinstance(other, TabularBenchmark)
    for tables, message in (
        ([first], "got 1"),
        ([first, first], "named once"),
        ([first, other], "of nb201 and nb101-"),
    ):
        with pytest.raises(InvalidOption, match=message):
            transfer_study(tables)


def test_tables_of_one_dataset_are_told_apart_by_name(tmp_path: Path) -> None:
    tables = [table(tmp_path / name / "same", {ACCURACY.key: values}) for name, values in (("a", UP), ("b", -UP + 100))]
    tables[1].name = "other"
    study = transfer_study(tables, resamples=5)
    assert study.datasets == ("same", "other")
    write_transfer_report(study, tmp_path / "out", formats=())
    assert "one seed with another not known" in (tmp_path / "out" / "report.html").read_text()


def test_a_table_without_differences_is_refused(tmp_path: Path) -> None:
    tables = [table(tmp_path / name, {ACCURACY.key: values}) for name, values in (("up", UP), ("flat", 0 * UP + 5))]
    with pytest.raises(InvalidOption, match="the same validation_accuracy in flat; leave it out"):
        transfer_study(tables)


def test_rankings_of_unseen_data_are_three_worlds(unseen: TransferStudy) -> None:
    """Photographs and words rank alike, digits another way, chess the opposite: as docs/findings/transfer.md says."""
    assert unseen.architectures == 4_954 and unseen.by_function
    place = {dataset: index for index, dataset in enumerate(unseen.datasets)}
    corrected = unseen.ranks.corrected
    words = [place[name] for name in ("cifar10@16", "language", "gutenberg")]
    digits = [place[name] for name in ("addnist", "multnist")]
    chess = place["chesseract"]
    assert (corrected[np.ix_(words, words)] > 0.9).all() and (corrected[np.ix_(digits, digits)] > 0.9).all()
    assert (np.abs(corrected[np.ix_(words, digits)]) < 0.3).all() and (corrected[words, chess] < -0.5).all()
    assert (unseen.regrets.better_percent[chess, words] > 80).all()


def test_short_trainings_rank_as_published_ones(unseen: TransferStudy, published_data: Callable[[str], Path]) -> None:
    """NAS-Bench-201's own 200 epochs on CIFAR-10, of the same cells."""
    published = parquet.read_table(published_data("nb201_test_200ep.parquet"))
    accuracy = dict(zip(published["arch_str"].to_pylist(), published["cifar10_test"].to_pylist(), strict=True))
    codes = NB201.codes(list(NB201.enumerate()))
    codes = codes[(NB201.function_codes(codes) == codes).all(axis=1)]
    truth = [accuracy[NB201.format(arch)] for arch in NB201.architectures(codes)]
    correlations = {name: spearmanr(truth, nasbed.load(name).mean_test(codes)).statistic for name in NAS_BENCH_UNSEEN}
    expected = [0.82, 0.77, 0.69, 0.39, 0.28, -0.52]
    assert list(correlations.values()) == pytest.approx(expected, abs=0.005)
    columns = [published[name].to_numpy() for name in ("cifar10_test", "cifar100_test", "imagenet16_test")]
    rows = {text: row for row, text in enumerate(published["arch_str"].to_pylist())}
    places = [rows[NB201.format(arch)] for arch in NB201.architectures(codes)]
    between = [spearmanr(columns[i][places], columns[j][places]).statistic for i, j in ((0, 1), (0, 2), (1, 2))]
    assert (min(between), max(between)) == pytest.approx((0.92, 0.97), abs=0.005)
    assert spearmanr(truth, NB201.properties(codes)["parameters"]).statistic == pytest.approx(0.77, abs=0.005)


def test_report_has_every_number(unseen: TransferStudy, tmp_path: Path) -> None:
    write_transfer_report(unseen, tmp_path, formats=())
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    np.testing.assert_allclose(numbers["spearman"], unseen.ranks.spearman)
    assert np.shape(numbers["operation_effects"]) == (6, 6, 5) and len(numbers["datasets"]) == 6
    page = (tmp_path / "report.html").read_text()
    assert all(dataset in page for dataset in unseen.datasets) and transfer_summary(unseen) in page
    assert [row[0] for row in transfer_table(unseen).rows] == [*unseen.datasets, "parameters"]


def test_command_prints_the_matrix_and_writes_the_page(tmp_path: Path) -> None:
    tables = [
        str(table(tmp_path / name, {ACCURACY.key: values}).results.folder)
        for name, values in (("up", UP), ("down", -UP + 100))
    ]
    run = run_command("study", "transfer", *tables, "--out", tmp_path / "out", "--format", "svg")
    assert run.returncode == 0, run.stderr
    assert "up           1.00  −1.00" in run.stdout and (tmp_path / "out" / "report.html").exists()
    assert {path.stem for path in (tmp_path / "out" / "figures").iterdir()} >= {"spearman", "regret", "operations"}
    refused = run_command("study", "transfer", tables[0], "--out", tmp_path / "other")
    assert refused.returncode == 2 and "two tables or more, got 1" in refused.stderr
