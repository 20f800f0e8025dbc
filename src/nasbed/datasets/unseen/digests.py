"""Digests of the generated datasets, to check that a generated copy is the same."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from nasbed.core.errors import UnknownName, nearest


@dataclass(frozen=True, slots=True)
class PinnedDigests:
    """The SHA-256 of the arrays' files by their names, for a seed and for sources with these digests. ``hash`` is that
    of the dataset prepared from them."""

    seed: int
    sources: Mapping[str, str]
    arrays: Mapping[str, str]
    hash: str


def pinned_sources(name: str) -> Mapping[str, str]:
    """The digests of what a dataset's pinned arrays were made from; none where nothing is pinned of it.

    >>> pinned_sources("isabella")
    {}
    """
    entry = _entries().get(name)
    return entry["sources"] if entry else {}


def pinned_digests(name: str) -> PinnedDigests:
    """The digests of an unseen dataset.

    >>> pinned_digests("addnist").seed
    0
    """
    entries = _entries()
    if name not in entries:
        raise UnknownName(f"no digests are known of {name!r}; {nearest(name, entries)}")
    return PinnedDigests(**entries[name])


def pinned_names() -> list[str]:
    """The datasets whose digests are known."""
    return list(_entries())


def _entries() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("pinned.toml").read_text(encoding="utf-8"))
