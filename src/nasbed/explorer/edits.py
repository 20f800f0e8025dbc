"""The legal single edits of an architecture by predicted gain, and the way uphill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.explorer.catalogue import BenchmarkView
from nasbed.explorer.values import objective_means
from nasbed.spaces.facts import Edit

Floats = NDArray[np.float64]

MOST_EDITS = 500
"""How many edits are listed at the most."""
MOST_STEPS = 200
"""How many steps a walk uphill takes at the most."""
_NO_CHANGE: Mapping[str, str | None] = dict.fromkeys(("slot", "slot_title", "from", "to"))


def listed_edits(view: BenchmarkView, predictor: BenchmarkView, arch: Architecture) -> dict[str, Any]:
    """The value of an architecture, and every single edit with the value after it, the largest gain first. Edits to
    what nothing answers for come last, without a value.

    Args:
        view: The benchmark whose rows are named.
        predictor: What answers; a surrogate where the benchmark is a table of a part of its space.
        arch: The architecture before the edit.
    """
    space, objective = view.benchmark.space, predictor.benchmark.objective
    edits = list(space.edits(arch))
    before, after, order = _by_gain(predictor.benchmark, arch, edits)
    rows = view.points.rows_of(space.codes([edit.arch for edit in edits])).tolist()
    sign = 1.0 if objective.direction == "maximize" else -1.0
    return {
        **_who_answers(view, predictor),
        "value": before,
        "edits": [
            {
                "text": space.format(edits[place].arch),
                **_change(edits[place]),
                "value": after[place],
                "gain": sign * (after[place] - before),
                "row": None if rows[place] < 0 else rows[place],
            }
            for place in order[:MOST_EDITS]
        ],
        "more": max(0, len(edits) - MOST_EDITS),
    }


def uphill(view: BenchmarkView, predictor: BenchmarkView, arch: Architecture) -> dict[str, Any]:
    """Local search by the expected objective: each step is the best single edit, as long as it improves. The first
    step is the start. The arguments are those of :func:`listed_edits`."""
    benchmark, space = predictor.benchmark, view.benchmark.space
    value = float(objective_means(benchmark, [arch])[0])
    steps: list[dict[str, Any]] = [_step(view, arch, value, _NO_CHANGE)]
    while len(steps) <= MOST_STEPS:
        edits = list(space.edits(arch))
        _, after, order = _by_gain(benchmark, arch, edits)
        if not order or not benchmark.objective.better(float(after[order[0]]), value):
            break
        best = edits[order[0]]
        arch, value = best.arch, float(after[order[0]])
        steps.append(_step(view, arch, value, _change(best)))
    return {**_who_answers(view, predictor), "steps": steps}


def _step(view: BenchmarkView, arch: Architecture, value: float, change: Mapping[str, str | None]) -> dict[str, Any]:
    return {
        "text": view.benchmark.space.format(arch),
        "value": value,
        **change,
        "row": view.points.row_of(arch),
    }


def _who_answers(view: BenchmarkView, predictor: BenchmarkView) -> dict[str, Any]:
    """The objective, and the surrogate that predicts it in place of the table."""
    return {
        "objective": predictor.benchmark.objective.key,
        "predicted_by": None if predictor is view else predictor.id,
    }


def _change(edit: Edit) -> dict[str, str]:
    return {"slot": edit.choice, "slot_title": edit.title, "from": edit.before, "to": edit.after}


def _by_gain(benchmark: Benchmark, arch: Architecture, edits: list[Edit]) -> tuple[float, Floats, list[int]]:
    """The value of an architecture, that after each edit, and the order of the edits, the best first."""
    values = objective_means(benchmark, [arch, *(edit.arch for edit in edits)])
    before, after = float(values[0]), values[1:]
    losses = -after if benchmark.objective.direction == "maximize" else after
    return before, after, np.argsort(losses, kind="stable").tolist()
