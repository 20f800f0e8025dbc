"""Learning curves of a table: a file beside its rows, one line a training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption

FILE_NAME = "curves.parquet"


@dataclass(frozen=True, slots=True)
class Curves:
    """Learning curves of trainings, as arrays of equal length.

    ``values`` has a column an epoch, ``[trainings, longest]``, of the metric with the key ``metric``. It is NaN where
    nothing was measured, and after the last epoch of a training. Its code, fidelity and seed say which row of the table
    a training is.
    """

    metric: str
    codes: NDArray[np.int64]
    fidelity: NDArray[np.int64]
    seed: NDArray[np.int64]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        lengths = {len(column) for column in (self.codes, self.fidelity, self.seed, self.values)}
        if len(lengths) > 1:
            raise InvalidOption(f"the columns of learning curves have one length, got {sorted(lengths)}")

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(
        cls,
        metric: str,
        codes: NDArray[np.int64],
        points: Sequence[Sequence[float | None]],
        *,
        fidelity: Sequence[int],
        seed: Sequence[int],
    ) -> Curves:
        """Curves from their points.

        Args:
            metric: The key of the metric.
            codes: The architecture of each training, ``[trainings, code_length]``.
            points: One sequence a training, None where a point is missing.
            fidelity: That of each training.
            seed: That of each training.
        """
        values = np.full((len(points), max(map(len, points), default=0)), np.nan)
        for row, curve in zip(values, points, strict=True):
            row[: len(curve)] = [np.nan if point is None else point for point in curve]
        fidelities, seeds = (np.array(column, dtype=np.int64) for column in (fidelity, seed))
        return cls(metric, codes, fidelities, seeds, values)

    def points(self) -> list[list[float | None]]:
        """The points of each training, up to the last that was measured."""
        ends = self.values.shape[1] - np.argmax(~np.isnan(self.values)[:, ::-1], axis=1)
        return [
            [None if np.isnan(point) else point for point in row[:end]]
            for row, end in zip(self.values.tolist(), ends.tolist(), strict=True)
        ]


def write_curves(path: Path, curves: Curves) -> None:
    """Write a file with the columns ``code_0`` …, ``seed``, ``fidelity`` and the key of the metric. That one has lists
    of one number per epoch, null where it is missing."""
    columns = {f"code_{place}": pa.array(column) for place, column in enumerate(curves.codes.T)}
    columns |= {"seed": pa.array(curves.seed), "fidelity": pa.array(curves.fidelity)}
    columns[curves.metric] = pa.array(curves.points(), pa.list_(pa.float64()))
    pq.write_table(pa.table(columns), path, compression="zstd")


def read_curves(path: Path, code_length: int) -> Curves:
    """What :func:`write_curves` wrote; raises unless its columns are the expected ones."""
    expected = [*(f"code_{place}" for place in range(code_length)), "seed", "fidelity"]
    try:
        table = pq.read_table(path)
        *names, metric = table.column_names
        if names != expected:
            raise BadFile(f"{path} has the columns {', '.join(names[:12])} …, not those of learning curves")
        return Curves.of(
            metric,
            np.stack([table[name].to_numpy() for name in names[:code_length]], axis=1),
            table[metric].to_pylist(),
            fidelity=table["fidelity"].to_pylist(),
            seed=table["seed"].to_pylist(),
        )
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        if isinstance(error, BadFile):
            raise
        reason = next(iter(str(error).splitlines()), "")
        raise BadFile(f"{path} cannot be read as learning curves: {reason}; export the table again") from None


def merged_curves(parts: Sequence[Curves]) -> Curves | None:
    """The curves of several tables of one metric; one that several have is taken once. None where there are none."""
    if not parts:
        return None
    if len(metrics := {part.metric for part in parts}) > 1:
        raise InvalidOption(
            f"merged learning curves are of one metric, got {' and '.join(sorted(metrics))}; merge tables of one"
        )
    lines = dict.fromkeys(
        (tuple(code), fidelity, seed, tuple(points))
        for part in parts
        for code, fidelity, seed, points in zip(
            part.codes.tolist(), part.fidelity.tolist(), part.seed.tolist(), part.points(), strict=True
        )
    )
    codes, fidelity, seed, points = zip(*lines, strict=True)
    return Curves.of(parts[0].metric, np.array(codes, dtype=np.int64), points, fidelity=fidelity, seed=seed)
