"""What tuning may set a model's settings to. ``tuning_ranges.toml`` has Table 6 of Surrogate NAS Benchmarks."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from nasbed.core.errors import InvalidOption

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

Kind = Literal["integer", "real", "option"]
KINDS = get_args(Kind)


@dataclass(frozen=True, slots=True)
class TuningRange:
    """The values of one setting: the lowest and the highest, or all options."""

    name: str
    kind: Kind
    values: tuple[Any, ...]
    log: bool = False


def published_ranges(model: str) -> tuple[TuningRange, ...]:
    """The ranges of a model that comes with nasbed, by its id.

    >>> published_ranges("rf")[0]
    TuningRange(name='trees', kind='integer', values=(16, 128), log=True)
    """
    return tuple(_range(name, **entry) for name, entry in _entries().get(model, {}).items())


def _range(name: str, *, log: bool = False, **values: Any) -> TuningRange:
    (kind,) = values
    if kind not in KINDS:
        raise InvalidOption(f"a range of tuning is of the kind {', '.join(KINDS)}, got {kind!r} for {name}")
    return TuningRange(name, cast(Kind, kind), tuple(values[kind]), log)


@lru_cache
def _entries() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(files(__package__).joinpath("tuning_ranges.toml").read_text(encoding="utf-8"))


def tuning_space_of(ranges: Sequence[TuningRange], settings: Any) -> ConfigurationSpace:
    """The ranges as a space, with the values of ``settings`` as defaults; a default above its range is cut to it."""
    from ConfigSpace import Categorical, ConfigurationSpace, Float, Integer

    space = ConfigurationSpace()
    for item in ranges:
        default = getattr(settings, item.name)
        if item.kind == "option":
            space.add(Categorical(item.name, item.values, default=default))
        elif item.kind == "real":
            space.add(Float(item.name, item.values, default=default, log=item.log))
        else:
            space.add(Integer(item.name, item.values, default=min(int(default), item.values[1]), log=item.log))
    return space
