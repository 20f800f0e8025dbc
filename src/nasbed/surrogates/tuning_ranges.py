"""What tuning may set a model's settings to: the ranges of Table 6 (Surrogate NAS Benchmarks), as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace


@dataclass(frozen=True, slots=True)
class TuningRange:
    """The values of one setting: the lowest and the highest, or all options."""

    name: str
    kind: Literal["integer", "real", "option"]
    values: tuple[Any, ...]
    log: bool = False


def integer(name: str, low: int, high: int, *, log: bool = False) -> TuningRange:
    """Whole numbers from ``low`` to ``high``."""
    return TuningRange(name, "integer", (low, high), log)


def real(name: str, low: float, high: float, *, log: bool = False) -> TuningRange:
    """Numbers from ``low`` to ``high``."""
    return TuningRange(name, "real", (low, high), log)


def option(name: str, *options: Any) -> TuningRange:
    """One of some values."""
    return TuningRange(name, "option", options)


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
