"""The texts that a file of runs may have. It comes from others, and its texts are printed in a terminal: none of them
may start a line, move the cursor or hide another."""

from __future__ import annotations

import unicodedata
from typing import Any

from nasbed.experiments.run_checks import Kind

MOST_LETTERS = 60
"""The longest label."""


def is_line(value: Any) -> bool:
    """Whether a value is a text of one line without control letters."""
    return isinstance(value, str) and not any(
        unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in value
    )


def is_label(value: Any) -> bool:
    """Whether a text can say whose runs a file has."""
    return is_line(value) and value.isprintable() and value == value.strip() and 0 < len(value) <= MOST_LETTERS


def _is_source(value: Any) -> bool:
    """Whether a value is a text that UTF-8 can have; JSON can have halves of letters."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


LINE: Kind = ("a text of one line", is_line)
LABEL: Kind = (f"1 to {MOST_LETTERS} printable letters", is_label)
LINES: Kind = (
    "lines by name",
    lambda value: isinstance(value, dict) and all(map(is_line, [*value, *value.values()])),
)
SOURCES: Kind = (
    "texts by path",
    lambda value: isinstance(value, dict) and all(map(is_line, value)) and all(map(_is_source, value.values())),
)
