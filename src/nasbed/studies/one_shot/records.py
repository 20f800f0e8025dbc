"""The searches of a study: their records, their names, and the surrogate that predicts them by default."""

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
"""The model of the default surrogate."""
_MEASURED = frozenset({"eigenvalue_images"})
"""Settings that select what is measured and do not change a search."""


def read_searches(paths: Sequence[str | Path]) -> list[SearchRecord]:
    """The records in files, and in folders with a ``search.json`` at any depth.

    Searches in folders that have no supernet, such as Bonsai-Net's, are skipped.
    """
    records: dict[Path, SearchRecord] = {}
    for path in map(Path, paths):
        if path.is_dir():
            matches = {file.resolve(): read_record(file) for file in sorted(path.rglob(RECORD))}
            matches = {file: record for file, record in matches.items() if record.space in SEARCHED_SPACES}
        else:
            matches = {path.resolve(): read_record(path)}
        if not matches:
            raise InvalidOption(
                f"a search is a {RECORD} or a folder that contains one, {path} is neither; check the path"
            )
        records |= matches
    if not records:
        raise InvalidOption("the study needs 1 search or more, got none; run one with nasbed oneshot")
    return list(records.values())


def group_by_settings(records: Sequence[SearchRecord]) -> dict[str, list[SearchRecord]]:
    """Searches that differ only in the seed, by the method's name.

    Where a method has several groups, the name includes the settings in which they differ.
    """
    groups: dict[str, list[SearchRecord]] = {}
    for record in records:
        group = groups.setdefault(json.dumps([record.method, _settings(record)], sort_keys=True), [])
        if any(member.seed == record.seed for member in group):
            raise InvalidOption(
                f"each search counts once, {record.method} with seed {record.seed} occurs twice; omit one"
            )
        group.append(record)
    named: dict[str, list[SearchRecord]] = {}
    for group in groups.values():
        first = group[0]
        same_method = [_settings(members[0]) for members in groups.values() if members[0].method == first.method]
        named[_label(first.method, _settings(first), same_method)] = sorted(group, key=lambda record: record.seed)
    return named


def _settings(record: SearchRecord) -> dict[str, Any]:
    settings = {name: value for name, value in record.settings.plain().items() if name not in _MEASURED}
    return {"dataset": record.dataset, **settings, **record.options}


def _label(method: str, own: Mapping[str, Any], same_method: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(name for settings in same_method for name in settings)
    varied = [name for name in names if len({json.dumps(settings.get(name)) for settings in same_method}) > 1]
    words = [f"{name.replace('_', ' ')} {own[name]}" for name in varied if own.get(name) is not None]
    return f"{method} ({', '.join(words)})" if words else method


def embedded_surrogate(space: str) -> str:
    """The id of the newest embedded surrogate of a space."""
    versions: dict[tuple[int, ...], str] = {}
    folder = surrogates_folder(embedded_home())
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        named = re.search(rf"-{MODEL}-v(\d+)\.(\d+){re.escape(SUFFIX)}$", path.name)
        if named and is_artefact(path) and read_manifest(path).space == space:
            versions[int(named[1]), int(named[2])] = path.name.removesuffix(SUFFIX)
    if not versions:
        raise InvalidOption(f"no surrogate of {space} comes with the package; name a benchmark of it with --benchmark")
    return versions[max(versions)]
