"""The tree of commands, for tests that walk it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Words = tuple[str, ...]


def commands(command: Any, words: Words = ()) -> Iterator[tuple[Words, Any]]:
    """A command and all below it, each with the words that call it."""
    yield words, command
    for word, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, word))
