"""What a benchmark says of architectures that a study watches, and of random ones to hold them against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption
from nasbed.results.store import Results

Floats = NDArray[np.float64]
BY_RANDOM_SEARCH = "rs"


def predicted(benchmark: Benchmark, archs: Sequence[Architecture]) -> Floats:
    """The objective's mean for each; raises ``InvalidArchitecture`` for one that the benchmark does not know."""
    return benchmark.expected_many(list(archs)).column(benchmark.objective.key)


def random_predictions(benchmark: Benchmark, count: int, rng: np.random.Generator) -> tuple[Floats, str]:
    """For so many random architectures, and what they are. A table that does not hold the whole space has those that
    random search evaluated, which may be fewer."""
    try:
        return predicted(benchmark, [benchmark.space.sample(rng) for _ in range(count)]), "random architectures"
    except InvalidArchitecture as error:
        results = benchmark.unwrapped.results
        codes = _by_random_search(results) if results is not None else []
        if len(codes) < 2:
            raise InvalidOption(
                f"{benchmark.name} must answer for random architectures, or be a table with some that random search "
                f"evaluated (rs): {error}; watch with a surrogate, or with a table of the whole space"
            ) from None
    chosen = rng.permutation(len(codes))[:count]
    archs = [Architecture(benchmark.space.name, codes[place]) for place in chosen]
    return predicted(benchmark, archs), "architectures of random search"


def _by_random_search(results: Results) -> list[tuple[int, ...]]:
    """Codes of the architectures that random search proposed, each once."""
    codes: dict[tuple[int, ...], None] = {}
    for rows in results.batches():
        codes |= dict.fromkeys(map(tuple, rows.codes[rows.method == BY_RANDOM_SEARCH].tolist()))
    return list(codes)
