"""One architecture on all tables of its space."""

from __future__ import annotations

from typing import Any

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import NasbedError
from nasbed.explorer.catalogue import BenchmarkView, Catalogue
from nasbed.explorer.details import predicted_noise
from nasbed.explorer.values import objective_means


def sibling_ids(catalogue: Catalogue, view: BenchmarkView) -> list[str]:
    """The other tables of the same space."""
    return [name for name in catalogue.tables(view.benchmark.space.name) if name != view.id]


def across(catalogue: Catalogue, view: BenchmarkView, arch: Architecture) -> dict[str, Any]:
    """The objective of an architecture and its rank on the benchmark itself and on every other table that holds it."""
    answers = []
    for name in (view.id, *sibling_ids(catalogue, view)):
        try:
            answer = _answer(catalogue.open(name), arch)
        except NasbedError:  # a table of another definition of the space, or one that is damaged
            continue
        if answer is not None:
            answers.append(answer)
    return {"benchmarks": answers}


def _answer(view: BenchmarkView, arch: Architecture) -> dict[str, Any] | None:
    benchmark = view.benchmark
    benchmark.space.validate(arch)
    value = float(objective_means(benchmark, [arch])[0])
    if value != value:
        return None
    values = [repeat.values.get(benchmark.objective) for repeat in benchmark.repeats(arch)]
    measured = [item for item in values if item is not None]
    std = float(np.std(measured, ddof=1)) if len(measured) > 1 else None
    rank = view.points.rank(benchmark.objective, value)
    return {
        "id": view.id,
        "dataset": benchmark.dataset_name,
        "objective": benchmark.objective.key,
        "unit": benchmark.objective.unit,
        "maximise": benchmark.objective.direction == "maximize",
        "value": value,
        "std": predicted_noise(benchmark, arch, benchmark.fidelities[-1]) if benchmark.predicts else std,
        **(rank or {"rank": None, "of": view.points.rows, "percentile": None}),
    }
