"""Searches that were run for real to collect a table: a file beside its rows, one line an evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption, first_line

FILE_NAME = "searches.parquet"
_COLUMNS = ("method", "search", "seed", "fidelity", "start_s", "end_s")
_ARRAYS = (*_COLUMNS, "codes")
_METADATA = b"nasbed.searches"


@dataclass(frozen=True, slots=True)
class RecordedSearches:
    """The evaluations of searches as arrays of equal length, those of each search in the order of its proposals.

    ``method`` and the number ``search`` say which search an evaluation belongs to. Its code, fidelity and seed say
    which row of the table it is. ``start_s`` and ``end_s`` are seconds since the search began, with ``workers``
    trainings at a time; NaN where trainings were not timed. ``settings`` are those of the methods that had some.
    """

    method: NDArray[np.str_]
    search: NDArray[np.int64]
    codes: NDArray[np.int64]
    fidelity: NDArray[np.int64]
    seed: NDArray[np.int64]
    start_s: NDArray[np.float64]
    end_s: NDArray[np.float64]
    workers: int = 1
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = {len(getattr(self, name)) for name in _ARRAYS}
        if len(lengths) > 1:
            raise InvalidOption(f"the columns of recorded searches have one length, got {sorted(lengths)}")

    def __len__(self) -> int:
        return len(self.search)

    @property
    def names(self) -> list[tuple[str, int]]:
        """The method and the number of each search."""
        return list(dict.fromkeys(zip(self.method.tolist(), self.search.tolist(), strict=True)))

    def of(self, method: str, search: int) -> RecordedSearches:
        """The evaluations of one search."""
        return self._take((self.method == method) & (self.search == search))

    def each(self) -> Iterator[tuple[str, int, RecordedSearches]]:
        """Every search: its method, its number, its evaluations."""
        for method, search in self.names:
            yield method, search, self.of(method, search)

    def _take(self, rows: NDArray[Any]) -> RecordedSearches:
        return replace(self, **{name: getattr(self, name)[rows] for name in _ARRAYS})


def write_searches(path: Path, searches: RecordedSearches) -> None:
    """Write a file with the columns ``method``, ``search``, ``seed``, ``fidelity``, ``start_s``, ``end_s`` and
    ``code_0`` …; workers and settings are in its metadata."""
    columns = {name: pa.array(getattr(searches, name), from_pandas=True) for name in _COLUMNS}
    columns |= {f"code_{place}": pa.array(column) for place, column in enumerate(searches.codes.T)}
    setup = {"workers": searches.workers, "settings": {name: dict(own) for name, own in searches.settings.items()}}
    table = pa.table(columns).replace_schema_metadata({_METADATA: json.dumps(setup, sort_keys=True)})
    pq.write_table(table, path, compression="zstd")


def read_searches(path: Path, code_length: int) -> RecordedSearches:
    """What :func:`write_searches` wrote; raises unless its columns are the expected ones."""
    codes = [f"code_{place}" for place in range(code_length)]
    try:
        table = pq.read_table(path)
        setup = json.loads((table.schema.metadata or {}).get(_METADATA, b"{}"))
        if table.column_names != [*_COLUMNS, *codes] or setup.keys() != {"workers", "settings"}:
            raise BadFile(f"{path} has other columns than those of recorded searches; export the table again")
        return RecordedSearches(
            method=np.array(table["method"].to_pylist(), dtype=np.str_),
            codes=np.stack([table[name].to_numpy() for name in codes], axis=1).astype(np.int64),
            **{name: table[name].to_numpy().astype(np.int64) for name in ("search", "fidelity", "seed")},
            **{name: table[name].to_numpy().astype(np.float64) for name in ("start_s", "end_s")},
            **setup,
        )
    except (pa.ArrowException, OSError, ValueError, TypeError, AttributeError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(
            f"{path} cannot be read as recorded searches: {first_line(error)}; export the table again"
        ) from None


def joined_searches(parts: Sequence[RecordedSearches]) -> RecordedSearches | None:
    """The searches of several tables, those of a method numbered on from part to part; None where there are none. All
    have the same workers, and a method has the same settings."""
    if not parts:
        return None
    settings = {name: parts[0].settings.get(name, {}) for name, _ in parts[0].names}
    for part in parts[1:]:
        for name, _ in part.names:
            if settings.setdefault(name, part.settings.get(name, {})) != part.settings.get(name, {}):
                raise InvalidOption(f"searches of {name} with different settings cannot be joined; keep them apart")
    if len({part.workers for part in parts}) > 1:
        raise InvalidOption("searches with different numbers of workers cannot be joined; keep them apart")
    numbered: list[RecordedSearches] = []
    next_number: dict[str, int] = {}
    for part in parts:
        first = np.array([next_number.get(name, 0) for name in part.method.tolist()], dtype=np.int64)
        numbered.append(replace(part, search=part.search + first))
        for name, search in numbered[-1].names:
            next_number[name] = max(next_number.get(name, 0), search + 1)
    columns: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in numbered]) for name in _ARRAYS}
    known = {name: own for name, own in settings.items() if own}
    return replace(parts[0], **columns, settings=known)
