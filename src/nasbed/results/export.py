"""A results table as one plain file, for tools other than nasbed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from nasbed.core.errors import InvalidOption
from nasbed.core.files import complete_file
from nasbed.results.parquet import arrow_schema, to_arrow
from nasbed.results.rows import Rows
from nasbed.results.store import Progress, Results
from nasbed.spaces import SearchSpace

SUFFIXES = (".csv", ".parquet")


def export_results(results: Results, path: str | Path, progress: Progress | None = None) -> int:
    """Write the rows with the architecture as text; the file appears only when it is complete.

    The columns are ``architecture``, ``method``, ``seed``, ``fidelity``, ``status``, ``train_time_s``, ``timestamp``
    and the metrics by key. The import format ``table`` reads them back. Returns the number of rows.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InvalidOption(f"a table is exported as {' or '.join(SUFFIXES)}, got {path.name}; change the suffix")
    if path.is_dir():
        raise InvalidOption(f"a table is exported to a file, {path} is a folder; name a file in it")
    schema = _schema(results)
    opener = csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
    written = 0
    with complete_file(path) as draft, draft.open("wb") as file, opener(file, schema) as writer:
        for rows in results.batches():
            writer.write_table(_table(rows, results.space, schema))
            written += len(rows)
            if progress is not None:
                progress(written)
    return written


def arrow_table(results: Results) -> pa.Table:
    """All rows in memory, with the columns of :func:`export_results`."""
    schema = _schema(results)
    return pa.concat_tables(_table(rows, results.space, schema) for rows in results.batches())


def _schema(results: Results) -> pa.Schema:
    code_length, keys = results.space.code_length, [metric.key for metric in results.about.metrics]
    stored = arrow_schema(code_length, keys)
    plain = [
        pa.field(field.name, pa.string(), field.nullable) if pa.types.is_dictionary(field.type) else field
        for field in list(stored)[code_length:]
    ]
    return pa.schema([pa.field("architecture", pa.string(), nullable=False), *plain])


def _table(rows: Rows, searched: SearchSpace, schema: pa.Schema) -> pa.Table:
    """The stored columns with the code as text."""
    stored = to_arrow(rows, arrow_schema(searched.code_length, list(rows.values)))
    columns = {"architecture": pa.array(searched.texts(rows.codes), pa.string())}
    columns |= {name: stored[name].cast(schema.field(name).type) for name in schema.names[1:]}
    return pa.table(columns, schema=schema)
