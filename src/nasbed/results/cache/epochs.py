"""The epochs of learning curves beside the columns of a table: what trainings had reached on their way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.results.cache.reader import EPOCHS, Cache
from nasbed.results.curves import Curves
from nasbed.spaces import SearchSpace


@dataclass(frozen=True, slots=True)
class _Trainings:
    """The curves of the trainings with the highest fidelity, and the cell of each in the table."""

    fidelity: int
    points: NDArray[np.float64]
    row: NDArray[np.int64]
    repeat: NDArray[np.int64]


def write_epochs(folder: Path, curves: Curves, space: SearchSpace) -> Mapping[str, Any]:
    """Write the points of curves at epochs that are no fidelity of the table, ``[architecture, repeat, epoch]``.

    Only trainings of the highest fidelity with curves count. An epoch at which the table has trainings of its own is
    theirs. Returns the entry of the header; nothing is written where no epoch is left.
    """
    cache = Cache(folder)
    trainings = _trainings(cache, curves, space)
    epochs = [
        epoch
        for epoch in range(1, min(trainings.fidelity, trainings.points.shape[1] + 1))
        if epoch not in cache.fidelities and not np.isnan(trainings.points[:, epoch - 1]).all()
    ]
    if not epochs:
        return {}
    points = np.full((len(cache.codes), cache.repeats, len(epochs)), np.nan)
    points[trainings.row, trainings.repeat] = trainings.points[:, np.array(epochs) - 1]
    narrow = points.astype(np.float32)
    np.save(folder / f"{EPOCHS}.npy", narrow if np.array_equal(narrow, points, equal_nan=True) else points)
    return {"epochs": {"metric": curves.metric, "fidelity": trainings.fidelity, "epochs": epochs}}


def _trainings(cache: Cache, curves: Curves, space: SearchSpace) -> _Trainings:
    fidelity = int(curves.fidelity.max())
    is_longest = curves.fidelity == fidelity
    rows = cache.find_many(space.canonical_codes(curves.codes[is_longest]))
    same_seed = np.zeros((len(rows), cache.repeats), dtype=np.bool_)
    if cache.seeds is not None and fidelity in cache.fidelities:
        stored = cache.seeds[rows, cache.fidelities.index(fidelity)]
        same_seed = (stored == curves.seed[is_longest][:, None]) & (rows >= 0)[:, None]
    if not same_seed.any(axis=1).all():
        raise InvalidOption(
            f"a learning curve has the architecture, fidelity and seed of a row, {int((~same_seed.any(axis=1)).sum())} "
            "curves do not; write the rows of their trainings too"
        )
    curve, repeat = np.nonzero(same_seed)
    return _Trainings(fidelity, curves.values[is_longest][curve], rows[curve], repeat)
