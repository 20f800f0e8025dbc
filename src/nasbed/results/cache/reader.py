"""Tables as memory-mapped columns: open in milliseconds whatever the size, answer in microseconds.

Every metric has one array ``[architecture, fidelity, repeat]``, NaN where nothing was measured. Architectures are
canonical, sorted by a 64-bit key, and looked up by bisection. The stored code is compared too: another architecture
with the same key is not mistaken for this one.

A table with learning curves has one more array ``[architecture, repeat, epoch]``, of what the trainings of its highest
fidelity had reached at epochs that are no fidelity of its rows.

In a table by function a row answers for several architectures. These have their own rows once it is opened, in memory,
each with the values of its function.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.core.status import OK
from nasbed.results.cache.columns import read_columns
from nasbed.spaces.lookup import code_key, code_keys

MEMBERS, MEMBER_ROWS = "members", "member-rows"
"""The codes of all architectures that a table by function answers for, and the stored row of each."""
VALUES = "values-"
"""What the names of the metrics' columns begin with."""
TRAIN_TIME = "train_time_s"
EPOCHS = "epochs"
"""The points of learning curves."""
NOTHING = -1
"""The status where nothing was measured."""


@dataclass(frozen=True, slots=True)
class CurveEpochs:
    """The learning curves of the trainings of one fidelity: ``values [architecture, repeat, epoch]`` of the metric with
    the key ``metric``, NaN where nothing was measured. ``places`` has the place of each epoch in them."""

    metric: str
    fidelity: int
    places: Mapping[int, int]
    values: NDArray[np.floating]


class Cache:
    """An opened table. ``fidelities`` are those of its rows; ``curve_epochs`` has more where it has learning curves."""

    def __init__(self, place: Path) -> None:
        self._place = place
        try:
            header, columns = read_columns(place)
            self.codes: NDArray[np.int64] = columns["codes"]
            self._keys = columns["keys"]
            self.status: NDArray[np.int8] = columns["status"]
            self.multiplier = int(header["multiplier"])
            self.fidelities: tuple[int, ...] = tuple(int(fidelity) for fidelity in header["fidelities"])
            self.repeats = int(header["repeats"])
            self.gaps = frozenset(map(str, header["gaps"]))
            """The columns that are missing in some row that ended well."""
            self.values: Mapping[str, NDArray[np.floating]] = {
                name.removeprefix(VALUES): column for name, column in columns.items() if name.startswith(VALUES)
            }
            self.seeds = columns.get("seeds")
            self.curve_epochs = _curve_epochs(header["epochs"], columns[EPOCHS]) if "epochs" in header else None
            self._functions: NDArray[np.int64] | None = None
            if MEMBERS in columns:
                self._take_in_members(columns[MEMBERS], columns[MEMBER_ROWS])
        except (OSError, ValueError, KeyError, TypeError, IndexError, BadZipFile, zlib.error) as error:
            raise BadFile(
                f"the cache {place} is damaged: {str(error).splitlines()[0]}; import the table again"
            ) from None
        self._key_view: memoryview[int] = self._keys.data

    def __reduce__(self) -> tuple[type[Cache], tuple[Path]]:
        """Pickled as its path; a copy opens the files again."""
        return type(self), (self._place.absolute(),)

    def _take_in_members(self, members: NDArray[Any], rows: NDArray[Any]) -> None:
        """Give every architecture of a table by function a row of its own."""
        codes = members.astype(np.int64)
        keys = code_keys(codes, self.multiplier)
        order = np.argsort(keys)
        rows = rows[order]
        self._functions = self.codes[rows]
        self.codes, self._keys = codes[order], keys[order]
        self.status = self.status[rows]
        self.values = {key: column[rows] for key, column in self.values.items()}
        self.seeds = None if self.seeds is None else self.seeds[rows]
        if self.curve_epochs is not None:
            self.curve_epochs = replace(self.curve_epochs, values=self.curve_epochs.values[rows])

    def __len__(self) -> int:
        return len(self._keys)

    def draw_key(self, row: int, code: tuple[int, ...]) -> int:
        """The key by which repeats are drawn: that of a row's canonical code, or of the architecture that was trained
        for its function."""
        return code_key(code if self._functions is None else tuple(self._functions[row].tolist()))

    def draw_keys(self, rows: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.uint64]:
        """:meth:`draw_key` of a batch."""
        return code_keys(codes if self._functions is None else self._functions[rows])

    def find(self, code: tuple[int, ...]) -> int:
        """The row of a canonical code, or -1."""
        key = code_key(code, self.multiplier)
        row = bisect_left(self._key_view, key)
        if row < len(self._key_view) and self._key_view[row] == key and tuple(self.codes[row].tolist()) == code:
            return row
        return -1

    def find_many(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of a batch of canonical codes; -1 for a code that the table lacks."""
        keys = code_keys(codes, self.multiplier)
        rows = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        if not len(self._keys):
            return np.full(len(codes), -1)
        return np.where((self.codes[rows] == codes).all(axis=1), rows, -1)

    def counts(self) -> NDArray[np.int64]:
        """How many repeats each (architecture, fidelity) has, diverged and failed ones included."""
        repeats: NDArray[np.int64] = (self.status >= 0).sum(axis=2)
        return repeats

    def training_fidelity(self, fidelity: int) -> int:
        """The fidelity of the trainings that answer at a fidelity: that of the curves for an epoch of theirs."""
        curves = self.curve_epochs
        return curves.fidelity if curves is not None and fidelity in curves.places else fidelity

    def statuses(self, fidelity: int) -> NDArray[np.int8]:
        """How each repeat ended, ``[architecture, repeat]``. One that ended well counts as missing where its curve
        has no point at the epoch; one that failed or diverged did so at every epoch."""
        trained = self.training_fidelity(fidelity)
        status: NDArray[np.int8] = self.status[:, self.fidelities.index(trained)]
        if trained == fidelity or self.curve_epochs is None:
            return status
        lacks = np.isnan(self.curve_epochs.values[:, :, self.curve_epochs.places[fidelity]])
        return np.where((status == OK) & lacks, np.int8(NOTHING), status)

    def column(self, key: str, fidelity: int) -> NDArray[np.floating]:
        """A column at a fidelity, ``[architecture, repeat]``. At an epoch of the curves that is their metric, a share
        of the training time, and NaN in all other columns."""
        trained = self.training_fidelity(fidelity)
        values: NDArray[np.floating] = self.values[key][:, self.fidelities.index(trained)]
        if trained == fidelity or self.curve_epochs is None:
            return values
        if key == TRAIN_TIME:
            return values.astype(np.float64) * (fidelity / trained)
        if key == self.curve_epochs.metric:
            return self.curve_epochs.values[:, :, self.curve_epochs.places[fidelity]]
        return np.full(values.shape, np.nan)

    def mean(self, key: str, fidelity: int) -> NDArray[np.float64]:
        """Each architecture's mean over its repeats that ended well; NaN where it has none."""
        values = np.where(self.statuses(fidelity) == OK, self.column(key, fidelity), np.nan).astype(np.float64)
        measured = ~np.isnan(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: NDArray[np.float64] = np.nansum(values, axis=1) / measured.sum(axis=1)
        return means


def _curve_epochs(header: Mapping[str, Any], values: NDArray[np.floating]) -> CurveEpochs:
    places = {int(epoch): place for place, epoch in enumerate(header["epochs"])}
    return CurveEpochs(str(header["metric"]), int(header["fidelity"]), places, values)
