"""Former public names. Each gives the object of the new name, and warns, until the version in which it goes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from nasbed.core.registry import import_target

FORMER_NAMES: dict[str, str] = {}
"""The new name of each former one in the modules that were imported so far: ``module.Old`` to ``module:New``."""


def former(
    module: str, names: Mapping[str, str], *, until: str, otherwise: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module with former names. Nothing is imported before a name is used.

    Args:
        module: the full name of the module.
        names: by the former name, the new one as ``module:New``.
        until: the version in which the former names go.
        otherwise: gives the attributes that are not former names, or raises; by default there are none.
    """
    FORMER_NAMES.update({f"{module}.{old}": new for old, new in names.items()})

    def get_former(name: str) -> Any:
        if name not in names and otherwise is not None:
            return otherwise(name)
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_former(f"{module}.{name}", names[name].replace(":", "."), until=until, stacklevel=3)
        return import_target(names[name])

    return get_former


def former_module(name: str, names: Mapping[str, str], *, until: str) -> None:
    """Make a module that no longer exists importable, with its documented names.

    Call this in the package that held it, so that the module exists before it is imported.

    Args:
        name: the full name of the former module.
        names: as in :func:`former`.
        until: as in :func:`former`.
    """
    module = ModuleType(name, f"Former names, until version {until}.")
    vars(module)["__getattr__"] = former(name, names, until=until)
    sys.modules[name] = module
    package, _, own_name = name.rpartition(".")
    setattr(sys.modules[package], own_name, module)


class FormerAttribute:
    """A former name of an attribute or method of a class."""

    def __init__(self, new: str, *, until: str) -> None:
        self._new, self._until = new, until
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        warn_former(f"{owner.__name__}.{self._name}", f"{owner.__name__}.{self._new}", until=self._until, stacklevel=3)
        return getattr(instance, self._new)


def warn_former(old: str, new: str, *, until: str, stacklevel: int = 3) -> None:
    """Warn the caller of the function that calls this one, or one further up by ``stacklevel``."""
    warnings.warn(former_name_text(old, new, until=until), DeprecationWarning, stacklevel)


def former_name_text(old: str, new: str, *, until: str) -> str:
    """The sentence about a former name.

    >>> former_name_text("--n", "--count", until="0.3")
    '--n is now --count; the former name goes in version 0.3'
    """
    return f"{old} is now {new}; the former name goes in version {until}"
