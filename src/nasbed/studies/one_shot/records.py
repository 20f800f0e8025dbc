"""Which searches a study watches, what they are called, and what watches them unless something is named."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nasbed.core.errors import InvalidOption
from nasbed.core.home import embedded_home, surrogates_folder
from nasbed.oneshot import SEARCHED_SPACES
from nasbed.oneshot.record import SearchRecord, read_record
from nasbed.surrogates.artefact import SUFFIX, is_artefact, read_manifest

RECORD = "search.json"
MODEL = "lgb"
"""Of the surrogates that come with the package, the one that is asked."""
_MEASURED = frozenset({"eigenvalue_images"})
"""Settings that say what is looked at and change nothing in a search."""


def read_searches(paths: Sequence[Path]) -> list[SearchRecord]:
    """The records in files, and in folders that have a ``search.json`` somewhere below. Searches in folders that have
    no supernet, such as Bonsai-Net's, are left out."""
    records: dict[Path, SearchRecord] = {}
    for path in paths:
        if path.is_dir():
            matches = {file.resolve(): read_record(file) for file in sorted(path.rglob(RECORD))}
            matches = {file: record for file, record in matches.items() if record.space in SEARCHED_SPACES}
        else:
            matches = {path.resolve(): read_record(path)}
        if not matches:
            raise InvalidOption(f"a search is a {RECORD} or a folder with one below it, {path} has none; see its path")
        records |= matches
    if not records:
        raise InvalidOption("1 search or more is watched, got none; nasbed oneshot makes them")
    return list(records.values())


def grouped(records: Sequence[SearchRecord]) -> dict[str, list[SearchRecord]]:
    """Searches that differ in the seed alone, by the method's name and, where there are several groups of one method,
    by what tells them apart."""
    groups: dict[str, list[SearchRecord]] = {}
    for record in records:
        own = groups.setdefault(json.dumps([record.method, _set(record)], sort_keys=True), [])
        if any(each.seed == record.seed for each in own):
            raise InvalidOption(
                f"each search counts once, {record.method} with seed {record.seed} is there twice; leave one out"
            )
        own.append(record)
    found: dict[str, list[SearchRecord]] = {}
    for own in groups.values():
        alike = [_set(each[0]) for each in groups.values() if each[0].method == own[0].method]
        found[_label(own[0].method, _set(own[0]), alike)] = sorted(own, key=lambda each: each.seed)
    return found


def _set(record: SearchRecord) -> dict[str, Any]:
    settings = {name: value for name, value in record.settings.plain().items() if name not in _MEASURED}
    return {"dataset": record.dataset, **settings, **record.options}


def _label(method: str, own: Mapping[str, Any], alike: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(name for each in alike for name in each)
    told = [name for name in names if len({json.dumps(each.get(name)) for each in alike}) > 1]
    words = [f"{name.replace('_', ' ')} {own[name]}" for name in told if own.get(name) is not None]
    return f"{method} ({', '.join(words)})" if words else method


def embedded_surrogate(space: str) -> str:
    """The id of the newest surrogate of a space that comes with the package."""
    versions: dict[tuple[int, ...], str] = {}
    folder = surrogates_folder(embedded_home())
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        named = re.search(rf"-{MODEL}-v(\d+)\.(\d+){re.escape(SUFFIX)}$", path.name)
        if named and is_artefact(path) and read_manifest(path).space == space:
            versions[int(named[1]), int(named[2])] = path.name.removesuffix(SUFFIX)
    if not versions:
        raise InvalidOption(f"no surrogate of {space} comes with the package; name a benchmark of it with --benchmark")
    return versions[max(versions)]
