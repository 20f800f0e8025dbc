"""Everything that is known of one architecture."""

from __future__ import annotations

from typing import Any

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import NasbedError
from nasbed.core.metric import Metric
from nasbed.core.status import Status
from nasbed.drawing.cells import cell_svg
from nasbed.explorer.catalogue import OpenBenchmark
from nasbed.explorer.diagram import diagram_data


def architecture_details(opened: OpenBenchmark, arch: Architecture) -> dict[str, Any]:
    """The texts, pictures, values, costs and ranks of an architecture."""
    benchmark, points, space = opened.benchmark, opened.points, opened.benchmark.space
    row = points.row_of(arch)
    text = space.format(arch)
    values = _values(opened, arch)
    return {
        "text": text,
        "row": row,
        "native": str(space.to_native(arch)),
        "notations": {"text": text, "native": str(space.to_native(arch))},
        "code_line": f"nasbed.load({opened.id!r}).query({text!r})",
        "svg": [{"title": diagram.title, "svg": cell_svg([diagram])} for diagram in space.diagrams(arch)],
        "diagram": diagram_data(space, arch),
        "values": values,
        "curve": _curve(opened, arch),
        **_costs(opened, arch),
        "rank": {
            metric.key: points.rank(metric, values[metric.key]["mean"])
            for metric in points.metrics
            if metric.key in values
        },
        "proxies": {},
        "isomorphic": {"count": None, "forms": []},
    }


def _values(opened: OpenBenchmark, arch: Architecture) -> dict[str, Any]:
    benchmark = opened.benchmark
    if not benchmark.holds(arch):
        return {}
    repeats = [repeat for repeat in benchmark.repeats(arch) if repeat.status is Status.OK]
    expected = benchmark.expected(arch)
    values: dict[str, Any] = {}
    for metric in benchmark.metrics:
        mean = expected.values.get(metric)
        if mean is not None:
            seeds = [repeat.values[metric] for repeat in repeats if metric in repeat.values]
            std = float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None
            values[metric.key] = {"mean": mean, "std": std, "seeds": seeds or None, "predicted": benchmark.predicts}
    return values


def _curve(opened: OpenBenchmark, arch: Architecture) -> list[dict[str, Any]] | None:
    benchmark = opened.benchmark
    if len(benchmark.fidelities) < 2:
        return None
    curve = []
    for fidelity in benchmark.fidelities:
        try:
            value = benchmark.expected(arch, fidelity=fidelity).values.get(benchmark.objective)
        except NasbedError:
            continue
        curve.append({"fidelity": fidelity, "value": value, "std": None})
    return curve


def _costs(opened: OpenBenchmark, arch: Architecture) -> dict[str, Any]:
    counted = opened.benchmark.space.costs([arch])[0].tolist()
    parameters, multiply_adds = counted if len(counted) == 2 else (None, None)
    try:
        train_time_s = opened.benchmark.expected(arch).cost_s
    except NasbedError:
        train_time_s = None
    return {"parameters": parameters, "multiply_adds": multiply_adds, "train_time_s": train_time_s}
