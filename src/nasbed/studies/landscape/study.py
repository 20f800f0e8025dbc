"""NAS-Bench-101's section 3 for any table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from nasbed.benchmarks import Benchmark
from nasbed.core.metric import Metric
from nasbed.evaluation.landscape import (
    Autocorrelation,
    BinnedMean,
    Ecdf,
    FitnessDistance,
    GroupMeans,
    Replacement,
    binned_mean,
    ecdf,
    fitness_distance_correlation,
    mean_by,
    neighbor_graph,
    operation_replacement,
    pareto_front,
    pearson,
    random_walk_autocorrelation,
    rank_correlations,
    repeat_noise,
    space_walk_autocorrelation,
)
from nasbed.spaces.lookup import Lookup
from nasbed.studies.landscape.peak import PeakVolume, peak_volume
from nasbed.studies.table import TIME, Table, table_of

STAGES = (
    "distributions",
    "costs",
    "operations",
    "shapes",
    "random walks",
    "distance to the best",
    "encodings near the best",
    "fidelities",
)
WALKABLE = 1_000_000
"""The largest space that is walked in full when a table is a sample of it."""

IN_TABLE, IN_TABLE_RANKS = "metric, through the table", "ranks, through the table"
IN_SPACE, IN_SPACE_RANKS = "metric, through the whole space", "ranks, through the whole space"
"""The walks by name. There are ranks too, because a few diverged runs can cause most of a metric's variance."""

CURVE_POINTS = 400
SHOWN = 0.95
"""The fraction of architectures, the best first, that the plane of time and metric shows."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Training time, parameters and quality of every architecture (Figure 3). Times in seconds."""

    names: tuple[str, ...]  # of the columns
    correlations: NDArray[np.float64]  # Spearman
    by_time_and_parameters: BinnedMean | None  # the metric's mean
    by_time_and_metric: BinnedMean  # counts, of the best 95 %
    front: NDArray[np.float64]  # [n, 2]: time and metric of the Pareto-optimal architectures
    named: Mapping[str, NDArray[np.float64]]  # [n, 2]: of each named architecture, then of its neighbours in the table


@dataclass(frozen=True, slots=True)
class Shape:
    """The metric and the training time by an integer property (Figure 5); ``labels`` name its keys."""

    labels: tuple[str, ...]
    metric: GroupMeans
    time_s: GroupMeans | None


@dataclass(frozen=True, slots=True)
class LandscapeStudy:
    """The numbers of section 3 for one table. A part that does not apply to the table is ``None`` or empty."""

    name: str
    space: str
    space_size: int
    architectures: int
    metric: Metric
    fidelity: int
    fidelity_unit: str
    best: str
    best_value: float
    distributions: Mapping[Metric, Ecdf]
    noise_metric: Metric
    noise: Mapping[int, Ecdf]  # by fidelity
    validation_test_correlation: float | None
    costs: Costs | None
    replacements: tuple[Replacement, ...]
    shapes: Mapping[str, Shape]
    walks: Mapping[str, Autocorrelation]  # by name: IN_TABLE …
    distance: FitnessDistance
    peak: PeakVolume | None
    fidelities: tuple[int, ...]
    fidelity_correlations: NDArray[np.float64]

    @property
    def coverage(self) -> float:
        """The fraction of the space that the table holds."""
        return self.architectures / self.space_size


def landscape_study(
    benchmark: Benchmark,
    rng: np.random.Generator,
    *,
    metric: str | None = None,
    walk_steps: int = 2000,
    progress: Callable[[str], None] | None = None,
) -> LandscapeStudy:
    """Study a table by the mean over repeats of one of its metrics.

    Args:
        benchmark: The table.
        rng: Draws the random walks.
        metric: The key of the metric; the benchmark's objective by default.
        walk_steps: The number of steps of a random walk.
        progress: Called with the name of each of the :data:`STAGES` when it starts.
    """
    start_stage = progress or (lambda stage: None)
    table = table_of(benchmark)
    objective = table.objective if metric is None else table.metric(metric)
    position = table.measured(objective)
    values = table.mean(objective, position)
    times = table.time_s()

    start_stage(STAGES[0])
    same_name = [split_metric for split_metric in table.metrics if split_metric.name == objective.name]
    noisy = next((candidate for candidate in same_name if candidate.split == "test"), objective)
    noise = {
        fidelity: ecdf(repeat_noise(table.values[noisy.key][:, place]))
        for place, fidelity in enumerate(table.fidelities)
    }
    by_split = {split_metric.split: table.mean(split_metric) for split_metric in same_name}
    validation_test = (
        pearson(by_split["validation"], by_split["test"]) if {"validation", "test"} <= set(by_split) else None
    )

    start_stage(STAGES[1])
    properties = table.space.properties(table.codes)
    costs = _costs(table, values, times, properties, objective) if times is not None else None

    start_stage(STAGES[2])
    replacements = operation_replacement(table.space, table.codes, metric=values, time_s=times)

    start_stage(STAGES[3])
    shapes = _shapes(table, values, times, properties)

    start_stage(STAGES[4])
    walks = _walks(table, values, rng, walk_steps)

    start_stage(STAGES[5])
    distance = fitness_distance_correlation(table.space, table.codes, values, direction=objective.direction)

    start_stage(STAGES[6])
    peak = peak_volume(table, noisy)

    start_stage(STAGES[7])
    positions = [place for place, _ in enumerate(table.fidelities) if ~np.isnan(table.mean(objective, place)).all()]
    by_fidelity = np.stack([table.mean(objective, place) for place in positions], axis=1)
    best = table.space.architectures(table.codes[distance.best : distance.best + 1])[0]
    return LandscapeStudy(
        name=table.name,
        space=table.space.name,
        space_size=table.space.size,
        architectures=len(table),
        metric=objective,
        fidelity=table.fidelities[position],
        fidelity_unit=table.fidelity_unit,
        best=table.space.format(best),
        best_value=float(values[distance.best]),
        distributions={
            split_metric: ecdf(table.mean(split_metric)).thinned(CURVE_POINTS) for split_metric in same_name
        },
        noise_metric=noisy,
        noise={fidelity: curve.thinned(CURVE_POINTS) for fidelity, curve in noise.items() if curve.count},
        validation_test_correlation=validation_test,
        costs=costs,
        replacements=tuple(replacement for replacement in replacements if replacement.counts.any()),
        shapes=shapes,
        walks=walks,
        distance=distance,
        peak=peak,
        fidelities=tuple(table.fidelities[place] for place in positions),
        fidelity_correlations=rank_correlations(by_fidelity),
    )


def _costs(
    table: Table,
    values: NDArray[np.float64],
    times: NDArray[np.float64],
    properties: Mapping[str, NDArray[Any]],
    objective: Metric,
) -> Costs:
    parameters = properties.get("parameters")
    if parameters is None:
        names = ("parameters", "trainable_parameters")
        recorded = next((candidate for candidate in table.metrics if candidate.key in names), None)
        parameters = None if recorded is None else table.mean(recorded)
    columns = {TIME.key: times, objective.key: values}
    if parameters is not None:
        columns["parameters"] = np.asarray(parameters, dtype=np.float64)
    front = pareto_front(times, values, direction=objective.direction)
    worst = np.nanquantile(values, 1 - SHOWN if objective.direction == "maximize" else SHOWN)
    visible = np.where(values >= worst if objective.direction == "maximize" else values <= worst, values, np.nan)
    return Costs(
        names=tuple(columns),
        correlations=rank_correlations(np.stack(list(columns.values()), axis=1)),
        by_time_and_parameters=None if parameters is None else binned_mean(times, parameters, values=values),
        by_time_and_metric=binned_mean(times, visible, values=visible),
        front=np.stack([times[front], values[front]], axis=1),
        named=_named(table, np.stack([times, values], axis=1)),
    )


def _named(table: Table, rows: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The rows of the named architectures that the table has, each with those of its neighbours that it has."""
    lookup, space = Lookup(table.codes), table.space
    by_name = {}
    for name in space.named:
        arch = space.named_architecture(name)
        (own,) = lookup.find(space.canonical_codes([arch]))
        if own >= 0:
            near = lookup.find(space.codes(space.unique_neighbors(arch)))
            by_name[name] = rows[[own, *near[near >= 0]]]
    return by_name


def _shapes(
    table: Table,
    values: NDArray[np.float64],
    times: NDArray[np.float64] | None,
    properties: Mapping[str, NDArray[Any]],
) -> dict[str, Shape]:
    """The shapes of cells where the space has them, such as depth and width.

    In a space of equal choices, the number of times that each option was chosen; elsewhere, every choice by itself.
    """

    def shape(keys: NDArray[np.int64], options: tuple[str, ...] = ()) -> Shape:
        by_metric = mean_by(keys, values)
        labels = tuple(options[key] if options else str(key) for key in by_metric.keys.tolist())
        return Shape(labels, by_metric, None if times is None else mean_by(keys, times))

    if table.space.shape_properties:
        return {name: shape(properties[name]) for name in table.space.shape_properties}
    choices = table.space.choices_of(table.codes)
    if len(set(choices.options)) == 1:
        counted = enumerate(choices.options[0])
        return {f"number of {name}": shape((choices.values == place).sum(axis=1)) for place, name in counted}
    return {
        name: shape(column, (*options, "inactive"))
        for name, column, options in zip(choices.names, choices.values.T, choices.options, strict=True)
    }


def _walks(
    table: Table, values: NDArray[np.float64], rng: np.random.Generator, steps: int
) -> dict[str, Autocorrelation]:
    """Walks through the table and, where it is a sample of a space that can be listed, through the whole space."""
    ranks = np.full(len(values), np.nan)
    present = ~np.isnan(values)
    ranks[present] = rankdata(values[present])
    graph = neighbor_graph(table.space, table.codes)
    walks = {}
    if graph[present][:, present].nnz:
        walks[IN_TABLE] = random_walk_autocorrelation(graph, values, rng, steps=steps)
        walks[IN_TABLE_RANKS] = random_walk_autocorrelation(graph, ranks, rng, steps=steps)
    if len(table) < table.space.size <= WALKABLE:
        all_codes = table.space.all_codes()
        rows = Lookup(all_codes).find(table.codes)
        graph = neighbor_graph(table.space, all_codes)
        for name, column in {IN_SPACE: values, IN_SPACE_RANKS: ranks}.items():
            spread = np.full(len(all_codes), np.nan)
            spread[rows] = column
            walks[name] = space_walk_autocorrelation(graph, spread, rng, steps=steps)
    return walks
