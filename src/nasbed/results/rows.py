"""A batch of evaluations, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidMeasurement, InvalidOption
from nasbed.core.metric import Metric
from nasbed.core.status import OK, STATUSES

UNKNOWN = -1
"""A seed or fidelity that was not recorded; a timestamp too."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Evaluations as arrays of equal length: what importers yield, campaigns write, and surrogates are fitted on.

    ``values`` maps a metric's key to its column. A missing value is NaN here and null in the file; a measured value is
    never NaN. ``seed`` and ``fidelity`` are :data:`UNKNOWN` where they were not recorded.
    """

    codes: NDArray[np.int64]  # [n, code_length], as proposed: not canonical
    values: Mapping[str, NDArray[np.float64]]
    fidelity: NDArray[np.int64]
    seed: NDArray[np.int64]
    train_time_s: NDArray[np.float64]
    method: NDArray[np.str_]
    status: NDArray[np.int8]
    timestamp_us: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        count = len(self.codes)
        if not len(self.timestamp_us):
            object.__setattr__(self, "timestamp_us", np.full(count, UNKNOWN, dtype=np.int64))
        columns = [self.fidelity, self.seed, self.train_time_s, self.method, self.status, self.timestamp_us]
        lengths = {len(column) for column in [*columns, *self.values.values()]}
        if lengths - {count}:
            raise InvalidOption(f"the columns of a batch have one length, got {count} codes and {sorted(lengths)}")

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(
        cls,
        codes: NDArray[np.int64],
        values: Mapping[str, NDArray[np.float64]],
        *,
        fidelity: int | NDArray[np.int64] = UNKNOWN,
        seed: int | NDArray[np.int64] = UNKNOWN,
        train_time_s: float | NDArray[np.float64] = np.nan,
        method: str | NDArray[np.str_] = "",
        status: int | NDArray[np.int8] = OK,
        timestamp_us: int | NDArray[np.int64] = UNKNOWN,
    ) -> Rows:
        """Rows from columns. A scalar stands for a column of equal values.

        Args:
            codes: The architectures as proposed, ``[n, code_length]``.
            values: The column of each metric, by its key; NaN where nothing was measured.
            fidelity: The budget of each evaluation.
            seed: The seed of each evaluation.
            train_time_s: How long each took, in seconds.
            method: The search method that proposed each.
            status: How each ended, as a number.
            timestamp_us: When each ended, in microseconds since 1970 UTC.
        """
        count = len(codes)
        return cls(
            codes=np.ascontiguousarray(codes, dtype=np.int64),
            values={key: np.asarray(column, dtype=np.float64) for key, column in values.items()},
            fidelity=_column(fidelity, count, np.int64),
            seed=_column(seed, count, np.int64),
            train_time_s=_column(train_time_s, count, np.float64),
            method=_column(method, count, np.str_),
            status=_column(status, count, np.int8),
            timestamp_us=_column(timestamp_us, count, np.int64),
        )

    def take(self, chosen: NDArray[Any]) -> Rows:
        """The rows with these numbers, or those of a mask."""
        columns = {item.name: getattr(self, item.name)[chosen] for item in fields(self) if item.name != "values"}
        return Rows(values={key: column[chosen] for key, column in self.values.items()}, **columns)

    def check(self, metrics: Mapping[str, Metric]) -> None:
        """Raise unless every value is missing or within its metric's bounds, every time is not negative, and every row
        that ended well has a value."""
        if set(self.values) != set(metrics):
            raise InvalidMeasurement(f"a batch has the columns {sorted(metrics)}, got {sorted(self.values)}")
        for key, column in self.values.items():
            low, high = metrics[key].bounds
            wrong = ~((column >= low) & (column <= high)) & ~np.isnan(column)
            if wrong.any():
                metrics[key].check(float(column[wrong][0]))
        if (self.train_time_s < 0).any() or np.isinf(self.train_time_s).any():
            worst = float(self.train_time_s[(self.train_time_s < 0) | np.isinf(self.train_time_s)][0])
            raise InvalidMeasurement(f"a training time is a finite number of seconds, not negative, got {worst}")
        if ((self.status < 0) | (self.status >= len(STATUSES))).any():
            raise InvalidMeasurement(f"a status is one of {', '.join(STATUSES)}, got number {self.status.max()}")
        if metrics and len(self):
            empty = np.all([np.isnan(column) for column in self.values.values()], axis=0) & (self.status == OK)
            if empty.any():
                raise InvalidMeasurement(
                    f"row {int(np.argmax(empty))} is ok but has no value; mark it diverged or failed"
                )


def _column(value: Any, count: int, kind: type) -> NDArray[Any]:
    if np.ndim(value) == 0:
        return np.full(count, value) if kind is np.str_ else np.full(count, value, dtype=kind)
    return np.asarray(value, dtype=kind)


def concatenate(batches: list[Rows]) -> Rows:
    """Several batches of the same columns as one."""
    first = batches[0]
    return Rows(
        codes=np.concatenate([batch.codes for batch in batches]),
        values={key: np.concatenate([batch.values[key] for batch in batches]) for key in first.values},
        fidelity=np.concatenate([batch.fidelity for batch in batches]),
        seed=np.concatenate([batch.seed for batch in batches]),
        train_time_s=np.concatenate([batch.train_time_s for batch in batches]),
        method=np.concatenate([batch.method for batch in batches]),
        status=np.concatenate([batch.status for batch in batches]),
        timestamp_us=np.concatenate([batch.timestamp_us for batch in batches]),
    )
