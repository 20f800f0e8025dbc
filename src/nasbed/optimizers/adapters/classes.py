"""What the adapters share: the libraries, the classes that they make, and the functions that these are made from."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any, TypeVar

from nasbed.core.errors import InvalidOption, MissingDependency, shorten
from nasbed.optimizers.base import Optimizer

Method = TypeVar("Method", bound=Optimizer)


def import_library(name: str, *, user: str) -> Any:
    """A package of the extra ``optimizers``, which ``user`` needs."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependency(f"{user} needs {name}; install it with: pip install 'nasbed[optimizers]'") from None


def named_method(kind: type[Method], *, name: str, summary: str, module: str) -> type[Method]:
    """A class made in a function, as if it were written in the user's module: runs record the source of that module.
    Without a name its runs have the name of the user's variable."""
    if not isinstance(name, str):
        raise InvalidOption(f"the name of a method is a text, got {shorten(name)}; change it")
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
