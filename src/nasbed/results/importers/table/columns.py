"""Columns of CSV and Parquet files, a batch at a time, with an error that names the row, the column and the value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, shorten
from nasbed.results.rows import UNKNOWN

BLOCK = 1 << 22
BATCH = 1 << 16
LARGEST = 2**53
"""From here on neighbouring integers are the same float."""

MISSING = pa.array(["", "nan", "na", "n/a", "null", "none", "-nan"])
"""How tables write a missing value, in any case of letters."""


class BadRow(BadFile):
    """One row of a file that cannot be read; the others may be."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file whose columns can be read. ``rows`` is known for Parquet only."""

    path: Path
    names: list[str]
    rows: int | None

    @property
    def is_csv(self) -> bool:
        return self.path.suffix == ".csv"

    @classmethod
    def open(cls, path: Path) -> TableFile:
        """Look at the header. Only plain files with the suffix .csv or .parquet are read."""
        if path.suffix not in (".csv", ".parquet") or not path.is_file():
            raise BadFile(f"a table is a .csv or .parquet file, got {path.name or path}; convert it or change its name")
        with _readable(path):
            if path.suffix == ".csv":
                with pa_csv.open_csv(path, *_csv_options()) as reader:
                    names, rows = reader.schema.names, None
            else:
                with pq.ParquetFile(path) as file:
                    names, rows = file.schema_arrow.names, file.metadata.num_rows
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BadFile(f"{path.name}: the columns of a table have different names, got {shorten(twice[0])} twice")
        return cls(path, names, rows)

    def require(self, column: str, purpose: str) -> str:
        """The column, if the file has it."""
        if column not in self.names:
            raise BadFile(
                f"{self.path.name} has no column {shorten(column)} for {purpose}; its columns are "
                f"{shorten(self.names, 200)}"
            )
        return column

    def batches(self, columns: Sequence[str]) -> Iterator[CellBatch]:
        """The rows, some ten thousand at a time, with the columns asked for."""
        distinct_columns, start = list(dict.fromkeys(columns)), 0
        with _readable(self.path):
            for batch in self._csv(distinct_columns) if self.is_csv else self._parquet(distinct_columns):
                yield CellBatch(self.path.name, batch, np.arange(start + 1, start + 1 + len(batch)))
                start += len(batch)

    def _csv(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Everything as text: what a text means is decided here, not by the reader's guess at the first block."""
        convert = pa_csv.ConvertOptions(
            include_columns=columns, column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
        )
        with pa_csv.open_csv(self.path, *_csv_options(), convert_options=convert) as reader:
            yield from reader

    def _parquet(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(BATCH, columns=columns):
                batch.validate(full=True)
                yield batch


def _csv_options() -> tuple[pa_csv.ReadOptions, pa_csv.ParseOptions]:
    return pa_csv.ReadOptions(use_threads=False, block_size=BLOCK), pa_csv.ParseOptions(newlines_in_values=True)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except BadFile:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = " ".join((str(error) or type(error).__name__).split())
        raise BadFile(f"{path.name} cannot be read as {path.suffix[1:]}: {shorten(reason, 160)}") from None


@dataclass(frozen=True, slots=True)
class CellBatch:
    """Some rows of a file, and their numbers in it, from 1, the header not counted."""

    source: str
    batch: pa.RecordBatch
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def refuse(self, index: int, column: str, rule: str, value: Any) -> NoReturn:
        raise BadRow(f"{self.source}, row {self.numbers[index]}, column {column}: {rule}, got {shorten(value)}")

    def refuse_column(self, column: str, rule: str, kind: pa.DataType) -> NoReturn:
        raise BadFile(f"{self.source}, row {self.numbers[0]}, column {column}: {rule}, got {shorten(str(kind))}")

    def part(self, start: int, end: int) -> CellBatch:
        """Some of the rows, by their places in the batch."""
        return CellBatch(self.source, self.batch.slice(start, end - start), self.numbers[start:end])

    def only(self, column: str, value: str) -> CellBatch:
        """The rows in which a column has a value."""
        matches = np.array([text == value for text in self.texts(column)], dtype=bool)
        return CellBatch(self.source, self.batch.filter(pa.array(matches)), self.numbers[matches])

    def texts(self, column: str) -> list[str]:
        """A column as text, empty where it is missing; a number in Parquet reads as in CSV."""
        array = self.batch[column]
        kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        if not (_is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
            self.refuse_column(column, "the column holds text", array.type)
        texts = [text or "" for text in array.cast(pa.string()).to_pylist()]
        odd = next((i for i, text in enumerate(texts) if not text.isprintable()), None)
        if odd is not None:
            self.refuse(odd, column, "text is printable and on one line", texts[odd])
        return texts

    def floats(self, column: str) -> NDArray[np.float64]:
        """A column of numbers, NaN where one is missing."""
        array = self.batch[column]
        if _is_text(array.type):
            array = self._parsed(array, column, pa.float64(), "a value is a number or empty")
        elif not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type) or pa.types.is_null(array.type)):
            self.refuse_column(column, "the column holds numbers", array.type)
        values = np.asarray(array.cast(pa.float64(), safe=False).fill_null(math.nan), dtype=np.float64)
        if np.isinf(values).any():
            index = int(np.argmax(np.isinf(values)))
            self.refuse(
                index, column, "a value is finite, or empty if there is none", self.batch[column][index].as_py()
            )
        return values

    def integers(self, column: str) -> NDArray[np.int64]:
        """A column of integers from 0 on, :data:`UNKNOWN` where one is missing."""
        array = self.batch[column]
        exact = self._exact(array)
        if exact is None:
            values = self.floats(column)
            with np.errstate(invalid="ignore"):
                wrong = ~np.isnan(values) & ~((values >= 0) & (values < LARGEST) & (values == np.floor(values)))
            numbers = np.where(np.isnan(values) | wrong, UNKNOWN, values).astype(np.int64)
        else:
            numbers = np.asarray(exact.fill_null(UNKNOWN), dtype=np.int64)
            wrong = (numbers < 0) & np.asarray(exact.is_valid())
        if wrong.any():
            index = int(np.argmax(wrong))
            self.refuse(index, column, "this is a whole number, not negative, or empty", array[index].as_py())
        return numbers

    def _exact(self, array: pa.Array) -> pa.Array | None:
        """Integers as they are, also in text; nothing where some are written otherwise, as 100.0 or 1e3."""
        try:
            if _is_text(array.type):
                return _without_missing(array).cast(pa.int64())
            return array.cast(pa.int64()) if pa.types.is_integer(array.type) else None
        except pa.ArrowInvalid:
            return None

    def times(self, column: str) -> NDArray[np.int64]:
        """A column of moments as microseconds since 1970 UTC, :data:`UNKNOWN` where there is none. Text names its zone;
        Parquet's own moments without one are UTC."""
        array = self.batch[column]
        if _is_text(array.type):
            array = self._parsed(array, column, pa.timestamp("us", tz="UTC"), "a moment reads 2024-05-01T12:00:00Z")
        elif not (pa.types.is_timestamp(array.type) or pa.types.is_null(array.type)):
            self.refuse_column(column, "the column holds moments", array.type)
        elif pa.types.is_timestamp(array.type) and array.type.unit == "ns":
            array = pc.floor_temporal(array, unit="microsecond")
        moments = array.cast(pa.timestamp("us", tz=getattr(array.type, "tz", None))).cast(pa.int64())
        values = np.asarray(moments.fill_null(UNKNOWN), dtype=np.int64)
        wrong = (values < 0) & np.asarray(moments.is_valid())
        if wrong.any():
            index = int(np.argmax(wrong))
            self.refuse(index, column, "a moment is after 1970", str(self.batch[column][index]))
        return values

    def _parsed(self, array: pa.Array, column: str, kind: pa.DataType, rule: str) -> pa.Array:
        trimmed = _without_missing(array)
        try:
            return trimmed.cast(kind)
        except pa.ArrowInvalid:
            for index, text in enumerate(trimmed.to_pylist()):
                try:
                    pa.scalar(text, pa.string()).cast(kind)
                except pa.ArrowInvalid:
                    self.refuse(index, column, rule, text)
            raise


def _without_missing(array: pa.Array) -> pa.Array:
    """Text without spaces around it, null where it says that there is no value."""
    trimmed = pc.utf8_trim_whitespace(array.cast(pa.string()))
    return pc.if_else(pc.is_in(pc.utf8_lower(trimmed), MISSING), pa.scalar(None, pa.string()), trimmed)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
