"""What a column of the overview is, and columns as bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from nasbed.core.metric import Metric

Kind = Literal["metric", "cost", "shape", "operation", "choice", "proxy", "method"]


@dataclass(frozen=True, slots=True)
class PointColumn:
    """``log`` says whether the values span so much that a logarithmic axis shows them better. ``labels`` are the texts
    that the values of a column of names number."""

    key: str
    title: str
    unit: str
    kind: Kind
    log: bool = False
    labels: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """The column as the API describes it."""
        return {"key": self.key, "title": self.title, "unit": self.unit, "kind": self.kind, "log": self.log}


def metric_column(metric: Metric) -> PointColumn:
    """The column of a metric. One that belongs to the architecture alone is a cost."""
    is_cost = metric.split is None
    return PointColumn(metric.key, metric_title(metric), metric.unit, "cost" if is_cost else "metric", log=is_cost)


def metric_title(metric: Metric) -> str:
    """A metric in words: "validation accuracy"."""
    return metric.key.replace("_", " ")


def packed(rows: int, columns: Sequence[PointColumn], arrays: Sequence[NDArray[Any]]) -> bytes:
    """Columns as bytes: the length of a JSON header in four bytes, the header, then each column, all little-endian and
    padded to a multiple of four bytes.

    >>> import numpy as np
    >>> data = packed(2, [PointColumn("depth", "depth", "", "shape")], [np.array([1.5, np.nan])])
    >>> length = int.from_bytes(data[:4], "little")
    >>> json.loads(data[4 : 4 + length]), np.frombuffer(data[4 + length :], "<f4").tolist()
    ({'rows': 2, 'columns': [{'key': 'depth', 'type': 'f4'}]}, [1.5, nan])
    """
    stored = [_as_stored(array) for array in arrays]
    described = []
    for column, array in zip(columns, stored, strict=True):
        entry: dict[str, Any] = {"key": column.key, "type": f"{array.dtype.kind}{array.dtype.itemsize}"}
        described.append(entry | ({"labels": list(column.labels)} if column.labels else {}))
    header = _padded(json.dumps({"rows": rows, "columns": described}).encode(), b" ")
    return b"".join([len(header).to_bytes(4, "little"), header, *(_padded(array.tobytes(), b"\0") for array in stored)])


def _as_stored(values: NDArray[Any]) -> NDArray[Any]:
    """An array in the type in which it is sent: four-byte floats, or unsigned integers of one or two bytes."""
    return values.astype("<f4") if values.dtype.kind == "f" else values.astype(values.dtype.newbyteorder("<"))


def _padded(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % 4)
