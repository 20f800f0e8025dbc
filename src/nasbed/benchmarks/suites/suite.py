"""What a suite is: benchmarks, the budget on each, how many seeds, and what the results are judged by."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import tomli_w

from nasbed.benchmarks.catalog import at_fidelities
from nasbed.core.errors import BadFile, InvalidOption, NasbedError, first_line, nearest, shorten
from nasbed.core.files import complete_file
from nasbed.surrogates.artefact import SUFFIX

JUDGES = ("test", "validation")
"""What incumbents may be judged by."""
FILE_NAME = "suite.toml"
"""The copy of a suite in the folder of its runs."""
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")
_RESERVED_NAMES = frozenset({FILE_NAME, "report.html", "numbers.json", "table.csv", "table.tex", "figures"})
"""What stands beside the folders of benchmarks, so that none of them may be called so."""
_RUNS_FILE = "setup.json"
"""A folder that has it holds runs. It is often called like its benchmark, and is none."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """One benchmark of a suite. Fields that are empty take the suite's own value.

    ``id`` is what :func:`nasbed.load` takes, or a path, which is relative to the suite's file. ``name`` is what the
    page and the folder of its runs are called. ``fidelities`` are those that methods may ask for, all by default.
    ``continue_trainings`` says whether a higher fidelity continues an earlier training; by default it does where
    fidelities are epochs of one training.
    """

    id: str
    name: str = ""
    budget: str = ""
    workers: int | None = None
    fidelities: tuple[int, ...] = ()
    continue_trainings: bool | None = None

    def __post_init__(self) -> None:
        for key in ("id", "name", "budget"):
            if not isinstance(getattr(self, key), str):
                raise InvalidOption(f"{key} of a benchmark is a text, got {shorten(getattr(self, key))}")
        if not self.id:
            raise InvalidOption('a benchmark of a suite has an id, such as id = "nb201/cifar10", got none')
        if not self.id.isprintable():
            raise InvalidOption(f"the id of a benchmark is printable, got {shorten(self.id)}; fix it")
        if self.workers is not None:
            _check_count(f"workers of {self.id}", self.workers)
        levels = self.fidelities
        if not isinstance(levels, list | tuple) or not all(type(level) is int for level in levels):
            raise InvalidOption(f"fidelities of {self.id} are a list of whole numbers, got {shorten(levels)}")
        object.__setattr__(self, "fidelities", tuple(levels))
        if not isinstance(self.continue_trainings, bool | None):
            raise InvalidOption(
                f"continue_trainings of {self.id} is true or false, got {shorten(self.continue_trainings)}"
            )
        usual = Path(self.id).name.removesuffix(SUFFIX) if Path(self.id).is_absolute() else self.id
        name = _NOT_IN_NAMES.sub("-", self.name or usual).strip("-.")
        if not name or name.lower() in _RESERVED_NAMES:
            raise InvalidOption(
                f"a benchmark cannot be called {shorten(self.name or usual)}; give it another "
                'name = "…", with letters or digits'
            )
        object.__setattr__(self, "name", name)

    @property
    def benchmark(self) -> str:
        """What :func:`nasbed.load` takes, restricted to the fidelities."""
        return at_fidelities(self.id, self.fidelities) if self.fidelities else self.id


@dataclass(frozen=True, slots=True)
class Suite:
    """Benchmarks that methods are compared on together.

    ``budget`` and ``workers`` are those of the benchmarks that name none; ``seeds`` is how many runs each method has on
    each benchmark. ``judged_by`` is ``test``, the mean test metric where a benchmark has one and the mean of its
    objective elsewhere, or ``validation``, the values that the methods saw.
    """

    title: str
    benchmarks: tuple[SuiteEntry, ...]
    seeds: int = 10
    budget: str = "300ev"
    workers: int = 1
    judged_by: str = "test"
    about: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        for key in ("title", "about", "budget", "name"):
            if not isinstance(getattr(self, key), str):
                raise InvalidOption(f"{key} of a suite is a text, got {shorten(getattr(self, key))}")
        if not self.title:
            raise InvalidOption("a suite has a title; add one")
        if not self.benchmarks:
            raise InvalidOption("a suite has at least 1 benchmark; add [[benchmarks]]")
        for entry in self.benchmarks:
            if not isinstance(entry, SuiteEntry):
                raise InvalidOption(f"benchmarks of a suite are like SuiteEntry('nb201/cifar10'), got {shorten(entry)}")
        _check_count("seeds of a suite", self.seeds)
        _check_count("workers of a suite", self.workers)
        if self.judged_by not in JUDGES:
            raise InvalidOption(f"a suite is judged by {' or '.join(JUDGES)}, got {shorten(self.judged_by)}")
        for name, count in Counter(entry.name for entry in self.benchmarks).items():
            if count > 1:
                raise InvalidOption(f'{count} benchmarks of a suite are called {name}; give one another name = "…"')

    @property
    def entries(self) -> tuple[SuiteEntry, ...]:
        """The benchmarks, each with its budget and its number of workers."""
        return tuple(
            replace(
                entry,
                budget=entry.budget or self.budget,
                workers=self.workers if entry.workers is None else entry.workers,
            )
            for entry in self.benchmarks
        )

    def without(self, names: Sequence[str]) -> Suite:
        """The suite without the benchmarks of these names."""
        return replace(self, benchmarks=tuple(entry for entry in self.benchmarks if entry.name not in names))

    def save(self, folder: Path) -> None:
        """Write ``suite.toml`` into a folder, which is created if needed. It can be run as it is."""
        folder.mkdir(parents=True, exist_ok=True)
        entries = [_stated(entry) for entry in self.entries]
        with complete_file(folder / FILE_NAME) as draft:
            draft.write_text(tomli_w.dumps(_stated(self) | {"benchmarks": entries}), encoding="utf-8")


def read_suite(path: Path, *, name: str = "") -> Suite:
    """The suite in a TOML file. Paths of benchmarks are relative to the file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read as the TOML file of a suite: {first_line(error)}; fix it") from None
    try:
        listing = data.pop("benchmarks", [])
        if not isinstance(listing, list):
            raise InvalidOption(f"benchmarks are a list of ids or tables [[benchmarks]], got {shorten(listing)}")
        entries = tuple(_entry(item, path.parent) for item in listing)
        named = {"name": name or path.stem} if "name" not in data else {}
        return _from_table(Suite, data | {"benchmarks": entries} | named)
    except NasbedError as error:
        raise BadFile(f"{path}: {error}") from None


def _entry(item: Any, folder: Path) -> SuiteEntry:
    table = {"id": item} if isinstance(item, str) else item
    if not isinstance(table, dict):
        raise InvalidOption(f"a benchmark of a suite is an id or a table, got {shorten(item)}")
    file, colon, part = str(table.get("id", "")).partition(":")
    path = folder / file
    is_path = file.isprintable() and path.exists() and not (path / _RUNS_FILE).is_file()
    here = {"id": f"{path.resolve()}{colon}{part}"} if file and is_path else {}
    return _from_table(SuiteEntry, table | here)


def _from_table(kind: type[T], table: Mapping[str, Any]) -> T:
    """An instance of a dataclass from a table of a TOML file; a field that it lacks raises."""
    names = [item.name for item in fields(kind)]  # type: ignore[arg-type]
    for key in table:
        if key not in names:
            raise InvalidOption(f"a suite has no field {key!r} there; {nearest(key, names)}")
    if kind is SuiteEntry and "id" not in table:
        raise InvalidOption('a benchmark of a suite has an id, such as id = "nb201/cifar10", got none')
    if kind is Suite and "title" not in table:
        raise InvalidOption("a suite has a title; add one")
    return kind(**table)


def _stated(item: Suite | SuiteEntry) -> dict[str, Any]:
    """The fields of a dataclass that TOML can hold and that say something."""
    values = {field.name: getattr(item, field.name) for field in fields(item) if field.name != "benchmarks"}
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value is not None and value not in ("", ())
    }


def _check_count(subject: str, value: Any) -> None:
    if type(value) is not int or value < 1:
        raise InvalidOption(f"{subject} are a whole number from 1 on, got {shorten(value)}")
