"""Tables with learning curves answer at the epochs of their trainings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks import TabularBenchmark
from nasbed.benchmarks.wrappers import NoiseFree, Restricted
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.core.status import Status
from nasbed.experiments.campaign import Campaign, Grid, collect, export_journals
from nasbed.experiments.release import ReleasePlan, TablePlan, release
from nasbed.experiments.searchable import continues
from nasbed.results import Results, Rows, TableInfo, write_results
from nasbed.results.curves import Curves
from nasbed.results.merge import merge_results
from support.learning_curves import CAMPAIGN, TEXTS, CurveTrainer

VALIDATION, TEST = (Metric("accuracy", split=split, unit="%", bounds=(0, 100)) for split in ("validation", "test"))
CELLS = [nasbed.Architecture("nb201", (1, 2, 3, 3, 2, 1)), nasbed.Architecture("nb201", (2, 2, 2, 2, 2, 2))]
POINTS: list[list[float | None]] = [[10.0, 20.0, 30.0, 40.0], [11.0, None, 33.0, 44.0], [50.0, 51.0, 52.0, 53.0]]
"""Of seed 0 and 5 of the first cell, and of seed 0 of the second, whose seed 5 diverged."""


def table(folder: Path, *, lower: bool = False) -> TabularBenchmark:
    """Two cells with two seeds of four epochs each, taking 8 s; with ``lower`` also trainings of two epochs."""
    codes = np.array([cell.code for cell in (CELLS[0], CELLS[0], CELLS[1], CELLS[1])])
    rows = Rows.of(
        codes,
        {VALIDATION.key: np.array([40.0, 44.0, 53.0, np.nan]), TEST.key: np.array([41.0, 45.0, 54.0, np.nan])},
        fidelity=np.full(4, 4),
        seed=np.array([0, 5, 0, 5]),
        train_time_s=np.full(4, 8.0),
        status=np.array([0, 0, 0, Status.DIVERGED.number], dtype=np.int8),
    )
    batches = [rows]
    if lower:
        own = {VALIDATION.key: np.array([77.0, 78.0, 79.0, 80.0]), TEST.key: np.full(4, np.nan)}
        batches.append(replace(rows, values=own, fidelity=np.full(4, 2), status=np.zeros(4, dtype=np.int8)))
    curves = Curves.of(VALIDATION.key, codes[:3], POINTS, fidelity=[4, 4, 4], seed=[0, 5, 0])
    return TabularBenchmark(
        write_results(folder, TableInfo("curved", "nb201", (VALIDATION, TEST)), batches, curves=curves)
    )


def test_table_answers_what_a_training_had_reached_at_each_epoch(tmp_path: Path) -> None:
    benchmark = table(tmp_path / "table")
    assert benchmark.fidelities == (1, 2, 3, 4)
    by_seed = {0: POINTS[0], 5: POINTS[1]}
    drawn = set()
    for seed in range(20):
        final = benchmark.query(CELLS[0], seed=seed)
        assert final.seed is not None
        drawn.add(final.seed)
        for epoch in (1, 3):
            answer = benchmark.query(CELLS[0], fidelity=epoch, seed=seed)
            assert dict(answer.values) == {VALIDATION: by_seed[final.seed][epoch - 1]}
            assert (answer.seed, answer.fidelity, answer.cost_s) == (final.seed, epoch, 2.0 * epoch)
    assert drawn == {0, 5}
    assert [repeat.values[VALIDATION] for repeat in benchmark.repeats(CELLS[0], fidelity=2)] == [20.0]


@pytest.mark.parametrize("epoch", [1, 2, 3, 4])
def test_batch_of_an_epoch_is_what_single_queries_answer(epoch: int, tmp_path: Path) -> None:
    benchmark = table(tmp_path / "table")
    for seed in range(6):
        many = benchmark.query_many(CELLS, fidelity=epoch, seed=seed)
        assert list(many) == [benchmark.query(cell, fidelity=epoch, seed=seed) for cell in CELLS]
    expected = benchmark.expected_many(CELLS, fidelity=epoch)
    assert list(expected) == [benchmark.expected(cell, fidelity=epoch) for cell in CELLS]
    means = {1: 10.5, 2: 20.0, 3: 31.5, 4: 42.0}
    assert expected.column(VALIDATION).tolist() == [means[epoch], POINTS[2][epoch - 1]]
    assert benchmark.best_mean([epoch]) == benchmark.best_answer([epoch]) == POINTS[2][epoch - 1]


def test_diverged_training_has_diverged_at_every_epoch(tmp_path: Path) -> None:
    benchmark = table(tmp_path / "table")
    answers = [benchmark.query(CELLS[1], fidelity=1, seed=seed) for seed in range(20)]
    assert {answer.status for answer in answers} == {Status.OK, Status.DIVERGED}
    assert {answer.cost_s for answer in answers} == {2.0}
    assert all(not answer.values for answer in answers if answer.status is Status.DIVERGED)


def test_trainings_of_their_own_come_before_epochs_of_longer_ones(tmp_path: Path) -> None:
    benchmark = table(tmp_path / "table", lower=True)
    assert benchmark.fidelities == (1, 2, 3, 4) and benchmark.cache.fidelities == (2, 4)
    assert {benchmark.query(CELLS[0], fidelity=2, seed=seed).values[VALIDATION] for seed in range(9)} == {77.0, 78.0}
    assert benchmark.query(CELLS[0], fidelity=2).cost_s == 8.0


def test_runs_continue_trainings_by_default_where_fidelities_are_epochs_of_one(tmp_path: Path) -> None:
    one, separate = table(tmp_path / "one"), table(tmp_path / "separate", lower=True)
    assert [continues(benchmark, None) for benchmark in (one, NoiseFree(one), separate)] == [True, True, False]
    assert continues(separate, True) and not continues(one, False)
    assert not continues(Restricted(one, (4,)), None), "there is nothing to continue to"


def test_test_metric_is_judged_at_the_end_of_the_curves(tmp_path: Path) -> None:
    benchmark = table(tmp_path / "table")
    assert benchmark.mean_test(CELLS).tolist() == [43.0, 54.0] and benchmark.optimum() == (CELLS[1], 54.0)


def test_curve_of_no_row_is_refused(tmp_path: Path) -> None:
    codes = np.array([CELLS[0].code])
    rows = Rows.of(codes, {VALIDATION.key: np.array([40.0])}, fidelity=np.array([4]), seed=np.array([0]))
    for wrong in ({"fidelity": [4], "seed": [1]}, {"fidelity": [3], "seed": [0]}):
        curves = Curves.of(VALIDATION.key, codes, [POINTS[0]], **wrong)
        with pytest.raises(InvalidOption, match="1 curves do not; write the rows"):
            write_results(tmp_path / "out", TableInfo("curved", "nb201", (VALIDATION,)), [rows], curves=curves)


def test_epochs_survive_merge_export_and_release_to_the_byte(tmp_path: Path) -> None:
    """Of two journals, of a merge of their tables, and of two releases."""
    journals = [tmp_path / f"{number}.sqlite" for number in range(2)]
    for number, journal in enumerate(journals):
        texts = (TEXTS[0], TEXTS[2]) if number else TEXTS[:2]
        collect(Campaign("few", grid=Grid(texts, seeds=(0, 1))), CurveTrainer(), journal)
    joint = TabularBenchmark(export_journals(journals, tmp_path / "joint", name="few"))
    parts = [export_journals([journal], tmp_path / journal.stem) for journal in journals]
    merged = TabularBenchmark(merge_results(parts, tmp_path / "merged").results)
    plan = ReleasePlan("1.0", (TablePlan("few", tuple(path.name for path in journals)),))
    for name in ("a", "b"):
        release(plan, tmp_path, tmp_path / name)
    contents = [
        {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "a", tmp_path / "b")
    ]
    assert contents[0] == contents[1] and any(name.endswith("curves.parquet") for name in contents[0])
    released = TabularBenchmark(Results.open(tmp_path / "a" / "tables" / "few"))
    cell = nasbed.Architecture("nb201", (1, 2, 3, 3, 2, 1))
    for benchmark in (joint, merged, released):
        assert benchmark.fidelities == (1, 2, 3, 4)
        accuracies = {repeat.values[benchmark.objective] for repeat in benchmark.repeats(cell, fidelity=3)}
        assert accuracies == {20.0 + 12, 21.0 + 12}


@pytest.mark.thorough
def test_functions_share_the_curve_of_the_trained_cell(tmp_path: Path) -> None:
    collect(CAMPAIGN, CurveTrainer((4,)), tmp_path / "journal.sqlite")
    results = export_journals([tmp_path / "journal.sqlite"], tmp_path / "out", by_function=True)
    benchmark = TabularBenchmark(results)
    cell = nasbed.Architecture("nb201", (1, 2, 3, 3, 2, 1))
    (function,) = benchmark.space.function_codes(np.array([cell.code]))
    others = benchmark.space.function_codes(np.asarray(benchmark.cache.codes))
    same = benchmark.space.architectures(benchmark.cache.codes[(others == function).all(axis=1)])
    answers = {benchmark.query(arch, fidelity=3, seed=1).values[benchmark.objective] for arch in same}
    assert len(same) >= 1 and answers <= {32.0, 33.0} and len(answers) == 1
