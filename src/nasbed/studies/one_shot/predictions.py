"""A benchmark's predictions for the architectures of searches, and for random ones as a reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption
from nasbed.evaluation.ranking.columns import Floats
from nasbed.results.store import Results

RANDOM_SEARCH = "rs"


def expected_objectives(benchmark: Benchmark, archs: Sequence[Architecture]) -> Floats:
    """The objective's mean per architecture. One that the benchmark lacks raises ``InvalidArchitecture``."""
    return benchmark.expected_many(list(archs)).column(benchmark.objective.key)


def random_architectures(
    benchmark: Benchmark, count: int, rng: np.random.Generator
) -> tuple[list[Architecture], Floats, str]:
    """Random architectures, ``count`` of them, with the benchmark's predictions and a description.

    Where a table does not hold the whole space, they are the architectures that random search evaluated, maybe fewer.
    """
    try:
        archs = [benchmark.space.sample(rng) for _ in range(count)]
        return archs, expected_objectives(benchmark, archs), "random architectures"
    except InvalidArchitecture as error:
        results = benchmark.unwrapped.results
        codes = _random_search_codes(results) if results is not None else []
        if len(codes) < 2:
            raise InvalidOption(
                f"{benchmark.name} must answer for random architectures, or be a table with 2 or more that random "
                f"search evaluated (rs): {error}; use a surrogate, or a table of the whole space"
            ) from None
    places = rng.permutation(len(codes))[:count]
    archs = [Architecture(benchmark.space.name, codes[place]) for place in places]
    return archs, expected_objectives(benchmark, archs), "architectures of random search"


def _random_search_codes(results: Results) -> list[tuple[int, ...]]:
    """Codes of the architectures that random search proposed, without repetitions."""
    codes: dict[tuple[int, ...], None] = {}
    for rows in results.batches():
        codes |= dict.fromkeys(map(tuple, rows.codes[rows.method == RANDOM_SEARCH].tolist()))
    return list(codes)
