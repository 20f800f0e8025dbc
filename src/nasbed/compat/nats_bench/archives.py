"""NATS-Bench's data as published: the folder of its fast mode, or the dictionary of its one large file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from nasbed.compat._tables import is_table
from nasbed.compat.nats_bench.tables import FAMILIES, PUBLISHED, Source
from nasbed.core.errors import BadFile, InvalidArchitecture
from nasbed.core.home import tables_folder
from nasbed.results.importers.nats_bench import (
    EXTENSION,
    META,
    check_states,
    check_texts,
    read_states,
    read_texts,
    space_of,
)
from nasbed.results.manifest import FILE_NAME
from nasbed.spaces import SearchSpace


class Archive(Protocol):
    """Published results by architecture."""

    name: str
    folder: Path | None
    texts: list[str]

    def states(self, index: int) -> dict[Any, Any]:
        """By number of epochs, the published state of an architecture's results; raises if it has none."""

    def present(self) -> list[int]:
        """The architectures that have results."""


class PublishedFolder:
    """A folder of one file an architecture, which may lack some of them. A file is read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder: Path | None = folder.absolute()
        self.name = str(folder)
        self.texts = read_texts(folder)

    def states(self, index: int) -> dict[Any, Any]:
        assert self.folder is not None
        for name in (f"{index:06d}{EXTENSION}", f"{index}{EXTENSION}"):
            if (self.folder / name).is_file():
                return read_states(self.folder / name, index, self.texts[index])
        raise InvalidArchitecture(
            f"{self.name} has no file of architecture {index}; it has {len(self.present())} of them"
        )

    def present(self) -> list[int]:
        assert self.folder is not None
        names = (path.name.removesuffix(EXTENSION) for path in self.folder.glob(f"[0-9]*{EXTENSION}"))
        return sorted({int(name) for name in names if name.isdigit() and int(name) < len(self.texts)})


class PublishedDictionary:
    """A dictionary in memory, with ``meta_archs`` and ``arch2infos``."""

    folder: Path | None = None
    name = "the dictionary"

    def __init__(self, contents: Mapping[str, Any]) -> None:
        self.texts = check_texts(dict(contents), self.name)
        infos = contents.get("arch2infos")
        if not isinstance(infos, Mapping):
            raise BadFile("a dictionary of NATS-Bench has meta_archs and arch2infos, this one has no arch2infos")
        self._infos = dict(infos)

    def states(self, index: int) -> dict[Any, Any]:
        if index not in self._infos:
            raise InvalidArchitecture(f"{self.name} has no results of architecture {index}; it has {len(self._infos)}")
        return check_states(self._infos[index], self.name, index, self.texts[index])

    def present(self) -> list[int]:
        return sorted(self._infos)


def open_archive(source: Source, space: SearchSpace) -> Archive | None:
    """The published data that a source names; None where it names tables."""
    archive: Archive
    if isinstance(source, Mapping):
        if "meta_archs" not in source:
            return None
        archive = PublishedDictionary(source)
    else:
        folder = _default(space) if source is None else Path(source).expanduser()
        if folder is None or is_table(folder) or not (folder / META).is_file():
            return None
        archive = PublishedFolder(folder)
    if space_of(archive.texts).name != space.name:
        raise BadFile(
            f"this search space is {space.name}, {archive.name} is of the other one; pass the other search_space"
        )
    return archive


def torch_home() -> Path:
    """Where NATS-Bench looks for its data."""
    return Path(os.environ.get("TORCH_HOME", Path.home() / ".torch"))


def _default(space: SearchSpace) -> Path | None:
    """The published folder where NATS-Bench looks for it, unless nasbed has its tables."""
    imported = any((tables_folder() / FAMILIES[space.name][0]).glob(f"*/{FILE_NAME}"))
    return None if imported else torch_home() / PUBLISHED[space.name]
