"""The time of a submission over all its datasets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nasbed.challenge.limits import Limits
from nasbed.challenge.results import FILE, SubmissionResult, read_result

LEAST_S = 1.0
"""A dataset with less time than this is not run."""


class TimeBudget:
    """One clock for all datasets, first come, first served, as in the competition: each dataset gets what is left, up
    to the limit per dataset.

    >>> budget = TimeBudget(Limits(time_s=60), total_s=100, used_s=55)
    >>> budget.allowance()
    45.0
    >>> budget.use(45); budget.allowance()
    0.0
    """

    def __init__(self, limits: Limits, *, total_s: float | None, used_s: float) -> None:
        self._limits, self._total_s, self._used_s = limits, total_s, used_s

    def allowance(self) -> float:
        """The seconds of the next dataset; 0 if less than :data:`LEAST_S` is left."""
        if self._total_s is None:
            return self._limits.time_s
        allowance = min(self._limits.time_s, float(self._total_s - self._used_s))
        return allowance if allowance >= LEAST_S else 0.0

    def use(self, seconds: float) -> None:
        self._used_s += seconds


def used_seconds(folder: Path) -> float:
    """The seconds of all results of a submission that are stored in its folder of runs. Time that an interrupted run
    had used does not count: that dataset starts anew."""
    return sum(result.seconds for result in _stored(folder))


def _stored(folder: Path) -> Iterable[SubmissionResult]:
    paths = (path for path in folder.glob(f"*/{FILE}") if not path.parent.name.startswith("."))
    return map(read_result, sorted(paths))
