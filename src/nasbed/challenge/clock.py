"""The clock that a submission is given."""

from __future__ import annotations

import time


class Clock:
    """Tells how much of a submission's time is left. It began when the process did and no stage sets it back."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        """In seconds of ``time.monotonic``, which all processes of a machine share."""

    def check(self) -> float:
        """The seconds that are left; the process is killed when there are none."""
        return self._deadline - time.monotonic()
