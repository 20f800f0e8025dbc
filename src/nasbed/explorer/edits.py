"""The legal single edits of an architecture by predicted gain, and the way uphill."""

from __future__ import annotations

from typing import Any

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.explorer.catalogue import OpenBenchmark
from nasbed.explorer.values import objective_means
from nasbed.spaces.facts import Edit

MOST_EDITS = 500
"""How many edits are listed at the most."""
MOST_STEPS = 200
"""How many steps a walk uphill takes at the most."""


def listed_edits(opened: OpenBenchmark, arch: Architecture) -> dict[str, Any]:
    """The value of an architecture, and every single edit with the value after it, the largest gain first. Edits to
    what the benchmark does not hold come last, without a value."""
    edits = list(opened.benchmark.space.edits(arch))
    before, after, order = _gains(opened, arch, edits)
    rows = opened.points.rows_of(opened.benchmark.space.codes([edit.arch for edit in edits])) if edits else []
    sign = 1.0 if opened.benchmark.objective.direction == "maximize" else -1.0
    return {
        "objective": opened.benchmark.objective.key,
        "value": before,
        "edits": [
            {
                "text": opened.benchmark.space.format(edits[place].arch),
                "slot": edits[place].choice,
                "slot_title": edits[place].title,
                "from": edits[place].before,
                "to": edits[place].after,
                "value": after[place],
                "gain": sign * (after[place] - before),
                "row": None if rows[place] < 0 else int(rows[place]),
            }
            for place in order[:MOST_EDITS]
        ],
        "more": max(0, len(edits) - MOST_EDITS),
    }


def uphill(opened: OpenBenchmark, arch: Architecture) -> dict[str, Any]:
    """Local search by the expected objective: each step is the best single edit, as long as it improves."""
    space = opened.benchmark.space
    value = float(objective_means(opened.benchmark, [arch])[0])
    steps: list[dict[str, Any]] = [
        {"text": space.format(arch), "value": value, "slot": None, "slot_title": None, "from": None, "to": None}
    ]
    while len(steps) <= MOST_STEPS:
        edits = list(space.edits(arch))
        _, after, order = _gains(opened, arch, edits)
        if not len(order) or not opened.benchmark.objective.better(float(after[order[0]]), value):
            break
        best = edits[order[0]]
        arch, value = best.arch, float(after[order[0]])
        steps.append(
            {
                "text": space.format(arch),
                "value": value,
                "slot": best.choice,
                "slot_title": best.title,
                "from": best.before,
                "to": best.after,
            }
        )
    return {"objective": opened.benchmark.objective.key, "steps": steps}


def _gains(opened: OpenBenchmark, arch: Architecture, edits: list[Edit]) -> tuple[float, Any, Any]:
    """The value of an architecture, that after each edit, and the order of the edits, the best first."""
    values = objective_means(opened.benchmark, [arch, *(edit.arch for edit in edits)])
    before, after = float(values[0]), values[1:]
    signed = -after if opened.benchmark.objective.direction == "maximize" else after
    return before, after, np.argsort(signed, kind="stable")
