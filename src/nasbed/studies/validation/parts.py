"""The parts of a validation, their settings, and which of them apply to a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nasbed.core.errors import InvalidOption, nearest
from nasbed.core.execution import Engine
from nasbed.results.store import Results
from nasbed.studies.validation.data import ValidationData, repeats_of
from nasbed.studies.validation.evaluations.cell_distributions import check_cells
from nasbed.studies.validation.evaluations.method_profiles import check_profiles
from nasbed.studies.validation.evaluations.split_agreement import metrics_to_compare
from nasbed.studies.validation.fit_tasks import SurrogateRecipe
from nasbed.studies.validation.leave_out import (
    WELL_PERFORMING,
    BestRegion,
    check_methods,
    random_rows,
    search_methods,
)
from nasbed.studies.validation.runtime import check_times
from nasbed.studies.validation.searches.benchmarks import check_complete
from nasbed.studies.validation.searches.recorded import check_recorded, recorded_methods
from nasbed.studies.validation.searches.regions import check_region
from nasbed.studies.validation.searches.trajectories import METHODS, SearchPlan
from nasbed.studies.validation.topology_effects import topology_design
from nasbed.studies.validation.training_size import SIZES, check_sizes
from nasbed.surrogates.examples import validation_metric
from nasbed.surrogates.table_split import TableSplit

PARTS = {
    "fits": "how well each model fits",
    "runtime": "how well the runtime model fits",
    "table": "surrogate against a table of one seed",
    "size": "error by number of training architectures",
    "looo": "leaving one search method out",
    "random": "fitted on random search only",
    "best": "fitted on the best only",
    "rest": "fitted on all but the best",
    "free": "parameter-free operations",
    "depth": "rank correlation and error by cell depth",
    "topologies": "what topologies and operations of cells do",
    "methods": "what each search method evaluated",
    "cells": "the metric by depth and by parameter-free operations of cells",
    "noise": "the noise of evaluations",
    "test": "validation against test metric",
    "tsne": "a map of the data",
    "regions": "searches on surrogates of the best only, and of all but the best",
    "trajectories": "searches on the surrogate, and on the table or for real",
}
SHARED = ("fits", "free", "depth", "topologies")
"""The parts that share one fit of each model."""

Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class ValidationOptions:
    """The settings of the parts.

    Args:
        seed: The seed of splits, samples and fits.
        sizes: The training sizes of the curve; 8 up to all architectures by default.
        repeats: Fits at each training size.
        share: The best share of architectures that counts as well-performing.
        threshold: The value from which an architecture counts as well-performing, instead of a share.
        points: The most points of the map.
        methods: The search methods of the searches.
        seeds: Runs of each search method.
        budget: The budget of each run, such as ``200ev``.
    """

    seed: int = 0
    sizes: tuple[int, ...] = ()
    repeats: int = 3
    share: float = WELL_PERFORMING
    threshold: float | None = None
    points: int = 2000
    methods: tuple[str, ...] = METHODS
    seeds: int = 10
    budget: str = "200ev"

    def __post_init__(self) -> None:
        BestRegion(self.share, self.threshold)  # refuses a share that is none

    @property
    def region(self) -> BestRegion:
        """The architectures that count as well-performing."""
        return BestRegion(self.share, self.threshold)

    def search_plan(self, out: Path, engine: Engine | None, step: Step) -> SearchPlan:
        """The searches of a validation in a folder; ``step`` is called after each run and each fit."""
        return SearchPlan(out / "searches", self.methods, self.seeds, self.budget, engine, lambda _: step())


def check_parts(parts: Sequence[str]) -> tuple[str, ...]:
    """The named parts in their order, all if none is named; raises for an unknown one."""
    for part in parts:
        if part not in PARTS:
            raise InvalidOption(f"no part of a validation is called {part!r}; {nearest(part, PARTS)}")
    return tuple(part for part in PARTS if part in parts or not parts)


def cannot_be_checked(split: TableSplit, parts: Sequence[str], options: ValidationOptions) -> dict[str, str]:
    """The parts that cannot be checked on a table, with reasons; no model is fitted for it."""
    data = ValidationData.of(split)
    checks: dict[str, Callable[[], object]] = {
        **dict.fromkeys(SHARED, lambda: data.test),
        **dict.fromkeys(("table", "noise"), partial(repeats_of, data)),
        "runtime": partial(check_times, data),
        "size": partial(check_sizes, data, options.sizes),
        "looo": partial(check_methods, data),
        "random": partial(random_rows, data),
        **dict.fromkeys(("best", "rest"), partial(options.region.rows, data)),
        "regions": lambda: check_region(ValidationData.of(search_split(split)), options.region),
        "topologies": partial(topology_design, data.space, options.seed),
        "methods": partial(check_profiles, data),
        "cells": partial(check_cells, data),
        "test": partial(metrics_to_compare, split.results),
        "trajectories": partial(check_searches, split.results),
    }
    reasons = {}
    for part in (part for part in parts if part in checks):
        try:
            checks[part]()
        except InvalidOption as reason:
            reasons[part] = str(reason)
    return reasons


def check_searches(results: Results) -> None:
    """Raise unless searches on surrogates can be compared with searches for real, or with those on a complete table."""
    if recorded_methods(results):
        check_recorded(results)
    else:
        check_complete(results)


def search_split(split: TableSplit) -> TableSplit:
    """The split of what searches optimise: the table's own objective at the highest fidelity. Rows that are not those
    of the validation get a new split, with the same seed."""
    results = split.results
    searched = validation_metric(results), results.cache().fidelities[-1], None, None
    if (split.metric, split.fidelity, split.methods, split.at_least) == searched:
        return split
    return TableSplit.of(results, seed=split.seed)


def steps(
    split: TableSplit, recipes: Sequence[SurrogateRecipe], parts: Sequence[str], options: ValidationOptions
) -> dict[str, int]:
    """The number of steps of each part, for progress bars; all parts must apply to the table."""
    data, models = ValidationData.of(split), len(recipes)
    seeds = len(repeats_of(data).seeds) if "table" in parts else 0
    recorded = recorded_methods(split.results)
    methods = recorded or options.methods
    runs = len(methods) * options.seeds
    of_model = 2 + len(methods) + 3 * runs if recorded else 1 + len(methods) + 2 * runs
    counts = {
        "fits": models,
        "table": models * seeds,
        "size": models * (len(options.sizes) or SIZES) * options.repeats,
        "looo": models * len(search_methods(data)),
        "random": models,
        "best": models,
        "rest": models,
        "regions": 3 * models * (1 + len(options.methods) * options.seeds),
        "trajectories": (0 if recorded else runs) + models * of_model,
    }
    shared = set(SHARED) & set(parts)
    return {part: count for part, count in counts.items() if part in parts or (part == "fits" and shared)}
