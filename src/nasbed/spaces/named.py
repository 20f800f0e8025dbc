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
    thing: Any = source
    if isinstance(source, str):
        if ":" not in source:
            return registered_space(source)
        name = source.rpartition(":")[2]
        thing = object_named(source, folder=folder)
    if isinstance(thing, SearchSpace):
        return thing
    from ConfigSpace import ConfigurationSpace

    from nasbed.spaces.from_configspace import space_from_configspace

    if isinstance(thing, ConfigurationSpace):
        return space_from_configspace(thing, thing.name or name or "own")
    raise InvalidOption(f"a space is a SearchSpace, a ConfigurationSpace or a name, got {shorten(source)}")
