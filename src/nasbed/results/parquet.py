"""Rows as Parquet: one column for each integer of the code, each metric, and each fact of the evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.core.status import STATUSES, Status
from nasbed.results.rows import UNKNOWN, Rows

ROW_GROUP = 1 << 18


def arrow_schema(code_length: int, metric_keys: Sequence[str]) -> pa.Schema:
    """The columns of a results file, in order."""
    text = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [pa.field(f"code_{i}", pa.int64(), nullable=False) for i in range(code_length)]
        + [
            pa.field("method", text),
            pa.field("seed", pa.int64()),
            pa.field("fidelity", pa.int64()),
            pa.field("status", text, nullable=False),
            pa.field("train_time_s", pa.float64()),
            pa.field("timestamp", pa.timestamp("us", tz="UTC")),
        ]
        + [pa.field(key, pa.float64()) for key in metric_keys]
    )


def open_writer(path: Path, code_length: int, metric_keys: Sequence[str]) -> pq.ParquetWriter:
    """A new results file. Measured numbers seldom repeat: byte-stream splitting compresses them better than a
    dictionary, in less than half the time."""
    schema = arrow_schema(code_length, metric_keys)
    measured = [field.name for field in schema if field.type == pa.float64()]
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=[field.name for field in schema if field.name not in measured],
        use_byte_stream_split=measured,
    )


def write_batch(writer: pq.ParquetWriter, rows: Rows) -> None:
    """Append rows, in groups of up to :data:`ROW_GROUP`."""
    writer.write_batch(to_arrow(rows, writer.schema), row_group_size=ROW_GROUP)


def to_arrow(rows: Rows, schema: pa.Schema) -> pa.RecordBatch:
    """A batch as Arrow columns; unknown values become null."""
    columns: dict[str, pa.Array] = {f"code_{i}": pa.array(column) for i, column in enumerate(rows.codes.T)}
    columns["method"] = _texts(rows.method)
    for name, column in (("seed", rows.seed), ("fidelity", rows.fidelity)):
        columns[name] = _nullable(column, pa.int64())
    columns["status"] = pa.DictionaryArray.from_arrays(
        pa.array(rows.status, pa.int32()), pa.array(STATUSES, pa.string())
    )
    columns["train_time_s"] = pa.array(rows.train_time_s, from_pandas=True)
    columns["timestamp"] = _nullable(rows.timestamp_us, pa.timestamp("us", tz="UTC"))
    columns |= {key: pa.array(column, from_pandas=True) for key, column in rows.values.items()}
    return pa.RecordBatch.from_arrays([columns[field.name] for field in schema], schema=schema)


def _nullable(numbers: NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    missing = numbers == UNKNOWN
    return pa.nulls(len(numbers), kind) if missing.all() else pa.array(numbers, mask=missing).cast(kind)


def _texts(texts: NDArray[np.str_]) -> pa.DictionaryArray:
    """Texts as a dictionary array. Most columns have one text only, and need no sorting."""
    if len(texts) and (texts == texts[0]).all():
        names, indices = texts[:1], np.zeros(len(texts), dtype=np.int64)
    else:
        names, indices = np.unique(texts, return_inverse=True)
    dictionary = pa.array([name or None for name in names.tolist()], pa.string())
    if dictionary.null_count:
        keep = np.flatnonzero(names != "")
        position = np.full(len(names), -1)
        position[keep] = np.arange(len(keep))
        mapped = position[indices]
        return pa.DictionaryArray.from_arrays(
            pa.array(mapped, pa.int32(), mask=mapped < 0), pa.array(names[keep].tolist(), pa.string())
        )
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), dictionary)


def from_arrow(table: pa.Table | pa.RecordBatch, code_length: int, metric_keys: Sequence[str]) -> Rows:
    """The inverse of :func:`to_arrow`."""
    codes = np.stack([_numbers(table[f"code_{i}"], 0, np.int64) for i in range(code_length)], axis=1)
    statuses, status = _names(table["status"])
    if (status < 0).any():
        raise BadFile("a row of the results has no status; import the table again")
    methods, method = _names(table["method"])
    return Rows(
        codes=codes,
        values={key: _numbers(table[key], np.nan, np.float64) for key in metric_keys},
        fidelity=_numbers(table["fidelity"], UNKNOWN, np.int64),
        seed=_numbers(table["seed"], UNKNOWN, np.int64),
        train_time_s=_numbers(table["train_time_s"], np.nan, np.float64),
        method=np.array([*methods, ""], dtype=np.str_)[method],
        status=np.array([Status(text).number for text in statuses], dtype=np.int8)[status],
        timestamp_us=_numbers(table["timestamp"].cast(pa.int64()), UNKNOWN, np.int64),
    )


def _names(column: pa.Array | pa.ChunkedArray) -> tuple[list[str], NDArray[np.int32]]:
    """The different texts of a column, and the place of each row's among them, -1 for null."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not isinstance(array, pa.DictionaryArray):
        array = array.dictionary_encode()
    return array.dictionary.to_pylist(), _numbers(array.indices, -1, np.int32)


def _numbers(column: pa.Array | pa.ChunkedArray, missing: float, kind: type) -> NDArray[Any]:
    filled = column.fill_null(missing) if column.null_count else column
    return np.asarray(filled, dtype=kind)


def read_codes(path: Path, code_length: int) -> Iterator[NDArray[np.int64]]:
    """The codes of the rows of a results file, a row group at a time, without reading their values."""
    names = [f"code_{place}" for place in range(code_length)]
    with _readable(path) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=names)
            yield np.stack([_numbers(table[name], 0, np.int64) for name in names], axis=1)


def read_batches(path: Path, code_length: int, metric_keys: Sequence[str]) -> Iterator[Rows]:
    """The rows of a results file, a row group at a time; raises unless its columns are the expected ones."""
    with _readable(path) as file:
        expected = arrow_schema(code_length, metric_keys)
        if file.schema_arrow.names != expected.names:
            raise BadFile(
                f"{path} has the columns {', '.join(file.schema_arrow.names[:12])} …, not those of its manifest"
            )
        for group in range(file.num_row_groups):
            yield from_arrow(file.read_row_group(group), code_length, metric_keys)


@contextmanager
def _readable(path: Path) -> Iterator[pq.ParquetFile]:
    """A results file, opened; what cannot be read in it is one line."""
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(
            f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}; import the table again"
        ) from None
