"""Numbers, intervals and durations as short texts."""

from __future__ import annotations

import math

from nasbed.evaluation.significance import Interval

NONE = "–"
UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def digits(value: float) -> str:
    """Three digits that count.

    >>> digits(0.04839), digits(float("nan"))
    ('0.0484', '–')
    """
    return f"{value:.3g}" if math.isfinite(value) else NONE


def span(interval: Interval) -> str:
    """Where an interval begins and ends.

    >>> span(Interval(1.0, 0.5, 2.0))
    '0.5 to 2'
    """
    return f"{digits(interval.low)} to {digits(interval.high)}" if math.isfinite(interval.low) else ""


def spanned(interval: Interval) -> str:
    """An estimate and its interval.

    >>> spanned(Interval(1.0, 0.5, 2.0))
    '1 [0.5–2]'
    """
    if not math.isfinite(interval.low):
        return digits(interval.estimate)
    return f"{digits(interval.estimate)} [{digits(interval.low)}–{digits(interval.high)}]"


def duration(seconds: float) -> str:
    """A time in the largest unit of which there is one.

    >>> duration(93600.0), duration(90.0), duration(0.0123)
    ('1.08 d', '1.5 min', '12.3 ms')
    """
    if not math.isfinite(seconds):
        return NONE
    size, unit = next((each for each in UNITS if seconds >= each[0]), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


def share(value: float) -> str:
    """A share of the whole.

    >>> share(0.052)
    '5 %'
    """
    return f"{value:.0%}".replace("%", " %") if math.isfinite(value) else NONE
