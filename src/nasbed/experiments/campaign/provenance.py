"""The makers of the results of a journal: a version of nasbed, and the user's code at that time. Evaluations are
expensive, so a change of either discards nothing. Each result records its maker. A campaign whose code has changed
continues only if the user accepts that; its status and its table report it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nasbed.core.code_fingerprint import file_fingerprint


@dataclass(frozen=True, slots=True)
class CodeVersion:
    """The fingerprint of a piece of code, and its file where there is one to compare with."""

    sha256: str
    file: str = ""


Code = Mapping[str, CodeVersion]
"""By what it is called, such as ``function objective.py:train``."""


@dataclass(frozen=True, slots=True)
class Maker:
    """The maker of some results of a journal; ``version`` is empty if an older nasbed did not record it."""

    version: str
    code: Code
    results: int = 0


def plain_code(code: Code) -> dict[str, Any]:
    """The code as it is stored."""
    return {name: asdict(version) for name, version in code.items()}


def code_of(values: Mapping[str, Any]) -> dict[str, CodeVersion]:
    """The inverse of :func:`plain_code`."""
    return {name: CodeVersion(**version) for name, version in values.items()}


def changed_code(old: Code, new: Code) -> list[str]:
    """The names whose code differs, and those that only one of the two has."""
    names = dict.fromkeys([*old, *new])
    return [name for name in names if name not in old or name not in new or old[name].sha256 != new[name].sha256]


def maker_notes(makers: Sequence[Maker]) -> list[str]:
    """Notes on results that have several makers, or that older code made; one line each."""
    total = sum(maker.results for maker in makers)
    notes = []
    unrecorded = sum(maker.results for maker in makers if not maker.version)
    if unrecorded:
        notes.append(f"{unrecorded} of {total} results: the nasbed that made them recorded neither version nor code")
    recorded = [maker for maker in makers if maker.version and maker.results]
    for version in dict.fromkeys(maker.version for maker in recorded[:-1]):
        if version != recorded[-1].version:
            count = sum(maker.results for maker in recorded if maker.version == version)
            notes.append(
                f"{count} of {total} results were made by nasbed {version}, the last by {recorded[-1].version}"
            )
    for maker in recorded[:-1]:
        for name in changed_code(maker.code, recorded[-1].code):
            notes.append(f"{maker.results} of {total} results were made before {name} was changed")
    return notes + [f"{name} has changed since the last result" for name in _edited_since(recorded[-1:])]


def _edited_since(last: Sequence[Maker]) -> list[str]:
    """The code of the latest results whose file exists and has changed."""
    return [
        name
        for maker in last
        for name, version in maker.code.items()
        if version.file and Path(version.file).is_file() and file_fingerprint(Path(version.file)) != version.sha256
    ]
