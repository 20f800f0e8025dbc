"""The findings of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about a file, a part or the whole. After an error, results on the dataset mean nothing, or it
    cannot be read. A person judges a warning. A note is a figure worth knowing."""

    severity: Severity
    about: str
    text: str


def error(about: str, text: str) -> Finding:
    return Finding("error", about, text)


def warning(about: str, text: str) -> Finding:
    return Finding("warning", about, text)


def note(about: str, text: str) -> Finding:
    return Finding("note", about, text)
