"""The score of the competition, and what becomes of a run that has none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.challenge.contest_data import ContestData
from nasbed.challenge.limits import GIB, Limits
from nasbed.challenge.predictions import checked_predictions, one_line, read_reply
from nasbed.challenge.sandbox import Ended

WORST = -10.0
"""The least score, and that of a failure."""
FINISHED = "finished"
_MEMORY = ("MemoryError", "memory", "bad_alloc")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """How a run ended: ``finished``, or one of ``time``, ``memory``, ``processes``, ``scratch``, ``output``, ``crash``,
    ``nothing``, ``predictions``, and the reason in a line. ``raw`` is the accuracy in per cent."""

    ended: str
    reason: str = ""
    raw: float | None = None
    score: float = WORST
    predictions: NDArray[np.int64] | None = None
    parameters: int | None = None


def score_of(raw: float, benchmark: float) -> float:
    """0 for the benchmark's accuracy, 10 for all right; accuracies in per cent.

    >>> score_of(100.0, 80.0), score_of(80.0, 80.0), score_of(90.0, 80.0), score_of(0.0, 80.0)
    (10.0, 0.0, 5.0, -10.0)
    """
    return max(WORST, (raw - benchmark) * 10 / (100 - benchmark))


def judged(ended: Ended, data: ContestData, limits: Limits) -> Outcome:
    """What a run is worth. Only here are the test labels read."""
    reply = read_reply(ended.sent)
    at = f", at {reply.stage}" if reply.stage else ""
    if ended.stopped:
        return Outcome(ended.stopped, _rule(ended.stopped, limits) + at)
    if reply.error:
        kind = "memory" if any(word in reply.error for word in _MEMORY) else "crash"
        return Outcome(kind, one_line(f"{reply.error}{at}"))
    if reply.predictions is None:
        return Outcome("nothing", f"it ended without predictions, {_exit(ended.status)}{at}")
    try:
        predictions = checked_predictions(reply.predictions, data.tested)
    except ValueError as error:
        return Outcome("predictions", one_line(error))
    raw = 100 * float(np.mean(predictions == data.labels()))
    return Outcome(FINISHED, "", raw, score_of(raw, data.benchmark), predictions, reply.parameters)


def _rule(stopped: str, limits: Limits) -> str:
    return {
        "time": f"more than {limits.time_s:g} s",
        "memory": f"more than {limits.memory_bytes / GIB:.3g} GiB of memory",
        "processes": f"more than {limits.processes} processes and threads",
        "scratch": f"more than {limits.scratch_bytes / GIB:.3g} GiB or {limits.scratch_files} files written",
        "output": "more sent than predictions need",
    }[stopped]


def _exit(status: int) -> str:
    return f"killed by signal {status - 128}" if status > 128 else f"exit status {status}"
