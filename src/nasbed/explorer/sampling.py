"""Random architectures of a space, each once, in canonical form."""

from __future__ import annotations

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.spaces.base import Codes

SAMPLE = 10_000
"""How many architectures the overview of a benchmark shows that is not a table."""
SEED = 0


def sampled_codes(benchmark: Benchmark, count: int = SAMPLE) -> Codes:
    """Canonical codes of random architectures that a benchmark answers for, each once, in the order drawn."""
    rng, space = np.random.default_rng(SEED), benchmark.space
    drawn = space.canonical_codes([space.sample(rng) for _ in range(count)])
    _, first = np.unique(drawn, axis=0, return_index=True)
    return drawn[np.sort(first)]
