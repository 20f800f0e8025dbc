"""All evaluations of a metric in a table: those of its rows, and the epochs of its learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.core.status import OK

if TYPE_CHECKING:
    from nasbed.results.cache import CurveEpochs
    from nasbed.results.store import Results


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Evaluations that ended well and have the metric, at any fidelity, one a row."""

    codes: NDArray[np.int64]  # [n, code_length]
    y: NDArray[np.float64]
    cost_s: NDArray[np.float64]  # NaN where it was not recorded
    method: NDArray[np.str_]
    seed: NDArray[np.int64]
    fidelity: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[Any]) -> Evaluations:
        """Some of the rows, by number or mask."""
        return Evaluations(*(getattr(self, column.name)[rows] for column in fields(self)))

    def training_numbers(self) -> NDArray[np.int64]:
        """A number for each training: evaluations of one code with one seed at several fidelities share it. The second
        of two at the same fidelity belongs with the second at the others."""
        _, code = np.unique(self.codes, axis=0, return_inverse=True)
        repeat = _ordinals(np.stack([code.reshape(-1), self.seed, self.fidelity], axis=1))
        key = np.stack([code.reshape(-1), self.seed, repeat], axis=1)
        numbers: NDArray[np.int64] = np.unique(key, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        return numbers


def evaluations(results: Results, metric: Metric) -> Evaluations:
    """Those of a table with a metric. A point of a learning curve costs its share of the training's time."""
    parts = []
    for rows in results.batches():
        used = (rows.status == OK) & np.isfinite(rows.values[metric.key])
        columns = (rows.codes, rows.values[metric.key], rows.train_time_s, rows.method, rows.seed, rows.fidelity)
        parts.append(Evaluations(*(column[used] for column in columns)))
    measured = _joined(parts)
    epochs = results.cache().curve_epochs
    if not len(measured):
        raise InvalidOption(f"{results.about.name} has no evaluation with {metric.key}; choose another metric")
    if epochs is None or epochs.metric != metric.key:
        return measured
    return _joined([measured, *_at_epochs(results, measured, epochs)])


def _at_epochs(results: Results, measured: Evaluations, epochs: CurveEpochs) -> list[Evaluations]:
    """What trainings had reached, one part an epoch."""
    curves = results.curves()
    assert curves is not None, "a table with epochs has the curves that they come from"
    trainings = np.flatnonzero(measured.fidelity == epochs.fidelity)
    row_of = {
        (tuple(code), seed): row
        for row, code, seed in zip(
            trainings.tolist(), measured.codes[trainings].tolist(), measured.seed[trainings].tolist(), strict=True
        )
    }
    longest = np.flatnonzero(curves.fidelity == epochs.fidelity)
    keys = zip(map(tuple, curves.codes[longest].tolist()), curves.seed[longest].tolist(), strict=True)
    rows = np.array([row_of.get(key, -1) for key in keys], dtype=np.int64)
    parts = []
    for epoch in epochs.places:
        points = curves.values[longest, epoch - 1]
        used = (rows >= 0) & np.isfinite(points)
        training = measured.take(rows[used])
        share = training.cost_s * (epoch / epochs.fidelity)
        fidelity = np.full(int(used.sum()), epoch)
        parts.append(Evaluations(training.codes, points[used], share, training.method, training.seed, fidelity))
    return parts


def _joined(parts: Sequence[Evaluations]) -> Evaluations:
    return Evaluations(
        *(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Evaluations))
    )


def _ordinals(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many earlier rows are equal to each row."""
    _, owner, counts = np.unique(groups, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(owner.reshape(-1), kind="stable")
    ordinals = np.empty(len(groups), dtype=np.int64)
    ordinals[order] = np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ordinals
