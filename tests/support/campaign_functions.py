"""Trainers for worker processes, spaces, and campaigns that tests share."""

from __future__ import annotations

import os
import time
from pathlib import Path

from nasbed.core.architecture import Architecture
from nasbed.core.status import Status
from nasbed.experiments.campaign import Campaign, Journal, Repeats, Trial


def quality(arch: Architecture, fidelity: int, seed: int) -> float:
    """A smooth figure in [0, 100) with a little noise by seed: a function of its arguments alone."""
    spread = sum((index % 7 + 1) * item for index, item in enumerate(arch.code)) % 89
    return float(spread + fidelity % 5 + (sum(arch.code) * 31 + seed * 17) % 11 / 11)


def slow_quality(arch: Architecture, fidelity: int, seed: int) -> float:
    """The same; where there is a log it takes a while, and a line says that this was evaluated."""
    if log := os.environ.get("CAMPAIGN_LOG"):
        time.sleep(0.03)
        with Path(log).open("a") as file:
            file.write(f"{(arch.code, fidelity, seed)}\n")
    return quality(arch, fidelity, seed)


def misbehaving(arch: Architecture, fidelity: int, seed: int) -> float:
    """Raises, diverges, leaves its bounds or hangs, as the architecture's first choice says."""
    kind = arch.code[0]
    if kind == 0:
        raise RuntimeError("as asked\nsecond line")
    if kind == 1:
        return float("nan")
    if kind == 2:
        return 1e9
    if kind == 3:
        time.sleep(60)
    return 50.0


def dying_once(arch: Architecture, fidelity: int, seed: int, *, markers: str) -> float:
    """Kills its own process the first time that it is asked for an architecture, and leaves a file behind."""
    marker = Path(markers) / str(arch.code)
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), 9)
    return quality(arch, fidelity, seed)


ADAPTIVE = Campaign(
    "adaptive",
    trials=400,
    shares={"rs": 0.4, "re": 0.3, "ls": 0.3},
    round=24,
    settings={"re": {"population_size": 12, "sample_size": 4}},
    repeats=Repeats(architectures=6, seeds=3, source="re"),
    space="nb201",
    trainer={"kind": "function", "function": "support.campaign_functions:slow_quality"},
)
"""A campaign in which each round depends on the one before."""


Row = tuple[Trial, Status, dict[str, float], str]


def table(journal: Path) -> list[Row]:
    """All that a campaign found, but for times."""
    with Journal.reading(journal) as reader:
        return [
            (
                completed.trial,
                completed.evaluation.status,
                dict(completed.evaluation.values),
                completed.evaluation.reason,
            )
            for completed in reader.finished()
        ]
