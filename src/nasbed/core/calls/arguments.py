"""Arguments of calls, checked before anything is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from os import PathLike
from typing import Any

from nasbed.core.errors import InvalidOption, shorten


def whole_number(name: str, value: Any, *, least: int | None = None) -> int:
    """An argument as Python's own integer, also where it is one of numpy's.

    >>> whole_number("seeds", 3, least=1)
    3
    """
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or (least is not None and number < least):
        rule = "" if least is None else f" of at least {least}"
        raise InvalidOption(f"{name} is a whole number{rule}, got {shorten(value)}; pass one")
    return number


def one_or_several(name: str, value: Any, single: type | tuple[type, ...] = str) -> list[Any]:
    """An argument that is a list, or one thing of the kind ``single`` in place of a list of it.

    >>> one_or_several("methods", "rs"), one_or_several("methods", ["rs", "re"])
    (['rs'], ['rs', 're'])
    """
    if isinstance(value, single):
        return [value]
    if not isinstance(value, Iterable):
        raise InvalidOption(f"{name} is a list, got {shorten(value)}; pass a list")
    return list(value)


def check_location(rule: str, value: Any) -> None:
    """Raise where an argument is neither a text nor a path; ``rule`` says what it is."""
    if not isinstance(value, str | PathLike):
        raise InvalidOption(f"{rule}, got {shorten(value)}; pass a text or a path")


def check_mapping(rule: str, value: Any) -> None:
    """Raise where an argument is not a dictionary; ``rule`` says what it is."""
    if not isinstance(value, Mapping):
        raise InvalidOption(f"{rule}, got {shorten(value)}; pass a dictionary")
