"""The score of the competition, and of runs that failed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.challenge.contest_data import ContestData
from nasbed.challenge.disguise import Disguise
from nasbed.challenge.limits import GIB, Limits
from nasbed.challenge.predictions import checked_predictions, one_line, read_reply
from nasbed.challenge.sandbox import SandboxExit

WORST = -10.0
"""The least score, and that of a failure."""
FINISHED = "finished"
_MEMORY = ("MemoryError", "memory", "bad_alloc")


@dataclass(frozen=True, slots=True, eq=False)
class ChallengeOutcome:
    """How a run ended: ``finished``, or one of ``time``, ``memory``, ``processes``, ``scratch``, ``output``, ``crash``,
    ``nothing``, ``predictions``, and the reason in a line. ``raw`` is the accuracy in per cent."""

    status: str
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


def judge_run(
    process: SandboxExit, data: ContestData, limits: Limits, disguise: Disguise, *, benchmark: float
) -> ChallengeOutcome:
    """The outcome and score of a run. The test labels are read only here.

    Args:
        process: How the process of the submission ended.
        data: The dataset.
        limits: The limits of the run.
        disguise: How the dataset was shown.
        benchmark: The accuracy in per cent that scores 0.
    """
    reply = read_reply(process.sent)
    place = f", at {reply.stage}" if reply.stage else ""
    if process.stopped:
        return ChallengeOutcome(process.stopped, _rule(process.stopped, limits) + place)
    if reply.error:
        kind = "memory" if any(word in reply.error for word in _MEMORY) else "crash"
        return ChallengeOutcome(kind, one_line(f"{reply.error}{place}"))
    if reply.predictions is None:
        return ChallengeOutcome("nothing", f"it ended without predictions, {_exit(process.status)}{place}")
    try:
        predictions = checked_predictions(reply.predictions, data.tested)
    except ValueError as error:
        return ChallengeOutcome("predictions", one_line(error))
    predictions = disguise.original_predictions(predictions)
    raw = 100 * float(np.mean(predictions == data.labels()))
    return ChallengeOutcome(FINISHED, "", raw, score_of(raw, benchmark), predictions, reply.parameters)


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
