"""A method's settings and their checks, with the one-line messages that the command line prints."""

from __future__ import annotations

import inspect
import math

from nasbed.core.errors import InvalidOption, shorten


def integer(name: str, value: int, *, low: int) -> int:
    """``value``, if it is a whole number of at least ``low``.

    >>> integer("population_size", 1, low=2)
    Traceback (most recent call last):
    ...
    nasbed.core.errors.InvalidOption: population_size is a whole number of at least 2, got 1
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise InvalidOption(f"{name} is a whole number of at least {low}, got {shorten(value)}")
    return value


def number(name: str, value: float, *, low: float, high: float = math.inf) -> float:
    """``value`` as a float, if it is a finite number from ``low`` to ``high``.

    >>> number("crossover", 2, low=0, high=1)
    Traceback (most recent call last):
    ...
    nasbed.core.errors.InvalidOption: crossover is a number from 0 to 1, got 2
    """
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not fits or not math.isfinite(value) or not low <= value <= high:
        raise InvalidOption(f"{name} is a number from {low:g} to {high:g}, got {shorten(value)}")
    return float(value)


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
