"""A search space in any of the forms in which a user can name one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.user_code import object_named
from nasbed.spaces import space as registered_space
from nasbed.spaces.base import SearchSpace

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace


def space_of(source: SearchSpace | ConfigurationSpace | str, folder: Path = Path()) -> SearchSpace:
    """A search space from an object of either kind, a registered name, or ``file.py:name``."""
    name = ""
    obj: Any = source
    if isinstance(source, str):
        if ":" not in source:
            return registered_space(source)
        name = source.rpartition(":")[2]
        obj = object_named(source, folder=folder)
    if isinstance(obj, SearchSpace):
        return obj
    from ConfigSpace import ConfigurationSpace

    from nasbed.spaces.from_configspace import space_from_configspace

    if isinstance(obj, ConfigurationSpace):
        return space_from_configspace(obj, obj.name or name or "own")
    raise InvalidOption(f"a space is a SearchSpace, a ConfigurationSpace or a name, got {shorten(source)}")
