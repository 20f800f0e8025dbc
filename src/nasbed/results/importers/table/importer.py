"""Any table of evaluations: a CSV or Parquet file, and options that say what its columns are.

``nasbed import table runs.csv --option space=nb201 --option name=mine/cifar10 --option architecture=cell --option
metrics="test_accuracy=acc:%:maximize:0:100" --option seed=seed --option fidelity=200``

A number that is empty or NaN is missing. A row without any value is failed, unless a status column says how it ended.
Every error names the row, the column and the value. With ``bad_rows=skip`` such rows are left out and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, NasbedError, shorten
from nasbed.core.status import FAILED, OK, STATUSES, Status
from nasbed.results.importers.base import Draft, Importer
from nasbed.results.importers.table.bad_rows import BadRows
from nasbed.results.importers.table.columns import CellBatch, TableFile
from nasbed.results.importers.table.metrics import GRAMMAR, MetricColumn, parse_metrics
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import UNKNOWN, Rows, concatenate
from nasbed.spaces import SearchSpace
from nasbed.spaces.named import space_of

REFUSE, SKIP = "refuse", "skip"
REMEMBERED = 1 << 20
"""How many parsed architectures are kept for when their text comes again."""


class TableImporter(Importer):
    """One table, its rows in the order of the file."""

    format = "table"
    summary = "Any CSV or Parquet file of evaluations, with options that say what its columns are"
    options: ClassVar[Mapping[str, str]] = {
        "space": "The search space, or file.py:name of a SearchSpace or ConfigurationSpace. [required]",
        "name": "The name of the table, such as mine/cifar10. [required]",
        "metrics": f"{GRAMMAR} [required]",
        "architecture": "The column of texts or JSON configurations. [default: architecture]",
        "code": "Or the columns of the code: A,B,C or a prefix of 0, 1, …",
        "bad_rows": "refuse the file, or skip them and list the first. [default: refuse]",
        "where": "COLUMN=VALUE: read only the rows with that value.",
        "seed": "The column of seeds.",
        "fidelity": "The column of budgets, or one whole number for all rows.",
        "fidelity_unit": "What a fidelity counts. [default: epochs]",
        "method": "The column of search methods, or =TEXT for all rows.",
        "train_time_s": "The column of training times in seconds.",
        "status": f"The column of how it ended: {', '.join(STATUSES)}.",
        "timestamp": "The column of moments, with their time zone.",
        "dataset": "What was trained on.",
        "recipe": "How it was trained.",
        "licence": "The licence of the data.",
        "citation": "What to cite.",
        "source": "Where the data comes from.",
        "notes": "Anything else.",
    }

    def read(self, path: Path) -> Iterator[Draft]:
        for name in ("space", "name", "metrics"):
            if not self.settings.get(name):
                raise InvalidOption(f"a table needs the option {name}: {self.options[name]}")
        searched = space_of(self.settings["space"])
        names = ("dataset", "recipe", "fidelity_unit", "licence", "citation", "source", "notes")
        texts: dict[str, Any] = {name: self.settings[name] for name in names if name in self.settings}
        metrics = parse_metrics(self.settings["metrics"])
        info = TableInfo(
            name=self.settings["name"],
            space=searched.name,
            metrics=tuple(column.metric for column in metrics),
            **texts,
        )
        source = TableFile.open(path)
        layout = _ColumnLayout.of(self.settings, source, searched, metrics)
        total = source.rows if layout.where is None else None
        bad_rows = _bad_rows(self.settings.get("bad_rows", REFUSE))
        yield Draft(
            info,
            layout.rows(source, bad_rows),
            total=total,
            space=searched,
            remarks=(lambda: []) if bad_rows is None else bad_rows.lines,
        )


@dataclass
class _ColumnLayout:
    """Which column is what, all of them known to exist."""

    space: SearchSpace
    metrics: list[MetricColumn]
    architecture: str | None
    code: list[str]
    where: tuple[str, str] | None
    columns: dict[str, str]  # of seed, fidelity, method, train_time_s, status, timestamp
    fidelity: int = UNKNOWN
    method: str = ""

    @classmethod
    def of(
        cls, settings: Mapping[str, str], source: TableFile, searched: SearchSpace, metrics: list[MetricColumn]
    ) -> _ColumnLayout:
        if "code" in settings and "architecture" in settings:
            raise InvalidOption("an architecture is given by the option architecture or code; leave one out")
        layout = cls(searched, metrics, None, [], None, {})
        if "code" in settings:
            layout.code = _code_columns(settings["code"], source, searched)
        else:
            layout.architecture = source.require(settings.get("architecture", "architecture"), "the architecture")
        for metric_column in metrics:
            source.require(metric_column.column, metric_column.metric.key)
        if "where" in settings:
            column, equals, value = settings["where"].partition("=")
            if not equals:
                raise InvalidOption(f"where reads COLUMN=VALUE, got {shorten(settings['where'])}")
            layout.where = source.require(column, "where"), value
        for name in ("seed", "fidelity", "method", "train_time_s", "status", "timestamp"):
            setting = settings.get(name, "")
            if name == "fidelity" and setting.isascii() and setting.isdecimal():
                layout.fidelity = _small(setting)
            elif name == "method" and setting.startswith("="):
                layout.method = setting[1:]
            elif setting:
                layout.columns[name] = source.require(setting, name)
        return layout

    def rows(self, source: TableFile, bad_rows: BadRows | None) -> Iterator[Rows]:
        columns = [*self.code, *self.columns.values(), *(metric_column.column for metric_column in self.metrics)]
        columns += [self.architecture] if self.architecture else []
        columns += [self.where[0]] if self.where else []
        parsed_codes: dict[str, tuple[int, ...]] = {}

        def read(cells: CellBatch) -> Rows | None:
            selected = cells.only(*self.where) if self.where else cells
            return self._batch(selected, parsed_codes) if len(selected) else None

        for cells in source.batches(columns):
            if bad_rows is not None:
                parts = list(bad_rows.rest(cells, read))
                if parts:
                    yield concatenate(parts)
            elif (rows := read(cells)) is not None:
                yield rows
        if bad_rows is not None:
            bad_rows.check_some_good()

    def _batch(self, cells: CellBatch, parsed_codes: dict[str, tuple[int, ...]]) -> Rows:
        values = {metric_column.metric.key: self._values(cells, metric_column) for metric_column in self.metrics}
        optional: dict[str, Any] = {}
        if "seed" in self.columns:
            optional["seed"] = cells.integers(self.columns["seed"])
        if "timestamp" in self.columns:
            optional["timestamp_us"] = cells.times(self.columns["timestamp"])
        if "train_time_s" in self.columns:
            optional["train_time_s"] = _not_negative(cells, self.columns["train_time_s"])
        fidelity = cells.integers(self.columns["fidelity"]) if "fidelity" in self.columns else self.fidelity
        method = np.array(cells.texts(self.columns["method"]), np.str_) if "method" in self.columns else self.method
        return Rows.of(
            self._codes_of(cells) if self.code else self._parsed(cells, parsed_codes),
            values,
            fidelity=fidelity,
            method=method,
            status=self._status(cells, values),
            **optional,
        )

    def _values(self, cells: CellBatch, metric_column: MetricColumn) -> NDArray[np.float64]:
        column = cells.floats(metric_column.column)
        low, high = metric_column.metric.bounds
        wrong = ~np.isnan(column) & ((column < low) | (column > high))
        if wrong.any():
            index = int(np.argmax(wrong))
            rule = f"{metric_column.metric.key} lies in [{low:g}, {high:g}] {metric_column.metric.unit}".rstrip()
            cells.refuse(index, metric_column.column, rule, float(column[index]))
        return column

    def _status(self, cells: CellBatch, values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.int8]:
        empty = np.all([np.isnan(column) for column in values.values()], axis=0)
        if "status" not in self.columns:
            return np.where(empty, FAILED, OK).astype(np.int8)
        column = self.columns["status"]
        texts = cells.texts(column)
        for index, text in enumerate(texts):
            if text not in STATUSES:
                cells.refuse(index, column, f"a status is one of {', '.join(STATUSES)}", text)
            if text == Status.OK and empty[index]:
                cells.refuse(index, column, "a row without any value is diverged or failed", text)
        return np.array([Status(text).number for text in texts], dtype=np.int8)

    def _codes_of(self, cells: CellBatch) -> NDArray[np.int64]:
        codes = np.stack([cells.integers(column) for column in self.code], axis=1)
        for index, code in enumerate(codes.tolist()):
            try:
                self.space.validate(Architecture(self.space.name, tuple(code)))
            except NasbedError as error:
                cells.refuse(index, self.code[0], str(error), code)
        return codes

    def _parsed(self, cells: CellBatch, parsed_codes: dict[str, tuple[int, ...]]) -> NDArray[np.int64]:
        assert self.architecture is not None
        codes = np.empty((len(cells), self.space.code_length), dtype=np.int64)
        for index, text in enumerate(cells.texts(self.architecture)):
            code = parsed_codes.get(text)
            if code is None:
                try:
                    code = _architecture(self.space, text).code
                except (NasbedError, ValueError, RecursionError) as error:
                    cells.refuse(index, self.architecture, " ".join(str(error).split()) or "too deep", text)
                if len(parsed_codes) < REMEMBERED:
                    parsed_codes[text] = code
            codes[index] = code
        return codes


def _bad_rows(choice: str) -> BadRows | None:
    if choice not in (REFUSE, SKIP):
        raise InvalidOption(f"bad rows are {REFUSE}d or skipped: bad_rows is {REFUSE} or {SKIP}, got {shorten(choice)}")
    return BadRows() if choice == SKIP else None


def _architecture(searched: SearchSpace, text: str) -> Architecture:
    """From the space's own text, or from a JSON object of its configuration space."""
    try:
        return searched.parse(text)
    except NasbedError:
        if not text.lstrip().startswith("{"):
            raise
        return searched.from_config(json.loads(text))


def _code_columns(text: str, source: TableFile, searched: SearchSpace) -> list[str]:
    columns = [part.strip() for part in text.split(",")]
    if len(columns) == 1 and searched.code_length > 1:
        columns = [f"{text}{i}" for i in range(searched.code_length)]
    if len(columns) != searched.code_length:
        raise InvalidOption(f"a {searched.name} code has {searched.code_length} integers, got the columns {columns}")
    return [source.require(column, "the code") for column in columns]


def _small(text: str) -> int:
    if len(text) > 9:
        raise InvalidOption(f"a fidelity is a whole number of at most 9 digits, got {shorten(text)}")
    return int(text)


def _not_negative(cells: CellBatch, column: str) -> NDArray[np.float64]:
    values = cells.floats(column)
    if (values < 0).any():
        index = int(np.argmax(values < 0))
        cells.refuse(index, column, "a training time is not negative", float(values[index]))
    return values
