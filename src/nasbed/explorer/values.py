"""The expected objective of architectures, also of those that a table does not hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture


def objective_means(
    benchmark: Benchmark, archs: Sequence[Architecture], fidelity: int | None = None
) -> NDArray[np.float64]:
    """The mean of the objective as ``benchmark.expected`` answers it, NaN for what the benchmark does not hold."""
    means = np.full(len(archs), np.nan)
    places = (
        range(len(archs))
        if benchmark.holds_all
        else [place for place, arch in enumerate(archs) if benchmark.holds(arch, fidelity=fidelity)]
    )
    if len(places):
        held = [archs[place] for place in places]
        means[list(places)] = benchmark.expected_many(held, fidelity=fidelity).column(benchmark.objective)
    return means
