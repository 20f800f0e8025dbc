"""A method's settings: dataclass fields that know their range, and one wording for a value outside it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from nasbed.core.errors import InvalidOption, shorten

_RANGE = "range"
_MOST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class SettingRange:
    """The numbers that a setting may have: those that ``fits`` accepts, and ``rule`` describes."""

    type: type[int] | type[float]
    fits: Callable[[float], bool]
    rule: str

    def validate(self, name: str, value: Any) -> int | float:
        """The value in the setting's type, if it fits."""
        is_number = isinstance(value, (int, self.type)) and not isinstance(value, bool)
        if not is_number or not self.fits(value):
            raise InvalidOption(f"{name} is {self.rule}, got {shorten(value)}")
        return self.type(value)


class SettingFlag:
    """The values of a setting that is on or off."""

    def validate(self, name: str, value: Any) -> bool:
        """The value, if it is one of the two; texts such as ``no`` would count as true."""
        if not isinstance(value, bool):
            raise InvalidOption(f"{name} is true or false, got {shorten(value)}")
        return value


def flag(default: bool) -> Any:
    """A setting that is true or false."""
    return _setting(default, SettingFlag())


def integer(default: int | None, *, low: int) -> Any:
    """A setting that is a whole number of at least ``low``; ``None`` is allowed where it is the default."""
    return _setting(default, SettingRange(int, lambda value: value >= low, f"a whole number of at least {low}"))


def number(default: float, *, low: float, high: float = _MOST) -> Any:
    """A setting that is a finite number from ``low`` to ``high``."""
    rule = f"a number from {low:g} to {high:g}" if high < _MOST else f"a number of at least {low:g}"
    return _setting(default, SettingRange(float, lambda value: low <= value <= high, rule))


def number_above(default: float, low: float) -> Any:
    """A setting that is a finite number greater than ``low``."""
    return _setting(default, SettingRange(float, lambda value: low < value <= _MOST, f"a number above {low:g}"))


def _setting(default: float | None, allowed: SettingRange | SettingFlag) -> Any:
    return field(default=default, metadata={_RANGE: allowed})


def check_settings(method: Any) -> None:
    """Check every setting of a method against its range, and convert it to its type.

    >>> @dataclass
    ... class Mine:
    ...     size: int = integer(10, low=2)
    ...     crossover: float = number(0.9, low=0, high=1)
    >>> check_settings(Mine(size=1))
    Traceback (most recent call last):
    ...
    nasbed.core.errors.InvalidOption: size is a whole number of at least 2, got 1
    >>> check_settings(Mine(crossover=2))
    Traceback (most recent call last):
    ...
    nasbed.core.errors.InvalidOption: crossover is a number from 0 to 1, got 2
    """
    for setting in fields(method):
        allowed, value = setting.metadata.get(_RANGE), getattr(method, setting.name)
        if allowed is not None and not (value is None and setting.default is None):
            setattr(method, setting.name, allowed.validate(setting.name, value))


def defaults_of(method: type) -> dict[str, object]:
    """The settings of a method, which are its keyword-only constructor arguments, with their defaults.

    >>> class Mine:
    ...     def __init__(self, problem, rng, *, size: int = 10): ...
    >>> defaults_of(Mine)
    {'size': 10}
    """
    arguments = inspect.signature(method).parameters.values()
    return {
        argument.name: argument.default for argument in arguments if argument.kind is inspect.Parameter.KEYWORD_ONLY
    }
