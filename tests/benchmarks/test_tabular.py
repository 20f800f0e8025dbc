"""Tables behind one query: the protocol of NAS-Bench-101's section 2.6, compared with the rows that were written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed import Architecture, Metric, NasbedError, Observation, Status, load, space
from nasbed.benchmarks import NoiseFree, Restricted, TabularBenchmark, nas_bench_mini
from nasbed.benchmarks.wrappers import part_of
from nasbed.core.execution import SerialEngine
from nasbed.experiments.compare import compare
from nasbed.reports.comparison.page import write_comparison
from nasbed.results import Rows, TableInfo, write_results
from support.generated_rows import BUDGETS, PARAMETERS, REPEATS, TEST, VALIDATION, generated_rows

NB101: Any = space("nb101")


@pytest.fixture(scope="session")
def nb101_rows() -> list[Rows]:
    return generated_rows(np.concatenate([NB101.unique_codes(5), NB101.unique_codes(7)[:500]]))


@pytest.fixture(scope="session")
def nb101_table(tmp_path_factory: pytest.TempPathFactory, nb101_rows: list[Rows]) -> TabularBenchmark:
    about = TableInfo("nb101", "nb101", (VALIDATION, TEST, PARAMETERS), dataset="generated", licence="none")
    return TabularBenchmark(write_results(tmp_path_factory.mktemp("tables") / "nb101", about, nb101_rows))


def test_tabular_answers_are_the_rows_written(nb101_table: TabularBenchmark, nb101_rows: list[Rows]) -> None:
    for batch in nb101_rows[:: len(nb101_rows) // 4]:
        for i in range(0, len(batch), 397):
            arch = Architecture("nb101", tuple(batch.codes[i].tolist()))
            repeats = nb101_table.repeats(arch, fidelity=int(batch.fidelity[i]))
            match = [repeat for repeat in repeats if repeat.seed == batch.seed[i]]
            assert len(repeats) == REPEATS and len(match) == 1
            assert match[0]["validation_accuracy"] == batch.values["validation_accuracy"][i]
            assert match[0]["parameters"] == batch.values["parameters"][i]
            assert match[0].cost_s == batch.train_time_s[i]


def test_tabular_never_answers_a_test_metric(nb101_table: TabularBenchmark) -> None:
    arch = next(nb101_table.architectures())
    assert TEST not in nb101_table.query(arch).values
    assert TEST not in nb101_table.query_many([arch]).values
    assert all(TEST not in repeat.values for repeat in nb101_table.repeats(arch))
    assert nb101_table.objective == VALIDATION and TEST not in nb101_table.metrics


def test_tabular_seed_picks_a_repeat_uniformly_and_again_the_same(nb101_table: TabularBenchmark) -> None:
    archs = list(nb101_table.architectures())[:300]
    picked = Counter(nb101_table.query(arch, seed=seed).seed for arch in archs for seed in range(10))
    assert set(picked) == {100, 101, 102}
    expected = 3000 / 3
    assert (
        sum((count - expected) ** 2 / expected for count in picked.values()) < 13.8
    )  # chi-square, 2 d.o.f., p = 0.001
    assert [nb101_table.query(arch, seed=4) for arch in archs] == [nb101_table.query(arch, seed=4) for arch in archs]


def test_tabular_drawn_repeat_is_the_one_that_a_query_answers(nb101_table: TabularBenchmark) -> None:
    for arch in list(nb101_table.architectures())[::97]:
        for seed, fidelity in ((0, None), (999, 12), (1 << 50, 108)):
            place = nb101_table.drawn_repeat(arch, fidelity=fidelity, seed=seed)
            repeats = nb101_table.repeats(arch, fidelity=fidelity)
            assert repeats[place] == nb101_table.query(arch, fidelity=fidelity, seed=seed)


def test_tabular_seeds_are_independent_between_architectures(nb101_table: TabularBenchmark) -> None:
    first, second = list(nb101_table.architectures())[:2]
    pairs = Counter((nb101_table.query(first, seed=s).seed, nb101_table.query(second, seed=s).seed) for s in range(900))
    assert len(pairs) == 9 and min(pairs.values()) > 60


@given(st.integers(0, 2**64), st.sampled_from(BUDGETS))
def test_tabular_query_many_is_query_of_each(nb101_table: TabularBenchmark, seed: int, fidelity: int) -> None:
    archs = list(nb101_table.architectures())[:40]
    together = nb101_table.query_many(archs, fidelity=fidelity, seed=seed)
    assert list(together) == [nb101_table.query(arch, fidelity=fidelity, seed=seed) for arch in archs]


def test_tabular_isomorphic_cells_get_one_answer(nb101_table: TabularBenchmark) -> None:
    """Two branches of a cell swapped: another code, the same cell."""
    cell = NB101.parse("conv3x3:0/maxpool3x3:0/conv1x1:1,2/output:3")
    isomorphic = NB101.parse("maxpool3x3:0/conv3x3:0/conv1x1:1,2/output:3")
    assert cell != isomorphic and NB101.hash(cell) == NB101.hash(isomorphic)
    first, second = nb101_table.query(cell, seed=3), nb101_table.query(isomorphic, seed=3)
    assert first.values == second.values and first.architecture == cell and second.architecture == isomorphic
    batch = nb101_table.query_many([cell, isomorphic], seed=3)
    assert batch[0].values == batch[1].values == first.values


def test_tabular_mean_test_and_optimum_are_means_over_repeats(
    nb101_table: TabularBenchmark, nb101_rows: list[Rows]
) -> None:
    final = [batch for batch in nb101_rows if batch.fidelity[0] == 108]
    means = np.mean([batch.values[TEST.key] for batch in final], axis=0)
    archs = NB101.architectures(final[0].codes)
    np.testing.assert_allclose(nb101_table.mean_test(archs), means, rtol=1e-6)
    best, value = nb101_table.optimum()
    assert value == pytest.approx(means.max()) and best == NB101.canonical(archs[int(means.argmax())])


def test_noise_free_is_the_mean(nb101_table: TabularBenchmark) -> None:
    exact = NoiseFree(nb101_table)
    archs = list(nb101_table.architectures())[:20]
    for arch, batch_answer in zip(archs, exact.query_many(archs, fidelity=12), strict=True):
        repeats = nb101_table.repeats(arch, fidelity=12)
        answer = exact.query(arch, fidelity=12, seed=5)
        assert answer == exact.query(arch, fidelity=12, seed=6)
        for metric in nb101_table.metrics:
            assert answer.values[metric] == pytest.approx(np.mean([repeat.values[metric] for repeat in repeats]))
            assert batch_answer.values[metric] == pytest.approx(answer.values[metric])


def test_restricted_offers_some_fidelities(nb101_table: TabularBenchmark) -> None:
    short = Restricted(nb101_table, (12, 4))
    assert short.fidelities == (4, 12)
    arch = next(nb101_table.architectures())
    assert short.query(arch) == nb101_table.query(arch, fidelity=12)
    with pytest.raises(NasbedError, match="4, 12, got 108"):
        short.query(arch, fidelity=108)
    with pytest.raises(NasbedError, match="choose some"):
        Restricted(nb101_table, (5,))


def test_nas_bench_mini_holds_cells_of_at_most_six_vertices(nb101_table: TabularBenchmark) -> None:
    mini = part_of(nb101_table, "mini")
    small = NB101.architectures(NB101.unique_codes(5)[:3])
    large = NB101.architectures(NB101.unique_codes(7)[:1])
    assert mini.query(small[0]) == nb101_table.query(small[0])
    assert len(mini.query_many(small)) == 3
    with pytest.raises(NasbedError, match="outside nb101-mini"):
        mini.query(large[0])
    with pytest.raises(NasbedError, match="outside nb101-mini"):
        mini.query_many([*small, *large])
    best, value = mini.optimum()
    assert NB101.pruned(best).vertices <= 6
    inside = [arch for arch in nb101_table.architectures() if NB101.pruned(arch).vertices <= 6]
    assert value == pytest.approx(nb101_table.mean_test(inside).max())


def test_former_function_for_nas_bench_mini_warns(nb101_table: TabularBenchmark) -> None:
    with pytest.warns(
        DeprecationWarning, match=r'is now nasbed.load\("TABLE:mini"\); the former name goes in version 0.3'
    ):
        mini = nas_bench_mini(nb101_table)
    assert mini.name == part_of(nb101_table, "mini").name


def test_tabular_refuses_in_one_line_and_says_what_there_is(nb101_table: TabularBenchmark) -> None:
    arch = next(nb101_table.architectures())
    absent = NB101.architectures(NB101.unique_codes(6)[:1])[0]
    for call, message in (
        (lambda: nb101_table.query(arch, fidelity=5), "4, 12, 36, 108, got 5"),
        (lambda: nb101_table.query(absent), "is not one of them"),
        (lambda: nb101_table.query_many([arch, absent]), "is not one of them"),
        (lambda: nb101_table.query(Architecture("transnas-micro", arch.code)), "belongs to the space"),
        (lambda: nb101_table.query(5), "takes an Architecture"),  # type: ignore[arg-type]
        (lambda: nb101_table.query(Architecture("nb101", (0,) * 6)), "path from input to output"),
        (lambda: nb101_table.query_many(np.zeros((1, 6), dtype=np.int64)), "path from input to output"),
        (lambda: nb101_table.query_many(np.zeros((1, 5))), "integer array"),  # type: ignore[arg-type]
        (lambda: nb101_table.metric("validation_acuracy"), "did you mean validation_accuracy"),
    ):
        with pytest.raises(NasbedError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_tabular_a_foreign_architecture_with_a_known_code_is_refused(tmp_path: Path) -> None:
    """nb201 and transnas-micro codes look alike; what was found once must not answer for the other."""
    accuracy = Metric("accuracy", split="validation", bounds=(0, 100))
    codes = np.array([[1, 0, 2, 3, 3, 3]])
    table = TabularBenchmark(
        write_results(
            tmp_path / "t", TableInfo("t", "nb201", (accuracy,)), [Rows.of(codes, {accuracy.key: np.array([1.0])})]
        )
    )
    assert table.query(Architecture("nb201", (1, 0, 2, 3, 3, 3)))["validation_accuracy"] == 1.0
    with pytest.raises(NasbedError, match="belongs to the space"):
        table.query(Architecture("transnas-micro", (1, 0, 2, 3, 3, 3)))


def test_tabular_diverged_rows_say_so(tmp_path: Path) -> None:
    accuracy = Metric("accuracy", split="validation", bounds=(0, 100))
    codes = np.array([[3] * 6, [3] * 6])
    rows = Rows.of(
        codes, {accuracy.key: np.array([np.nan, 90.0])}, seed=np.array([1, 2]), status=np.array([1, 0], dtype=np.int8)
    )
    table = TabularBenchmark(write_results(tmp_path / "t", TableInfo("t", "nb201", (accuracy,)), [rows]))
    arch = Architecture("nb201", (3,) * 6)
    assert [repeat.status for repeat in table.repeats(arch)] == [Status.DIVERGED, Status.OK]
    assert table.repeats(arch)[0] == Observation(arch, {}, seed=1, status=Status.DIVERGED)
    assert NoiseFree(table).query(arch)["validation_accuracy"] == 90.0


def test_load_takes_a_folder_and_names_near_matches(
    nb101_table: TabularBenchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    loaded = load(nb101_table.results.folder)
    arch = next(nb101_table.architectures())
    assert loaded.query(arch) == nb101_table.query(arch)
    with pytest.raises(NasbedError, match="did you mean"):
        load("nb201/cifar11")
    with pytest.raises(NasbedError, match="nasbed fetch nb101"):
        load("nb101")
    assert PARAMETERS in loaded.metrics


def test_tabular_test_results_merged_in_are_for_evaluation_and_never_drawn(tmp_path: Path) -> None:
    """Two validated repeats, and a row of mean test results without a seed, as a published table of tests alone gives."""
    validation = Metric("accuracy", split="validation", bounds=(0, 100))
    test = Metric("accuracy", split="test", bounds=(0, 100))
    rng = np.random.default_rng(0)
    codes = np.array([[a, b, 1, 2, 3, 4] for a in range(5) for b in range(5)])
    missing = np.full(len(codes), np.nan)
    tested = rng.random(len(codes))
    batches = [
        Rows.of(codes, {validation.key: rng.random(len(codes)), test.key: missing}, seed=seed) for seed in (7, 8)
    ]
    batches.append(Rows.of(codes, {validation.key: missing, test.key: tested}))
    table = TabularBenchmark(write_results(tmp_path / "t", TableInfo("t", "nb201", (validation, test)), batches))
    archs = table.space.architectures(codes)
    for seed in range(20):
        single = [table.query(arch, seed=seed) for arch in archs]
        assert list(table.query_many(archs, seed=seed)) == single
        assert {answer.seed for answer in single} <= {7, 8}
        assert all(set(answer.values) == {validation} for answer in single)
    assert all(len(table.repeats(arch)) == 2 for arch in archs)
    np.testing.assert_allclose(table.mean_test(archs), tested)
    assert table.optimum()[1] == pytest.approx(tested.max())


ACCURACY = Metric("accuracy", split="validation", bounds=(0, 100))
TESTED = Metric("accuracy", split="test", bounds=(0, 100))
EVERY_CELL = np.array(list(np.ndindex(5, 5, 5, 5, 5, 5)))


def _uneven(folder: Path, validated: tuple[int, ...], tested: tuple[int, ...]) -> TabularBenchmark:
    """All cells of nb201 at 10 and 200 epochs, with their number as accuracy where a fidelity has the metric."""
    numbers, missing = np.arange(15625) / 200, np.full(15625, np.nan)
    rows = [
        Rows.of(
            EVERY_CELL,
            {
                ACCURACY.key: numbers if fidelity in validated else missing,
                TESTED.key: numbers + fidelity / 100 if fidelity in tested else missing,
                PARAMETERS.key: numbers,
            },
            fidelity=fidelity,
            seed=0,
            train_time_s=1.0,
        )
        for fidelity in (10, 200)
    ]
    return TabularBenchmark(write_results(folder, TableInfo("uneven", "nb201", (ACCURACY, TESTED, PARAMETERS)), rows))


@pytest.mark.parametrize(
    ("validated", "tested", "fidelities", "best"),
    [
        ((10, 200), (10,), (10, 200), 78.12 + 0.1),
        ((10,), (200,), (10,), 78.12 + 2),
        ((10,), (10,), (10,), 78.12 + 0.1),
        ((10,), (), (10,), 78.12),
        ((200,), (10,), (200,), 78.12 + 0.1),
    ],
)
@pytest.mark.usefixtures("without_charts")
def test_tabular_judges_at_the_highest_fidelity_that_has_the_metric(
    tmp_path: Path, validated: tuple[int, ...], tested: tuple[int, ...], fidelities: tuple[int, ...], best: float
) -> None:
    """A search is offered the fidelities that have its objective, and its report is written."""
    table = _uneven(tmp_path / "table", validated, tested)
    assert table.fidelities == fidelities
    for benchmark, code in ((table, (4,) * 6), (part_of(table, "no-pooling"), (3,) * 6)):
        arch, value = benchmark.optimum()
        assert arch.code == code
        if tested:
            assert benchmark.mean_test([arch]).tolist() == [value]
    assert table.optimum()[1] == pytest.approx(best)
    answer = table.query(table.space.architectures(EVERY_CELL[-1:])[0])
    assert answer[ACCURACY.key] == pytest.approx(78.12) and answer.fidelity == fidelities[-1]
    assert table.query_many(EVERY_CELL[-1:]).values[ACCURACY].tolist() == [answer[ACCURACY.key]]
    runs = compare(tmp_path / "table", ["rs"], seeds=2, budget="5ev", out=tmp_path / "out", engine=SerialEngine())
    summary = write_comparison(tmp_path / "out", runs, table, rng=np.random.default_rng(0))
    assert np.isfinite(summary.regret(summary.methods[0]).estimate) and summary.best == pytest.approx(best)
    assert (tmp_path / "out" / "report.html").is_file()


def test_tabular_optimum_of_nothing_is_refused_in_one_line(tmp_path: Path) -> None:
    codes = EVERY_CELL[:5]
    rows = Rows.of(codes, {ACCURACY.key: np.full(5, np.nan), PARAMETERS.key: np.ones(5)}, seed=0,
                   status=np.ones(5, dtype=np.int8))  # fmt: skip
    extra_rows = Rows.of(EVERY_CELL[-1:], {ACCURACY.key: np.array([50.0]), PARAMETERS.key: np.ones(1)}, seed=0)
    table = TabularBenchmark(
        write_results(tmp_path / "t", TableInfo("t", "nb201", (ACCURACY, PARAMETERS)), [rows, extra_rows])
    )
    assert table.optimum()[1] == 50
    with pytest.raises(NasbedError, match=r"needs a measured validation_accuracy, t:no-pooling has none[^\n]*$"):
        part_of(table, "no-pooling").optimum()
