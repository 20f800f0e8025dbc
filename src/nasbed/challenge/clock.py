"""The clock that a submission is given."""

from __future__ import annotations

import time


class Clock:
    """Tells how much of a submission's time is left. It starts with the process, and no stage resets it."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        """In seconds of ``time.monotonic``, which all processes of a machine share."""

    def check(self) -> float:
        """The remaining seconds; the process is killed when none remain."""
        return self._deadline - time.monotonic()
