"""All checks of models on a table; those that do not apply have a reason instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.core.metric import Metric
from nasbed.results.store import Results
from nasbed.spaces.base import Codes
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.evaluations.cell_distributions import CellDistributions, cell_distributions
from nasbed.studies.validation.evaluations.embedding import Embedding, tsne
from nasbed.studies.validation.evaluations.method_profiles import MethodProfiles, method_profiles
from nasbed.studies.validation.evaluations.seed_noise import SeedNoise, seed_noise
from nasbed.studies.validation.evaluations.split_agreement import SplitAgreement, split_agreement
from nasbed.studies.validation.fit_tasks import Fitter, SurrogateRecipe
from nasbed.studies.validation.fits import TEST, Fits, fit_jobs, fits
from nasbed.studies.validation.leave_out import (
    LeftOuts,
    leave_one_optimizer_out,
    random_only,
    well_performing_only,
    well_performing_unseen,
)
from nasbed.studies.validation.parameter_free import (
    ParameterFree,
    ReplacementDesign,
    parameter_free,
    parameter_free_design,
)
from nasbed.studies.validation.parts import (
    SHARED,
    Step,
    ValidationOptions,
    cannot_be_checked,
    check_parts,
    search_split,
)
from nasbed.studies.validation.published import PublishedFigures, published
from nasbed.studies.validation.runtime import RuntimeFit, runtime_of_table
from nasbed.studies.validation.searches.benchmarks import searches
from nasbed.studies.validation.searches.recorded import recorded_methods, recorded_searches
from nasbed.studies.validation.searches.regions import RegionSearches, region_searches
from nasbed.studies.validation.searches.trajectories import TrajectoryComparison
from nasbed.studies.validation.table_error import AgainstTable, surrogate_against_table
from nasbed.studies.validation.topology import Topology, topology
from nasbed.studies.validation.topology_effects import DESIGN, TopologyEffects, topology_design, topology_effects
from nasbed.studies.validation.training_size import TrainingSize, training_size
from nasbed.surrogates.base import Floats
from nasbed.surrogates.table_split import TableSplit

FREE = "parameter-free"
PartProgress = Callable[[str], None]
"""Called with the name of a part after each step of it."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The numbers of a validation.

    A part that was not chosen or does not apply is ``None``; ``left_out`` has the reason. ``models`` are the ids of the
    models by their labels.
    """

    subject: str
    table: str
    space: str
    metric: Metric
    evaluations: int
    architectures: int
    methods: tuple[str, ...]
    models: Mapping[str, str]
    paper: PublishedFigures | None = None
    notes: tuple[str, ...] = ()
    fits: Fits | None = None
    runtime: RuntimeFit | None = None
    table_error: AgainstTable | None = None
    size: TrainingSize | None = None
    looo: LeftOuts | None = None
    random: LeftOuts | None = None
    best: LeftOuts | None = None
    rest: LeftOuts | None = None
    free: ParameterFree | None = None
    depth: Topology | None = None
    topologies: TopologyEffects | None = None
    profiles: MethodProfiles | None = None
    cells: CellDistributions | None = None
    noise: SeedNoise | None = None
    test: SplitAgreement | None = None
    tsne: Embedding | None = None
    regions: tuple[RegionSearches, ...] | None = None
    trajectories: TrajectoryComparison | None = None
    left_out: Mapping[str, str] | None = None


def validate_results(
    data: Results | TableSplit,
    recipes: Sequence[SurrogateRecipe],
    *,
    out: str | Path,
    parts: Sequence[str] = (),
    metric: Metric | None = None,
    fidelity: int | None = None,
    options: ValidationOptions | None = None,
    engine: Engine | None = None,
    on_step: PartProgress | None = None,
) -> Validation:
    """Fit models on a table and validate them.

    Args:
        data: A split of a table; a table alone is split by ``metric``, ``fidelity`` and the seed of ``options``.
        recipes: The models.
        out: The folder that keeps the runs and surrogates of the searches.
        parts: Those of :data:`PARTS` to check; all by default.
        metric: The metric to predict; the table's validation metric by default.
        fidelity: The fidelity of the evaluations; the highest by default.
        options: The seed, sizes and budgets of the parts.
        engine: Where models are fitted; in this process by default.
        on_step: Called with the name of a part after each step of it.
    """
    out = Path(out)
    options = options or ValidationOptions()
    selection = check_parts(parts)
    if not recipes:
        raise InvalidOption("a validation needs at least 1 model, got none")
    split = TableSplit.from_data(data, metric=metric, fidelity=fidelity, seed=options.seed)
    evaluations = ValidationData.of(split)
    left_out = cannot_be_checked(split, selection, options)
    selection = tuple(part for part in selection if part not in left_out)
    validation = replace(
        about_data(evaluations, evaluations.name, {recipe.label: recipe.model for recipe in recipes}),
        notes=tuple(dict.fromkeys(recipe.note for recipe in recipes if recipe.note)),
    )
    fitter = Fitter(recipes, options.seed, engine)
    checks = _checks(split, evaluations, fitter, options, out)
    for part in (part for part in selection if part in checks):
        field, check = checks[part]
        try:
            validation = replace(validation, **{field: check(step_of(part, on_step))})
        except InvalidOption as reason:
            left_out[part] = str(reason)
    validation = with_data_checks(validation, data_checks(evaluations, split.results, options), selection, left_out)
    fitter = replace(fitter, on_fit=step_of("fits", on_step))
    validation = _with_shared_fits(validation, evaluations, split.results, fitter, selection, left_out)
    return replace(validation, left_out=left_out)


def _checks(
    split: TableSplit, data: ValidationData, fitter: Fitter, options: ValidationOptions, out: Path
) -> dict[str, tuple[str, Callable[[Step], Any]]]:
    """By part, the field of a validation and the function that computes it, except for the parts with shared fits."""

    def fitted(check: Callable[..., Any], **more: Any) -> Callable[[Step], Any]:
        return lambda step: check(data, replace(fitter, on_fit=step), **more)

    def searched(step: Step) -> TrajectoryComparison:
        plan = options.search_plan(out, fitter.engine, step)
        compared = recorded_searches if recorded_methods(split.results) else searches
        return compared(search_split(split), fitter.recipes, plan, out=out)

    def searched_by_region(step: Step) -> tuple[RegionSearches, ...]:
        plan = options.search_plan(out, fitter.engine, step)
        return region_searches(search_split(split), fitter.recipes, plan, out=out, region=options.region)

    return {
        "runtime": ("runtime", lambda _: runtime_of_table(data, seed=options.seed)),
        "table": ("table_error", fitted(surrogate_against_table)),
        "size": ("size", fitted(training_size, sizes=options.sizes, repeats=options.repeats)),
        "looo": ("looo", fitted(leave_one_optimizer_out)),
        "random": ("random", fitted(random_only)),
        "best": ("best", fitted(well_performing_only, region=options.region)),
        "rest": ("rest", fitted(well_performing_unseen, region=options.region)),
        "regions": ("regions", searched_by_region),
        "trajectories": ("trajectories", searched),
    }


DataChecks = Mapping[str, tuple[str, Callable[[], Any]]]
"""By part, the field of a validation and the function that computes it."""


def data_checks(data: ValidationData, results: Results, options: ValidationOptions) -> DataChecks:
    """The parts that describe the evaluations and need no model."""
    return {
        "methods": ("profiles", partial(method_profiles, data)),
        "cells": ("cells", partial(cell_distributions, data)),
        "noise": ("noise", partial(seed_noise, data)),
        "test": ("test", partial(split_agreement, data, results, seed=options.seed)),
        "tsne": ("tsne", partial(tsne, data, points=options.points, seed=options.seed)),
    }


def with_data_checks(
    validation: Validation, checks: DataChecks, parts: Sequence[str], left_out: dict[str, str]
) -> Validation:
    """A validation with the chosen ones of :func:`data_checks`; ``left_out`` gets the reasons for those that do not
    apply."""
    for part, (field, check) in checks.items():
        if part in parts:
            try:
                validation = replace(validation, **{field: check()})
            except InvalidOption as reason:
                left_out[part] = str(reason)
    return validation


def step_of(part: str, on_step: PartProgress | None) -> Step:
    """A function that reports a step of the part."""
    return lambda: on_step(part) if on_step is not None else None


def about_data(data: ValidationData, subject: str, models: Mapping[str, str]) -> Validation:
    """A validation without results yet."""
    count = len(np.unique(data.rows.architecture))
    return Validation(
        subject=subject,
        table=data.name,
        space=data.space.name,
        metric=data.metric,
        evaluations=len(data.rows),
        architectures=count,
        methods=tuple(data.methods),
        models=models,
        paper=published(data.space.name, data.metric),
    )


def _with_shared_fits(
    validation: Validation,
    data: ValidationData,
    results: Results,
    fitter: Fitter,
    parts: Sequence[str],
    left_out: dict[str, str],
) -> Validation:
    """The parts that share one fit of each model.

    Args:
        validation: The validation so far.
        data: The evaluations.
        results: Their table.
        fitter: The models.
        parts: The parts to check.
        left_out: Reasons by part.
    """
    shared = [part for part in SHARED if part in parts]
    if not shared:
        return validation
    test = data.test
    batches: dict[str, Codes] = {}
    design: ReplacementDesign | None = None
    if "free" in shared:
        fitted = data.rows.codes[data.split.fitted]
        design = design_of(data, test.codes, fitted, fitter.seed, left_out)
        if design is not None:
            batches[FREE] = design.codes
    if "topologies" in shared:
        topologies = topology_design(data.space, fitter.seed)
        batches[DESIGN] = data.space.canonical_codes(topologies)
    outcomes = fitter.answers(fit_jobs(data, fitter, batches))
    table = fits(data, fitter, outcomes)
    if "fits" in shared:
        validation = replace(validation, fits=table)
    by_label = {
        recipe.label: outcome
        for recipe, outcome in zip(fitter.recipes, outcomes, strict=True)
        if not isinstance(outcome, str)
    }
    if not by_label:
        left_out |= dict.fromkeys(shared, f"no model could be fitted: {next(iter(table.failed.values()))}")
        return replace(validation, fits=None)
    if design is not None:
        lines = parameter_free(data, design, {label: answer.means[FREE] for label, answer in by_label.items()})
        validation = replace(validation, free=lines)
    if "depth" in shared:
        predicted = {label: answer.means[TEST] for label, answer in by_label.items()}
        validation = replace(validation, depth=depth_of(data, test.codes, test.y, predicted, left_out))
    if "topologies" in shared:
        predicted = {label: answer.means[DESIGN] for label, answer in by_label.items()}
        validation = replace(validation, topologies=topology_effects(data, results, topologies, predicted))
    return validation


def design_of(
    data: ValidationData, codes: Codes, fitted: Codes, seed: int, left_out: dict[str, str]
) -> ReplacementDesign | None:
    """Changed architectures that no model was fitted on; ``left_out`` gets the reason where there are none.

    Args:
        data: The evaluations.
        codes: The architectures to change.
        fitted: The architectures that models were fitted on.
        seed: The seed of the changes.
        left_out: Reasons by part.
    """
    try:
        design = parameter_free_design(data.space, codes, np.random.default_rng(seed)).without(fitted)
    except InvalidOption as reason:
        left_out["free"] = str(reason)
        return None
    if not len(design.codes):
        left_out["free"] = f"all architectures of {data.name} with replaced operations were fitted on"
        return None
    return design


def depth_of(
    data: ValidationData, codes: Codes, truth: Floats, predicted: Mapping[str, Floats], left_out: dict[str, str]
) -> Topology | None:
    """The check by depth; ``left_out`` gets the reason where it does not apply.

    Args:
        data: The evaluations.
        codes: The architectures of the test part.
        truth: Their evaluations.
        predicted: The predictions of each model for them, by label.
        left_out: Reasons by part.
    """
    try:
        return topology(data, codes, truth, predicted)
    except InvalidOption as reason:
        left_out["depth"] = str(reason)
        return None
