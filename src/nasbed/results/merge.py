"""Several results tables as one.

Two rows are equal if all their columns are. A row that several tables share is taken once. A row that one table has
twice stays twice: it may be a repeat without a recorded seed. So merging a table with itself changes nothing, and the
order of the tables decides only the order of the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.results.curves import merged_curves
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.results.searches import joined_searches
from nasbed.results.store import Progress, Results, write_results


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The new table, and how many rows were dropped because an earlier table had them."""

    results: Results
    shared: int


def merge_results(
    tables: Sequence[Results],
    out: str | Path,
    *,
    name: str | None = None,
    mixed: bool = False,
    progress: Progress | None = None,
) -> MergeResult:
    """Write the rows of all tables to a new folder, after verifying every checksum. Learning curves and recorded
    searches are merged too.

    The tables have one space and one fidelity unit, and a metric key means the same metric in all of them. A metric
    that a table lacks is missing in its rows.

    Args:
        tables: The tables, two or more.
        out: The new folder.
        name: The name of the merged table; by default the one that all tables have.
        mixed: Allow different datasets or recipes. No row says which one it is of.
        progress: Called with the number of rows written so far.
    """
    out = Path(out)
    info = merged_about([table.about for table in tables], name=name, mixed=mixed)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidOption(f"{out} exists, and a merged table goes into a new folder; choose another")
    definitions = [table.manifest.space_definition for table in tables]
    if any(definition != definitions[0] for definition in definitions):
        raise InvalidOption(f"the tables define the space {info.space} differently; they cannot be merged")
    for table in tables:
        table.verify()
    rows = _Union(tables, [metric.key for metric in info.metrics])
    curves = merged_curves([curves for table in tables if (curves := table.curves()) is not None])
    searches = joined_searches([searches for table in tables if (searches := table.searches()) is not None])
    written = write_results(
        out, info, rows.batches(), progress, searched=tables[0].space, curves=curves, searches=searches
    )
    return MergeResult(written, rows.shared)


def merged_about(abouts: Sequence[TableInfo], *, name: str | None, mixed: bool) -> TableInfo:
    """What the merged table is; raises if the tables cannot be merged."""
    if len(abouts) < 2:
        raise InvalidOption(f"a merge takes two tables or more, got {len(abouts)}")
    first = abouts[0]
    for field in ("space", "fidelity_unit"):
        _require_equal(abouts, field, "they cannot be merged")
    if len({info.by_function for info in abouts}) > 1:
        raise InvalidOption("some of these tables answer by function and some do not; they cannot be merged")
    if not mixed:
        for field in ("dataset", "recipe"):
            _require_equal(abouts, field, "allow different ones (--mixed)")
    if name is None:
        _require_equal(abouts, "name", "name the merged one (--name)")
    joined: dict[str, Any] = {
        field: "; ".join(dict.fromkeys(text for info in abouts if (text := getattr(info, field))))
        for field in ("dataset", "recipe", "licence", "citation", "source", "notes")
    }
    return replace(first, name=name or first.name, metrics=_merged_metrics(abouts), **joined)


def _require_equal(abouts: Sequence[TableInfo], field: str, remedy: str) -> None:
    first = getattr(abouts[0], field)
    for info in abouts[1:]:
        value = getattr(info, field)
        if value != first:
            raise InvalidOption(
                f"merged tables have one {field.replace('_', ' ')}, got {first!r} in {abouts[0].name} and {value!r} in "
                f"{info.name}; {remedy}"
            )


def _merged_metrics(abouts: Sequence[TableInfo]) -> tuple[Metric, ...]:
    origins: dict[str, tuple[Metric, str]] = {}
    for info in abouts:
        for metric in info.metrics:
            earlier, origin = origins.setdefault(metric.key, (metric, info.name))
            if earlier != metric:
                raise InvalidOption(
                    f"merged tables mean the same by {metric.key}, got {_description(earlier)} in {origin} and "
                    f"{_description(metric)} in {info.name}; rename one"
                )
    return tuple(metric for metric, _ in origins.values())


def _description(metric: Metric) -> str:
    low, high = metric.bounds
    return f"{metric.direction} [{low:g}, {high:g}] {metric.unit}".rstrip()


class _Union:
    """The rows of all tables, each as often as in the table that has it most often."""

    def __init__(self, tables: Sequence[Results], keys: list[str]) -> None:
        self._tables = tables
        self._keys = keys
        self.shared = 0

    def batches(self) -> Iterator[Rows]:
        written: dict[bytes, int] = {}
        for table in self._tables:
            own: Counter[bytes] = Counter()
            for batch in table.batches():
                rows = self._widened(batch)
                new = np.zeros(len(rows), dtype=bool)
                for index, digest in enumerate(_digests(rows, self._keys)):
                    own[digest] += 1
                    if own[digest] > written.get(digest, 0):
                        written[digest] = own[digest]
                        new[index] = True
                self.shared += len(rows) - int(new.sum())
                if new.any():
                    yield _select_rows(rows, new)

    def _widened(self, rows: Rows) -> Rows:
        missing = np.full(len(rows), np.nan)
        return replace(rows, values={key: rows.values.get(key, missing) for key in self._keys})


def _digests(rows: Rows, keys: list[str]) -> Iterator[bytes]:
    """A digest of all columns of each row, 128 bits."""
    integers = [rows.fidelity, rows.seed, rows.status.astype(np.int64), rows.timestamp_us]
    floats = [np.where(np.isnan(column), np.nan, column + 0.0) for column in map(rows.values.__getitem__, keys)]
    floats.append(np.where(np.isnan(rows.train_time_s), np.nan, rows.train_time_s + 0.0))
    packed = np.concatenate(
        [rows.codes, np.stack(integers, axis=1), np.stack(floats, axis=1).view(np.int64)], axis=1
    ).astype("<i8")
    for row, method in zip(packed, rows.method.tolist(), strict=True):
        yield blake2b(row.tobytes() + method.encode(), digest_size=16).digest()


def _select_rows(rows: Rows, mask: np.ndarray) -> Rows:
    return Rows(
        codes=rows.codes[mask],
        values={key: column[mask] for key, column in rows.values.items()},
        fidelity=rows.fidelity[mask],
        seed=rows.seed[mask],
        train_time_s=rows.train_time_s[mask],
        method=rows.method[mask],
        status=rows.status[mask],
        timestamp_us=rows.timestamp_us[mask],
    )
