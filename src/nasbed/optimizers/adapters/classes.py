"""Classes of methods that a function makes, and the functions that they are made from."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from nasbed.core.errors import InvalidOption
from nasbed.optimizers.base import Optimizer

Method = TypeVar("Method", bound=Optimizer)


def named_method(kind: type[Method], *, name: str, summary: str, module: str) -> type[Method]:
    """A class made in a function, as if it were written in the user's module: runs record the source of that module.
    Without a name its runs have the name of the user's variable."""
    kind.__module__ = module
    kind.__qualname__ = kind.__name__ = name or kind.__name__
    kind.__doc__ = summary or kind.summary
    if name:
        kind.name = name
    if summary:
        kind.summary = summary
    return kind


def takes_argument(function: Any, name: str, *, remedy: str) -> bool:
    """Whether a function takes an argument of this name, rather than by position; raises where it takes none."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    if not parameters:
        raise InvalidOption(f"{getattr(function, '__name__', function)} takes no {name}; {remedy}")
    return name in parameters
