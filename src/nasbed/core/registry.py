"""Names for things that are loaded only when they are asked for."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar, cast

from nasbed.core.errors import DuplicateName, UnknownName, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


def import_target(target: str) -> Any:
    """What ``module:attribute`` names, imported now if it was not before."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


class Registry(Generic[T]):
    """Ids of one kind of thing (spaces, optimizers, proxies …).

    Every registry is filled the same way: the package that owns it lists its entries, one line each, an id and the text
    ``"module:attribute"``. The module is imported on first use, so that listing costs nothing. Plain data that carries
    its own id, such as a recipe, is added as itself. Installed packages add entries through the entry-point group;
    :meth:`get` and :meth:`names` look for them.

    >>> colours = Registry[str]("colour", group="example.colours")
    >>> colours.add_entries("encodings", {"red": "utf_8:decode"})
    >>> colours.add("red", "string:digits")
    Traceback (most recent call last):
    ...
    nasbed.core.errors.DuplicateName: the colour id 'red' is taken by encodings.utf_8:decode; choose another
    >>> colours.get("rad")
    Traceback (most recent call last):
    ...
    nasbed.core.errors.UnknownName: no colour is called 'rad'; did you mean red?
    """

    def __init__(self, kind: str, *, group: str) -> None:
        self.kind = kind
        self.group = group
        self._entries: dict[str, T | str | EntryPoint] = {}
        self._plugins_loaded = False

    def add(self, name: str, target: T | str | EntryPoint) -> None:
        """Register ``target`` under ``name``. A taken name raises: whose result it would be must never depend on
        import order."""
        if name in self._entries:
            raise DuplicateName(
                f"the {self.kind} id {name!r} is taken by {_origin(self._entries[name])}; choose another"
            )
        self._entries[name] = target

    def add_entries(self, package: str, entries: Mapping[str, str]) -> None:
        """Register what ``package`` holds: each id with its ``"module:attribute"``, the module named from there on."""
        for name, target in entries.items():
            self.add(name, f"{package}.{target}")

    def get(self, name: str) -> T:
        """The thing called ``name``, imported now if it was not before."""
        self.check(name)
        target = self._entries[name]
        if _is_entry_point(target):
            target = target.load()
        elif isinstance(target, str):
            target = import_target(target)
        self._entries[name] = target
        return cast(T, target)

    def check(self, name: str) -> None:
        """Raise unless something is called ``name``. Nothing is imported, so that a package it needs may be missing."""
        if name not in self._entries:
            self._load_plugins()
        if name not in self._entries:
            raise UnknownName(f"no {self.kind} is called {name!r}; {nearest(name, self._entries)}")

    def names(self, pattern: str = "*") -> list[str]:
        """Every id that matches a glob, sorted; plug-ins included, nothing imported."""
        self._load_plugins()
        return sorted(name for name in self._entries if fnmatch.fnmatchcase(name, pattern))

    def __contains__(self, name: object) -> bool:
        self._load_plugins()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _load_plugins(self) -> None:
        if self._plugins_loaded:
            return
        self._plugins_loaded = True
        from importlib.metadata import EntryPoint, entry_points  # a fifth of what nasbed takes to start

        for entry in entry_points(group=self.group):  # of another class once importlib_metadata has been imported
            self.add(entry.name, EntryPoint(entry.name, entry.value, entry.group))


def _is_entry_point(target: object) -> TypeGuard[EntryPoint]:
    metadata = sys.modules.get("importlib.metadata")  # who holds one has imported it
    return metadata is not None and isinstance(target, metadata.EntryPoint)


def _origin(target: object) -> str:
    if _is_entry_point(target):
        return f"the plug-in {target.value}"
    return target if isinstance(target, str) else type(target).__qualname__
