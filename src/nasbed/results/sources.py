"""The published files that tables are made from: where each is, how it is verified, and which importer reads it.

``sources.toml`` lists them. A SHA-256 is there only if the authors of the file published it. Otherwise the user who
fetches the file names its SHA-256, or says that it is trusted. A file behind a page that a program cannot pass has no
``url``: a person downloads it from its ``page``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from nasbed.core.registry import Registry


@dataclass(frozen=True, slots=True)
class Source:
    """One published file. Without ``url`` it has to be fetched by hand from ``page``.

    ``bytes`` is the approximate size, ``None`` where it was not published. ``options`` are passed to the importer of
    ``format``. ``tables`` are the names, or globs of names, of the imported tables.
    """

    id: str
    title: str
    file: str
    page: str
    bytes: int | None
    format: str
    tables: tuple[str, ...]
    licence: str
    citation: str
    url: str | None = None
    sha256: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


SOURCES = Registry[Source]("published file", group="nasbed.sources")


def read_sources(text: str) -> Iterator[Source]:
    """The sources that a TOML text lists under ``[sources.ID]``; each names an entry of ``[citations]``."""
    listed: dict[str, dict[str, Any]] = tomllib.loads(text)
    for name, entry in listed["sources"].items():
        cited = {"tables": tuple(entry["tables"]), "citation": listed["citations"][entry["citation"]]}
        yield Source(**{"id": name, "bytes": None, **entry, **cited})


for _source in read_sources(files(__package__).joinpath("sources.toml").read_text(encoding="utf-8")):
    SOURCES.add(_source.id, _source)
