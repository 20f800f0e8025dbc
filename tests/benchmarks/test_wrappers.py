"""Wrappers pass on everything that they do not change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nasbed.benchmarks import Benchmark, NoiseFree, Restricted, SubSpace, SurrogateBenchmark, TabularBenchmark
from nasbed.benchmarks.tabular import as_table
from nasbed.benchmarks.wrappers import Wrapper, without_pooling
from nasbed.core.errors import InvalidOption
from support.surrogates import small_surrogate
from support.tables import nb201_table

OWN = {"query", "query_many", "metric"}
"""What a wrapper does by itself: by the methods and attributes that it passes on."""


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


def test_wrapper_lets_a_benchmark_judge_in_its_own_way(table: TabularBenchmark) -> None:
    class Own(Restricted):
        def mean_judgement(self, archs: object) -> tuple[None, np.ndarray]:
            return None, np.array([7.0])

    assert NoiseFree(Own(table, table.fidelities)).mean_judgement(table.cache.codes[:1])[1].tolist() == [7.0]


def test_repeats_of_a_part_and_of_some_fidelities_are_those_of_the_table(table: TabularBenchmark) -> None:
    arch = without_pooling(table).space.sample(np.random.default_rng(0))
    low = Restricted(table, table.fidelities[:1])
    assert low.repeats(arch) == table.repeats(arch, fidelity=table.fidelities[0])
    for wrapped in (low, without_pooling(table)):
        for seed in range(5):
            drawn = wrapped.repeats(arch)[wrapped.drawn_repeat(arch, seed=seed)]
            assert drawn == wrapped.query(arch, seed=seed)
    pooled = next(arch for arch in table.architectures() if 4 in arch.code)
    part = without_pooling(table)
    assert isinstance(part, SubSpace) and part.holds(arch) and not part.holds(pooled)
    with pytest.raises(InvalidOption, match="does not draw"):
        NoiseFree(table).drawn_repeat(arch)
    assert NoiseFree(table).repeats(arch) == []


def test_as_table_takes_a_whole_table_only(table: TabularBenchmark) -> None:
    assert as_table(table, "refused") is table
    with pytest.raises(InvalidOption, match="refused"):
        as_table(NoiseFree(table), "refused")
