"""The error for a name under which no benchmark is found: what the user most likely meant, and what to do."""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import Path

from nasbed.benchmarks.withdrawn import WITHDRAWN
from nasbed.core.errors import UnknownName, close_matches, nearest
from nasbed.results.sources import SOURCES, Source

_PARTS = re.compile(r"(:[\w,-]+)+$")
"""What may follow an id: ``:mini``, ``:at-2,8``."""
_SUFFIX = re.compile(r"\.[A-Za-z]\w*$")
"""The suffix of a file; the ``.0`` of a version is none."""


def unknown_benchmark(name: str, known: Collection[str]) -> UnknownName:
    """The error for a name that is neither the id of a benchmark nor the path of one.

    Args:
        name: What the user typed.
        known: The ids of all benchmarks.
    """
    if name in WITHDRAWN:
        reason, instead = WITHDRAWN[name]
        return UnknownName(f"the benchmark {name} was withdrawn: {reason}; use {instead}")
    id = _PARTS.sub("", name)
    source = _source_of(id, known)
    if source is not None:
        return UnknownName(f"{id} can be fetched: {_way_to_fetch(source)}; then use {', '.join(source.tables)}")
    if Path(id).exists():
        return UnknownName(
            f"{id} exists, but is neither a table (a folder with manifest.json) nor a surrogate; make one with nasbed "
            "import or nasbed fit"
        )
    if not looks_like_path(id, known):
        return UnknownName(f"no benchmark is called {name!r}; {nearest(name, known)}")
    remedy = "give the path of a table or surrogate, or an id of nasbed list benchmarks"
    return UnknownName(f"{id} does not exist; {nearest(id, known) if close_matches(id, known) else remedy}")


def looks_like_path(name: str, known: Collection[str]) -> bool:
    """Whether a name is a path rather than an id: by its beginning, its suffix, or a folder that no id has.

    >>> [looks_like_path(name, ["nb201/cifar10"]) for name in ("runs/x", "x.parquet", "~", "nb201/cifar1O", "nb-v1.0")]
    [True, True, True, False, False]
    """
    if name.startswith((".", "~", "/")) or "\\" in name or _SUFFIX.search(name):
        return True
    folder, slash, _ = name.partition("/")
    return bool(slash) and not any(other.startswith(f"{folder}/") for other in known)


def _source_of(id: str, known: Collection[str]) -> Source | None:
    """The published file of that id, or from which a table of that name is made. A table that a known id has beside it
    is misspelt rather than to be fetched."""
    if id in SOURCES:
        return SOURCES.get(id)
    for source in map(SOURCES.get, SOURCES):
        for table in source.tables:
            if fnmatchcase(id, table) and not any(fnmatchcase(other, table) for other in known):
                return source
    return None


def _way_to_fetch(source: Source) -> str:
    command = f"nasbed fetch {source.id}"
    if source.url is None:
        return f"{command} says where to download it by hand"
    return command if source.sha256 else f"{command} --unverified (its SHA-256 was not published)"
