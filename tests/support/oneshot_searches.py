"""One-shot searches made by hand, and a benchmark with known answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nasbed import Architecture, Metric, Observation, space
from nasbed.benchmarks import Benchmark
from nasbed.benchmarks.observations import Observations
from nasbed.oneshot import SearchEpoch, SearchResult, SearchSettings
from nasbed.oneshot.record import SearchRecord
from nasbed.spaces.base import Batch
from support.tables import additive

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
ERROR = Metric("error", split="validation", direction="minimize", unit="%", bounds=(0, 100))
SKIP, CONV = 1, 3
"""Of nb201: 4 and 9 points an edge for the benchmark below, which has 84 for six convolutions."""
FALLING = (0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 6)
"""Skip connections in the place of convolutions: 84 % for five epochs, then down to 54."""
RISING = tuple(float(accuracy) for accuracy in range(40, 100, 5))
JUMP = (0.2,) * 5 + (0.4,) * 7


class Additive(Benchmark):
    """The sum of what each edge of nb201 is worth, as accuracy or as error."""

    def __init__(self, metric: Metric = ACCURACY) -> None:
        self.name, self.space, self.fidelities = "additive", space("nb201"), (1,)
        self.metrics, self.objective = (metric,), metric

    @property
    def predicts(self) -> bool:
        return True

    def expected_many(self, archs: Batch, *, fidelity: int | None = None) -> Observations:
        codes = self.space.codes(archs)
        values = additive(codes)
        return Observations(
            "nb201",
            codes,
            {self.objective: values if self.objective is ACCURACY else 100 - values},
            fidelity=1,
            seeds=np.full(len(codes), -1),
            cost_s=np.full(len(codes), np.nan),
            status=np.zeros(len(codes), dtype=np.int8),
        )

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        raise NotImplementedError

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        raise NotImplementedError

    @property
    def test_metric(self) -> Metric | None:
        return None

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        raise NotImplementedError

    def optimum(self) -> tuple[Architecture, float]:
        raise NotImplementedError


def cell(skips: int) -> Architecture:
    """A cell of nb201 with a number of skip connections, and convolutions elsewhere."""
    return Architecture("nb201", (SKIP,) * skips + (CONV,) * (6 - skips))


def search_result(
    archs: Sequence[Architecture],
    skips: Sequence[int],
    accuracies: Sequence[float] = RISING,
    eigenvalues: Sequence[float] | None = None,
    *,
    status: Literal["ok", "stopped", "diverged"] = "ok",
    end: int = -1,
) -> SearchResult:
    kinds = ("normal", "reduce") if archs[0].space == "darts" else ("cell",)
    epochs = tuple(
        SearchEpoch(
            epoch=place + 1,
            architecture=arch,
            validation_accuracy=accuracies[place],
            train_loss=1.0,
            skips=dict.fromkeys(kinds, skips[place]),
            parameters={},
            search_time_s=2.0 * (place + 1),
            eigenvalue=None if eigenvalues is None else eigenvalues[place],
        )
        for place, arch in enumerate(archs)
    )
    reason = "the loss is no number" if status == "diverged" else ""
    return SearchResult(status, None if status == "diverged" else archs[end], epochs, 2.0 * len(epochs), reason)


def nb201_search(skips: Sequence[int], *figures: Any, **options: Any) -> SearchResult:
    """A search in nb201 whose architectures have these skip connections."""
    return search_result([cell(count) for count in skips], skips, *figures, **options)


def search_record(
    method: str, seed: int, result: SearchResult, *, space_name: str = "nb201", epochs: int = 12, **options: Any
) -> SearchRecord:
    settings = SearchSettings(epochs=epochs)
    return SearchRecord(
        method, space_name, "digits", "0" * 64, seed, settings, options, "a CPU", {"nasbed": "0"}, result
    )
