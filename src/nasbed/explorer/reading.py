"""The architecture that a text from outside means, in any notation of its space."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, NasbedError, ParseError, shorten
from nasbed.explorer.catalogue import BenchmarkView

LONGEST_TEXT = 20_000
"""Characters of the longest text that is read."""
_HASH = re.compile(r"[0-9a-f]{32}")
_ROW = re.compile(r"#?([0-9]{1,9})")


def read_architecture(view: BenchmarkView, text: str) -> Architecture:
    """The architecture that a text means: in the space's own notation or that of its community, a configuration or a
    code as JSON, a published hash, or the number of a row of the overview."""
    if len(text) > LONGEST_TEXT:
        raise InvalidOption(f"a text has up to {LONGEST_TEXT} characters, got {len(text)}; shorten it")
    space, stripped = view.benchmark.space, text.strip()
    try:
        return space.parse(stripped)
    except NasbedError as error:
        refusal = error
    if match := _ROW.fullmatch(stripped):
        return view.points.architecture(int(match[1]))
    if _HASH.fullmatch(stripped):
        return _by_hash(view, stripped)
    value = _literal(stripped)
    if isinstance(value, dict):
        return space.from_config(value)
    if isinstance(value, list | tuple):
        return _by_code_or_native(view, value)
    raise refusal


def _literal(text: str) -> Any:
    """What a text of JSON or of a Python literal holds, None for any other."""
    if text[:1] not in ("{", "[", "("):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _by_code_or_native(view: BenchmarkView, value: list[Any] | tuple[Any, ...]) -> Architecture:
    space = view.benchmark.space
    if len(value) == space.code_length and all(type(item) is int for item in value):
        arch = Architecture(space.name, tuple(value))
        try:
            space.validate(arch)
            return arch
        except NasbedError as error:
            if not _reads_native(view, value):
                raise error from None
    return space.from_native(value)


def _reads_native(view: BenchmarkView, value: Any) -> bool:
    try:
        view.benchmark.space.from_native(value)
    except NasbedError:
        return False
    return True


def _by_hash(view: BenchmarkView, digest: str) -> Architecture:
    """The row of the overview with a published hash, in a space that has hashes."""
    hashes = view.points.hashes
    if hashes is None:
        raise ParseError(
            f"architectures of {view.benchmark.space.name} have no hash, got {shorten(digest)}; paste its text"
        )
    rows = np.flatnonzero(hashes == digest)
    if not len(rows):
        raise InvalidArchitecture(f"{view.id} shows no architecture with the hash {digest}; paste its text")
    return view.points.architecture(int(rows[0]))
