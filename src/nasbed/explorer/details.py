"""Everything that is known of one architecture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import NasbedError
from nasbed.core.json_values import plain
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.drawing.cells import cell_svg
from nasbed.explorer.catalogue import BenchmarkView
from nasbed.explorer.diagram import diagram_data
from nasbed.explorer.overview.points import COSTS
from nasbed.spaces.base import SearchSpace

MOST_FORMS = 20
"""How many isomorphic forms are listed."""
DRAWN_SEEDS = 5
"""How many queries of a surrogate are shown beside its mean."""


def architecture_details(view: BenchmarkView, predictor: BenchmarkView, arch: Architecture) -> dict[str, Any]:
    """The notations, pictures, values, costs and ranks of an architecture.

    Args:
        view: The benchmark, whose rows are named.
        predictor: What answers for architectures that the benchmark does not hold.
        arch: The architecture.
    """
    points, space = view.points, view.benchmark.space
    held = view.benchmark.holds(arch)
    answering = view if held else predictor
    benchmark = answering.benchmark
    text = space.format(arch)
    values = _values(benchmark, answering.points.metrics, arch)
    notations = _notations(space, arch)
    return {
        "text": text,
        "row": points.row_of(arch),
        "native": notations["native"],
        "notations": notations,
        "code_line": f"nasbed.load({answering.id!r}).query({text!r})",
        "diagram": diagram_data(space, arch),
        "held": held,
        "predicted_by": None if answering is view else answering.id,
        "values": values,
        "curve": _curve(benchmark, arch),
        **_costs(answering, arch, values),
        "rank": {
            metric.key: points.rank(metric, values[metric.key]["mean"])
            for metric in points.metrics
            if metric.key in values
        },
        "proxies": points.proxy_scores(arch),
        "isomorphic": isomorphic_forms(view, arch),
    }


def pictures(view: BenchmarkView, arch: Architecture) -> list[dict[str, str]]:
    """Each cell as an SVG that stands alone."""
    diagrams = view.benchmark.space.diagrams(arch)
    return [{"title": diagram.title, "svg": cell_svg([diagram])} for diagram in diagrams]


# --- notations -------------------------------------------------------------------------------------------------------


def _notations(space: SearchSpace, arch: Architecture) -> dict[str, str]:
    """The architecture in every notation that can be pasted back."""
    native = space.to_native(arch)
    as_text = native if isinstance(native, str) else _json(native) if type(native) is tuple else str(native)
    notations = {"text": space.format(arch), "native": as_text, "code": json.dumps(list(arch.code))}
    properties = space.properties([arch])
    if "hash" in properties:
        notations["hash"] = str(properties["hash"][0])
    with suppress(NasbedError, NotImplementedError):
        notations["configuration"] = _json(dict(space.to_config(arch)))
    return notations


def _json(value: Any) -> str:
    """A value of Python and numpy as JSON."""
    return json.dumps(plain(value), ensure_ascii=False)


def isomorphic_forms(view: BenchmarkView, arch: Architecture) -> dict[str, Any]:
    """How many architectures are the same network, and the first of them as text. They are the other numberings of its
    nodes, and the rows of the overview that compute the same function."""
    space = view.benchmark.space
    forms = dict.fromkeys(space.isomorphic_forms(arch))
    for row in view.points.same_function(arch).tolist():
        forms.setdefault(view.points.architecture(row))
    listed = [form for form in islice(forms, MOST_FORMS + 1) if form != arch][:MOST_FORMS]
    return {"count": len({*forms, arch}), "forms": [space.format(form) for form in listed]}


# --- values ----------------------------------------------------------------------------------------------------------


def _values(benchmark: Benchmark, metrics: Sequence[Metric], arch: Architecture) -> dict[str, Any]:
    """Each metric at the highest fidelity: its mean, the spread between seeds, and the seeds themselves."""
    if not benchmark.holds(arch):
        return {}
    if isinstance(benchmark, TabularBenchmark):
        return {metric.key: answer for metric in metrics if (answer := _measured(benchmark, metric, arch)) is not None}
    expected = benchmark.expected(arch) if benchmark.knows_means else benchmark.query(arch)
    draws = [benchmark.query(arch, seed=seed) for seed in range(DRAWN_SEEDS)] if benchmark.predicts else []
    seeds = draws or [repeat for repeat in benchmark.repeats(arch) if repeat.status is Status.OK]
    values = {
        metric.key: _value(expected.values[metric], metric, seeds, predicted=benchmark.predicts)
        for metric in benchmark.metrics
        if metric in expected.values
    }
    drawn = values[benchmark.objective.key]
    if drawn["std"] is not None and benchmark.predicts:  # of five queries; the model says it for all
        drawn["std"] = predicted_noise(benchmark, arch, benchmark.fidelities[-1])
    if benchmark.test_metric is not None:
        mean = float(benchmark.mean_test([arch])[0])
        values[benchmark.test_metric.key] = {"mean": mean, "std": None, "seeds": None, "predicted": False}
    return values


def _value(mean: float, metric: Metric, seeds: Sequence[Observation], *, predicted: bool) -> dict[str, Any]:
    drawn = [answer.values[metric] for answer in seeds if metric in answer.values]
    varies = len(drawn) > 1 and len(set(drawn)) > 1
    return {
        "mean": mean,
        "std": float(np.std(drawn, ddof=1)) if varies else None,
        "seeds": drawn if drawn and metric.split is not None else None,
        "predicted": predicted and metric.split is not None,
    }


def _measured(table: TabularBenchmark, metric: Metric, arch: Architecture) -> dict[str, Any] | None:
    """A metric of a table, test results included, at the highest fidelity that has it."""
    fidelity = table.highest_fidelity(metric)
    row = table.cache.find(table.space.canonical(arch).code)
    ended_well = table.cache.statuses(fidelity)[row] == Status.OK.number
    drawn = np.asarray(table.cache.column(metric.key, fidelity)[row], dtype=np.float64)[ended_well]
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return None
    std = float(np.std(drawn, ddof=1)) if len(drawn) > 1 else None
    return {"mean": float(np.mean(drawn)), "std": std, "seeds": drawn.tolist(), "predicted": False}


def predicted_noise(benchmark: Benchmark, arch: Architecture, fidelity: int) -> float | None:
    """The standard deviation between trainings that a surrogate predicts; None for anything else."""
    inner = benchmark.unwrapped
    if not isinstance(inner, SurrogateBenchmark):
        return None
    return float(inner.artefact.at(fidelity).predict(inner.space.canonical_codes([arch])).noise[0])


def _curve(benchmark: Benchmark, arch: Architecture) -> list[dict[str, Any]] | None:
    """The objective at every fidelity that the architecture has; none where there is a single one."""
    if len(benchmark.fidelities) < 2 or not benchmark.knows_means:
        return None
    curve = []
    for fidelity in benchmark.fidelities:
        if not benchmark.holds(arch, fidelity=fidelity):
            continue
        value = benchmark.expected(arch, fidelity=fidelity).values.get(benchmark.objective)
        if value is not None:
            curve.append({"fidelity": fidelity, "value": value, "std": _spread(benchmark, arch, fidelity)})
    return curve


def _spread(benchmark: Benchmark, arch: Architecture, fidelity: int) -> float | None:
    """The standard deviation of the objective between seeds."""
    if benchmark.predicts:
        return predicted_noise(benchmark, arch, fidelity)
    repeats = benchmark.repeats(arch, fidelity=fidelity)
    values = [repeat.values[benchmark.objective] for repeat in repeats if benchmark.objective in repeat.values]
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


# --- costs -----------------------------------------------------------------------------------------------------------


def _costs(view: BenchmarkView, arch: Architecture, values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters and multiply-adds, measured where the benchmark has them and counted elsewhere, and the seconds of a
    training."""
    costs: dict[str, Any] = {key: values[key]["mean"] if key in values else None for key in COSTS}
    counter = view.points.costs
    if counter.known:
        counted = dict(zip(COSTS, counter(counter.space.canonical_codes([arch]))[0].tolist(), strict=True))
        costs = {key: counted[key] if costs[key] is None else costs[key] for key in COSTS}
    benchmark = view.benchmark
    train_time_s = benchmark.expected(arch).cost_s if benchmark.knows_means and benchmark.holds(arch) else None
    return {**costs, "train_time_s": train_time_s, "cost_note": counter.note if counter.known else ""}
