"""Small tables to be studied: generated values with a known structure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nasbed import Metric, space
from nasbed.benchmarks import TabularBenchmark
from nasbed.results import Rows, TableInfo, write_results

VALIDATION = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
TEST = Metric("accuracy", split="test", unit="%", bounds=(0, 100))


def additive(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """An accuracy to which each choice of a cell adds its part: options 3 and 2 most, none nothing."""
    worth = np.array([0.0, 4.0, 7.0, 9.0, 2.0])
    accuracy: NDArray[np.float64] = 30 + worth[codes].sum(axis=1)
    return accuracy


def nb201_table(folder: Path, share: float = 1) -> TabularBenchmark:
    """A random ``share`` of the cells of NAS-Bench-201 at two fidelities with three noisy repeats."""
    nb201 = space("nb201")
    rng = np.random.default_rng(0)
    codes = nb201.codes(list(nb201.enumerate()))
    codes = codes[rng.permutation(len(codes))[: round(share * len(codes))]]
    batches = []
    for seed in range(3):
        for epochs, noise in ((12, 3.0), (200, 0.5)):
            true = additive(codes)
            values = {metric.key: true + noise * rng.normal(size=len(codes)) for metric in (VALIDATION, TEST)}
            batches.append(
                Rows.of(codes, values, fidelity=epochs, seed=seed, train_time_s=epochs * (1 + (codes == 3).sum(axis=1)))
            )
    about = TableInfo("generated/nb201", "nb201", (VALIDATION, TEST), dataset="generated", licence="none")
    return TabularBenchmark(write_results(folder, about, batches))
