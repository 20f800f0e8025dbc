"""Builds the memory-mapped form of a table while its rows are written."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, TooLarge
from nasbed.core.status import OK
from nasbed.results.cache.columns import HEADER
from nasbed.results.cache.epochs import write_epochs
from nasbed.results.cache.reader import MEMBER_ROWS, MEMBERS, NOTHING, VALUES
from nasbed.results.curves import Curves
from nasbed.results.rows import UNKNOWN, Rows
from nasbed.spaces import SearchSpace
from nasbed.spaces.lookup import MASK, MULTIPLIER, code_keys

MOST_CELLS_PER_ROW = 64
"""A table is refused if its dense form has more cells than this per measured row."""

Column = list[NDArray[Any]]
"""One array a batch."""


class CacheBuilder:
    """Gathers the rows and each architecture's code once, then fills one column at a time. The dense form of a sparse
    table is never in memory as a whole."""

    def __init__(self, space: SearchSpace, *, by_function: bool = False) -> None:
        self._space = space
        self._by_function = by_function
        self._keys: list[NDArray[np.uint64]] = []  # of the architectures of each batch, each once
        self._codes: list[NDArray[np.int64]] = []
        self._owners: list[NDArray[np.int32]] = []  # of each row, into those
        self._fidelities: Column = []  # of each batch, each once
        self._levels: list[NDArray[np.int32]] = []  # of each row, into those
        self._seed: Column = []
        self._seeds_known = False
        self._status: Column = []
        self._values: dict[str, Column] = {}
        self._gaps: set[str] = set()

    def add(self, rows: Rows) -> None:
        starts = _run_starts(rows.codes)  # rows of one architecture often stand together
        codes = rows.codes[starts]
        keys, first, owner = np.unique(code_keys(codes), return_index=True, return_inverse=True)
        _check_collisions(codes, codes[first], owner)
        self._keys.append(keys)
        self._codes.append(codes[first])
        self._owners.append(np.repeat(owner.astype(np.int32), np.diff(np.append(starts, len(rows)))))
        fidelities, levels = _numbered(rows.fidelity)
        self._fidelities.append(fidelities)
        self._levels.append(levels)
        has_seeds = bool((rows.seed != UNKNOWN).any())
        self._seeds_known |= has_seeds
        self._seed.append(rows.seed if has_seeds else np.broadcast_to(np.int64(UNKNOWN), len(rows)))
        self._status.append(rows.status)
        for key, column in {**rows.values, "train_time_s": rows.train_time_s}.items():
            self._values.setdefault(key, []).append(_narrowed(column))
            if np.isnan(column[rows.status == OK]).any():
                self._gaps.add(key)

    def write(self, folder: Path, curves: Curves | None = None) -> int:
        """Write the table's files, with the learning curves of its trainings. Returns the number of architectures that
        it answers for.

        Isomorphic architectures are merged and sorted by key. The repeats of each (architecture, fidelity) are numbered
        by seed; where seeds are unknown or equal, in the order of the rows.
        """
        codes, keys, multiplier, architectures = self._architectures()
        fidelities = np.unique(np.concatenate(self._fidelities))
        cell, repeats = self._cells(architectures, fidelities, len(codes))
        shape = (len(codes), len(fidelities), repeats)

        def save(name: str, parts: Column, fill_value: float) -> None:
            dense = np.full(shape, fill_value, dtype=np.result_type(*parts))
            flat, start = dense.reshape(-1), 0
            for part in parts:
                flat[cell[start : start + len(part)]] = part
                start += len(part)
            np.save(folder / f"{name}.npy", dense)

        folder.mkdir()
        np.save(folder / "codes.npy", codes)
        np.save(folder / "keys.npy", keys)
        with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
            saved = [pool.submit(save, "status", self._status, NOTHING)]
            if self._seeds_known:
                saved.append(pool.submit(save, "seeds", self._seed, UNKNOWN))
            for key, parts in self._values.items():
                if not all(np.isnan(part).all() for part in parts):
                    saved.append(pool.submit(save, f"{VALUES}{key}", parts, np.nan))
            for future in saved:
                future.result()
        header = {
            "multiplier": multiplier,
            "fidelities": fidelities.tolist(),
            "repeats": repeats,
            "gaps": sorted(self._gaps),
        }
        (folder / HEADER).write_text(json.dumps(header), encoding="utf-8")
        if curves is not None:
            header |= write_epochs(folder, curves, self._space)
            (folder / HEADER).write_text(json.dumps(header), encoding="utf-8")
        return self._write_members(folder, codes) if self._by_function else len(codes)

    def _write_members(self, folder: Path, codes: NDArray[np.int64]) -> int:
        """Write the architectures of the space that compute a function of the table, and its row for each of them."""
        members = self._space.codes(list(self._space.enumerate()))
        row_of = {code: row for row, code in enumerate(map(tuple, self._space.function_codes(codes).tolist()))}
        if len(row_of) < len(codes):
            raise InvalidOption(
                f"a table by function has one architecture of each function, this one has {len(codes)} of {len(row_of)}"
            )
        functions = map(tuple, self._space.function_codes(members).tolist())
        rows = np.array([row_of.get(function, -1) for function in functions])
        np.save(folder / f"{MEMBERS}.npy", members[rows >= 0].astype(np.min_scalar_type(int(members.max()))))
        np.save(folder / f"{MEMBER_ROWS}.npy", rows[rows >= 0].astype(np.min_scalar_type(len(codes))))
        return int((rows >= 0).sum())

    def _architectures(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], int, list[NDArray[np.int64]]]:
        """The canonical codes in the order of their keys, the keys, their multiplier, and the numbers there of the
        architectures of each batch."""
        codes = np.concatenate(self._codes)
        _, first, same = np.unique(np.concatenate(self._keys), return_index=True, return_inverse=True)
        _check_collisions(codes, codes[first], same)
        canonical = self._space.canonical_codes(codes[first])
        multiplier = MULTIPLIER
        while True:
            keys, indices, owner = np.unique(code_keys(canonical, multiplier), return_index=True, return_inverse=True)
            if np.array_equal(canonical, canonical[indices][owner]):
                break
            multiplier = (multiplier * 6364136223846793005 + 2) & MASK | 1
        ends = np.cumsum([len(batch_keys) for batch_keys in self._keys])
        return canonical[indices], keys, multiplier, np.split(owner[same], ends[:-1])

    def _cells(
        self, architectures: list[NDArray[np.int64]], fidelities: NDArray[np.int64], count: int
    ) -> tuple[NDArray[np.int64], int]:
        """The place of each row in the dense form, flattened, and the number of repeats there."""
        from nasbed.results.cache.kernel import place_rows

        rows, groups = sum(map(len, self._owners)), count * len(fidelities)
        _check_cells(rows, groups)
        group, ordinal = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int32)
        counts = np.zeros((count, len(fidelities)), dtype=np.int32)
        begin = 0
        for own, owners, batch_fidelities, levels in zip(
            architectures, self._owners, self._fidelities, self._levels, strict=True
        ):
            part = slice(begin, begin + len(owners))
            place_rows(
                own, owners, np.searchsorted(fidelities, batch_fidelities), levels, counts, group[part], ordinal[part]
            )
            begin += len(owners)
        repeats = int(counts.max())
        _check_cells(rows, groups * repeats)
        if self._seeds_known:
            order = np.lexsort((np.concatenate(self._seed), group))
            starts = _run_starts(group[order][:, None])
            ordinal[order] = np.arange(rows) - np.repeat(starts, np.diff(np.append(starts, rows)))
        group *= repeats
        group += ordinal
        return group, repeats


def _run_starts(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each run of equal rows begins."""
    begins = np.zeros(len(codes), dtype=np.bool_)
    begins[0] = True
    for column in codes.T:
        begins[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(begins)


def _check_collisions(codes: NDArray[np.int64], unique: NDArray[np.int64], owner: NDArray[Any]) -> None:
    """Raise if two different codes have one key. That happens about once in a hundred million tables of a million
    rows."""
    if not np.array_equal(codes, unique[owner]):
        raise TooLarge("two architectures of this table have the same 64-bit key; leave one of them out")


def _check_cells(rows: int, cells: int) -> None:
    if cells > MOST_CELLS_PER_ROW * rows + 1_000_000:
        raise TooLarge(
            f"{rows} rows would spread over {cells} cells of (architecture, fidelity, repeat); split the table by "
            "fidelity"
        )


def _narrowed(column: NDArray[np.float64]) -> NDArray[np.float64] | NDArray[np.float32]:
    """The column in single precision if that loses nothing."""
    with np.errstate(over="ignore"):
        narrow = column.astype(np.float32)
    return narrow if ((narrow == column) | np.isnan(column)).all() else column


def _numbered(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The distinct values, rising, and the place of each value among them. A small range of values is not sorted."""
    low, high = int(values.min()), int(values.max())
    if high - low >= 1 << 16:
        unique, place = np.unique(values, return_inverse=True)
        return unique, place.astype(np.int32)
    offset = values - low
    is_present = np.bincount(offset) > 0
    return np.flatnonzero(is_present) + low, (np.cumsum(is_present, dtype=np.int32) - np.int32(1))[offset]
