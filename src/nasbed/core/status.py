"""How an evaluation ended, as a word and as the number that arrays and files hold."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How an evaluation ended. Only an ``ok`` one must carry metrics.

    >>> Status.DIVERGED.number
    1
    """

    OK = "ok"
    DIVERGED = "diverged"
    FAILED = "failed"

    @property
    def number(self) -> int:
        """Its place in :data:`STATUSES`."""
        return STATUSES.index(self)


STATUSES = tuple(Status)
"""By number."""
OK, DIVERGED, FAILED = range(len(STATUSES))
