"""The base class of importers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.spaces.base import SearchSpace


@dataclass(frozen=True, slots=True)
class Draft:
    """A table about to be written: what it is, and its rows as they are read. ``total`` rows are expected, if that is
    known; ``space`` is the search space where its name is not registered. ``remarks`` gives lines on what was left out,
    once all rows have been read."""

    about: TableInfo
    batches: Iterator[Rows]
    total: int | None = None
    space: SearchSpace | None = None
    remarks: Callable[[], Sequence[str]] = tuple


class Importer(ABC):
    """Reads one published format. ``summary`` says, in one line, what is read and where it comes from."""

    format: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[Mapping[str, str]] = {}
    """The importer's options, with a line of help each."""

    def __init__(self, **options: str) -> None:
        self.settings = options

    @abstractmethod
    def read(self, path: Path) -> Iterator[Draft]:
        """The tables in a file or folder, one after the other. Consume the rows of one before you ask for the next.

        Raises :class:`~nasbed.core.errors.BadFile` in one line for anything truncated, damaged, hostile or of another
        format. Nothing in the file is executed.
        """
