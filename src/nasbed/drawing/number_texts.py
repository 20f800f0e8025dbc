"""Numbers, intervals and durations as short texts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nasbed.evaluation.significance import Interval

MISSING = "–"
SHORT_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), *SHORT_UNITS)


def count_text(count: int, noun: str) -> str:
    """A number and its noun.

    >>> count_text(1, "method"), count_text(3, "method")
    ('1 method', '3 methods')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def digits(value: float, count: int = 4) -> str:
    """A number with this many significant digits, a dash for a missing one.

    >>> digits(0.123456), digits(float("nan")), digits(1234567.0)
    ('0.1235', '–', '1.235e+06')
    """
    return f"{value:.{count}g}" if math.isfinite(value) else MISSING


def short(value: float) -> str:
    """A number with three significant digits.

    >>> short(0.04839), short(float("nan"))
    ('0.0484', '–')
    """
    return digits(value, 3)


def fixed(value: float, decimals: int = 4) -> str:
    """A number with this many decimals, a dash for a missing one.

    >>> fixed(0.5, 2), fixed(float("nan"))
    ('0.50', '–')
    """
    return f"{value:.{decimals}f}" if math.isfinite(value) else MISSING


def span(interval: Interval) -> str:
    """The ends of an interval.

    >>> span(Interval(1.0, 0.5, 2.0))
    '0.5 to 2'
    """
    return f"{short(interval.low)} to {short(interval.high)}" if math.isfinite(interval.low) else ""


def spanned(interval: Interval) -> str:
    """An estimate and its interval.

    >>> spanned(Interval(1.0, 0.5, 2.0))
    '1 [0.5–2]'
    """
    if not math.isfinite(interval.low):
        return short(interval.estimate)
    return f"{short(interval.estimate)} [{short(interval.low)}–{short(interval.high)}]"


def duration(time_s: float) -> str:
    """A time in the largest unit that does not exceed it, from days to microseconds.

    >>> duration(93600.0), duration(90.0), duration(0.0123)
    ('1.08 d', '1.5 min', '12.3 ms')
    """
    return _in_units(time_s, UNITS)


def seconds(time_s: float) -> str:
    """A short time in seconds, milliseconds or microseconds.

    >>> seconds(0.0000123), seconds(0.0123), seconds(90.0)
    ('12.3 µs', '12.3 ms', '90 s')
    """
    return _in_units(time_s, SHORT_UNITS)


def _in_units(time_s: float, units: Sequence[tuple[float, str]]) -> str:
    if not math.isfinite(time_s):
        return MISSING
    size, unit = next((unit for unit in units if time_s >= unit[0]), units[-1])
    return f"{time_s / size:.3g} {unit}"


def listed(texts: Sequence[str]) -> str:
    """Texts joined by commas and a last “and”.

    >>> listed(["params", "nwot", "zen"])
    'params, nwot and zen'
    """
    return " and ".join([*([", ".join(texts[:-1])] if texts[1:] else []), *texts[-1:]])


def share(value: float) -> str:
    """A share of the whole.

    >>> share(0.052)
    '5 %'
    """
    return f"{value:.0%}".replace("%", " %") if math.isfinite(value) else MISSING
