"""Wrappers pass on everything that they do not change."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from nasbed.benchmarks import Benchmark, NoiseFree, Restricted, SubSpace, SurrogateBenchmark, TabularBenchmark
from nasbed.benchmarks.tabular import as_table
from nasbed.benchmarks.wrappers import Wrapper, part_of
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption
from nasbed.results import Rows, TableInfo, write_results
from support.surrogates import small_surrogate
from support.tables import VALIDATION, nb201_table

OWN = {"query", "query_many", "metric", "stored_rows"}
"""What a wrapper does by itself: by the methods and attributes that it passes on, or not at all, as it is no table."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TabularBenchmark:
    return nb201_table(tmp_path_factory.mktemp("wrapped") / "table")


def test_wrapper_passes_on_all_that_a_benchmark_has() -> None:
    """So that nothing new is forgotten."""
    offered = {name for name, value in vars(Benchmark).items() if not name.startswith("_") and value is not None}
    assert offered - OWN - vars(Wrapper).keys() == set()


def test_wrapper_says_of_itself_what_the_inner_one_does(table: TabularBenchmark, tmp_path: Path) -> None:
    for inner in (table, SurrogateBenchmark(small_surrogate(tmp_path))):
        for wrapped in (NoiseFree(inner), Restricted(inner, inner.fidelities[-1:])):
            for name in (
                "judge",
                "test_metric",
                "knows_means",
                "has_times",
                "is_live",
                "held_count",
                "predicts",
                "dataset_name",
            ):
                assert getattr(wrapped, name) == getattr(inner, name), name
            assert NoiseFree(wrapped).unwrapped is inner and wrapped.results is None
            codes = inner.space.codes([inner.space.sample(np.random.default_rng(0))])
            np.testing.assert_array_equal(wrapped.mean_judgement(codes)[1], inner.mean_judgement(codes)[1])


@pytest.mark.parametrize("kind", ["table", "surrogate"])
def test_wrapper_that_changes_nothing_answers_all_as_the_inner_one(
    kind: str, table: TabularBenchmark, tmp_path: Path
) -> None:
    inner = table if kind == "table" else SurrogateBenchmark(small_surrogate(tmp_path))
    wrapped = Wrapper(inner, "wrapped")
    codes, highest = np.array([(3,) * 6, (0, 1, 2, 3, 4, 0)]), inner.fidelities[-1:]
    for answers in ("query_many", "expected_many"):
        outer_answer, inner_answer = getattr(wrapped, answers)(codes), getattr(inner, answers)(codes)
        assert list(outer_answer) == list(inner_answer) and outer_answer.values.keys() == inner_answer.values.keys()
    first = inner.space.architectures(codes)[0]
    assert wrapped.expected(first) == inner.expected(first)
    assert wrapped.optimum() == inner.optimum()
    for best in ("best_answer", "best_mean"):
        np.testing.assert_array_equal(getattr(wrapped, best)(highest), getattr(inner, best)(highest))
    np.testing.assert_array_equal(wrapped.mean_objective(codes), inner.mean_objective(codes))
    assert list(islice(wrapped.architectures(), 5)) == list(islice(inner.architectures(), 5))
    assert [wrapped.holds(first), wrapped.holds_all] == [inner.holds(first), inner.holds_all]


def test_wrapper_lets_a_benchmark_judge_in_its_own_way(table: TabularBenchmark) -> None:
    class Own(Restricted):
        def mean_judgement(self, archs: object) -> tuple[None, np.ndarray]:
            return None, np.array([7.0])

    assert NoiseFree(Own(table, table.fidelities)).mean_judgement(table.cache.codes[:1])[1].tolist() == [7.0]


def test_repeats_of_a_part_and_of_some_fidelities_are_those_of_the_table(table: TabularBenchmark) -> None:
    arch = part_of(table, "no-pooling").space.sample(np.random.default_rng(0))
    low = Restricted(table, table.fidelities[:1])
    assert low.repeats(arch) == table.repeats(arch, fidelity=table.fidelities[0])
    for wrapped in (low, part_of(table, "no-pooling")):
        for seed in range(5):
            drawn = wrapped.repeats(arch)[wrapped.drawn_repeat(arch, seed=seed)]
            assert drawn == wrapped.query(arch, seed=seed)
    pooled = next(arch for arch in table.architectures() if 4 in arch.code)
    part = part_of(table, "no-pooling")
    assert isinstance(part, SubSpace) and part.holds(arch) and not part.holds(pooled)
    with pytest.raises(InvalidOption, match="does not draw"):
        NoiseFree(table).drawn_repeat(arch)
    assert NoiseFree(table).repeats(arch) == []


def test_as_table_takes_a_whole_table_only(table: TabularBenchmark) -> None:
    assert as_table(table, "refused") is table
    with pytest.raises(InvalidOption, match="refused"):
        as_table(NoiseFree(table), "refused")


def test_part_answers_nothing_about_what_lies_outside(table: TabularBenchmark) -> None:
    part = part_of(table, "no-pooling")
    inside, outside = Architecture("nb201", (3,) * 6), Architecture("nb201", (4,) * 6)
    assert part.held_count == 4**6 == len(list(part.architectures())) and not part.holds_all
    for ask in (part.mean_test, part.mean_judgement, part.mean_objective, part.expected_many, part.query_many):
        np.testing.assert_equal(len(ask([inside])), len(getattr(table, ask.__name__)([inside])))
        with pytest.raises(InvalidArchitecture, match="outside generated/nb201:no-pooling"):
            ask([inside, outside])
    assert part.mean_test([inside]) == table.mean_test([inside])
    assert part.mean_objective([inside]) == table.mean_objective([inside])
    for ask_one in (part.query, part.repeats, part.expected, part.drawn_repeat):
        with pytest.raises(InvalidArchitecture, match="outside generated/nb201:no-pooling"):
            ask_one(outside)


def test_restricted_holds_what_has_an_answer_at_its_own_fidelities(tmp_path: Path) -> None:
    """Two cells were trained for 12 epochs, one of them for 200 as well."""
    codes = np.array([(3,) * 6, (3,) * 6, (2,) * 6])
    rows = Rows.of(codes, {VALIDATION.key: np.array([50.0, 90.0, 40.0])}, fidelity=np.array([12, 200, 12]))
    table = TabularBenchmark(write_results(tmp_path / "t", TableInfo("t", "nb201", (VALIDATION,)), [rows]))
    long, short = (Architecture("nb201", (operation,) * 6) for operation in (3, 2))
    assert [table.holds(arch) for arch in (long, short)] == [True, False]
    for low in (Restricted(table, (12,)), NoiseFree(Restricted(table, (12,)))):
        assert [low.holds(arch) for arch in (long, short)] == [True, True]
    assert not Restricted(table, (12, 200)).holds(short)
    with pytest.raises(InvalidOption, match="has the fidelities 12, got 200"):
        Restricted(table, (12,)).holds(long, fidelity=200)


def test_part_of_a_surrogate_has_the_best_predicted_inside(tmp_path: Path) -> None:
    surrogate = SurrogateBenchmark(small_surrogate(tmp_path))
    part = part_of(surrogate, "no-pooling")
    assert part.holds_all and part.held_count is None
    arch, value = part.optimum()
    cells = np.array(list(np.ndindex(*(4,) * 6)))  # pooling is operation 4
    means = surrogate.mean_objective(cells)
    assert value == means.max() and arch.code == tuple(cells[means.argmax()])
