"""All checks of a surrogate, or of a table that is to become one, in one go; those that do not apply say why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption, nearest
from nasbed.core.execution import Engine
from nasbed.core.metric import Metric
from nasbed.results.store import Results
from nasbed.spaces.base import Codes
from nasbed.studies.validation.data import Data, Floats, read_data, repeats_of
from nasbed.studies.validation.embedding import Embedding, tsne
from nasbed.studies.validation.fits import TEST, Fits, fit_jobs, fits, split_of
from nasbed.studies.validation.fitting import Recipe, answers
from nasbed.studies.validation.left_out import (
    WELL_PERFORMING,
    LeftOuts,
    check_methods,
    leave_one_optimizer_out,
    random_only,
    random_rows,
    search_methods,
    well_performing_only,
)
from nasbed.studies.validation.parameter_free import (
    Design,
    ParameterFree,
    parameter_free,
    parameter_free_design,
)
from nasbed.studies.validation.published import Published, published
from nasbed.studies.validation.searches import searches, whole_table
from nasbed.studies.validation.table_error import AgainstTable, surrogate_against_table
from nasbed.studies.validation.topology import Topology, topology
from nasbed.studies.validation.training_size import SIZES, TrainingSize, check_sizes, training_size
from nasbed.studies.validation.trajectories import METHODS, Trajectories

PARTS = {
    "fits": "how well each model fits",
    "table": "surrogate against a table of one seed",
    "size": "error by number of training architectures",
    "looo": "leaving one search method out",
    "random": "fitted on random search only",
    "best": "fitted on the best only",
    "free": "parameter-free operations",
    "depth": "rank correlation by cell depth",
    "tsne": "a map of the data",
    "trajectories": "searches on the surrogate and on the table",
}
FREE = "parameter-free"

Told = Callable[[str], None]
"""Called with the name of a part, once for each step of it that ended."""
Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Options:
    """``sizes`` and ``repeats`` are those of the curve over training sizes, ``methods``, ``seeds`` and ``budget`` those
    of the searches, ``share`` the best part that counts as well-performing."""

    seed: int = 0
    sizes: tuple[int, ...] = ()
    repeats: int = 3
    share: float = WELL_PERFORMING
    points: int = 2000
    methods: tuple[str, ...] = METHODS
    seeds: int = 10
    budget: str = "200ev"


@dataclass(frozen=True, slots=True)
class Validation:
    """What was found; a part that was not asked for or does not apply is ``None``, and ``left_out`` says why.
    ``models`` are the ids of the models by their labels."""

    subject: str
    table: str
    space: str
    metric: Metric
    evaluations: int
    architectures: int
    methods: tuple[str, ...]
    models: Mapping[str, str]
    paper: Published | None = None
    notes: tuple[str, ...] = ()
    fits: Fits | None = None
    table_error: AgainstTable | None = None
    size: TrainingSize | None = None
    looo: LeftOuts | None = None
    random: LeftOuts | None = None
    best: LeftOuts | None = None
    free: ParameterFree | None = None
    depth: Topology | None = None
    tsne: Embedding | None = None
    trajectories: Trajectories | None = None
    left_out: Mapping[str, str] | None = None


def check_parts(parts: Sequence[str]) -> tuple[str, ...]:
    """The parts that are named, all of them if none is, in their order; raises for an unknown one."""
    for part in parts:
        if part not in PARTS:
            raise InvalidOption(f"no part of a validation is called {part!r}; {nearest(part, PARTS)}")
    return tuple(part for part in PARTS if part in parts or not parts)


def validate_results(
    results: Results,
    recipes: Sequence[Recipe],
    *,
    out: Path,
    parts: Sequence[str] = (),
    metric: Metric | None = None,
    fidelity: int | None = None,
    options: Options | None = None,
    engine: Engine | None = None,
    told: Told | None = None,
) -> Validation:
    """Fit models on a table and validate them. ``out`` keeps the runs and surrogates of the searches."""
    wanted, chosen = check_parts(parts), options or Options()
    if not recipes:
        raise InvalidOption("a validation needs at least 1 model, got none")
    data = read_data(results, metric=metric, fidelity=fidelity)
    left_out = cannot_be_checked(data, results, wanted, chosen)
    wanted = tuple(part for part in wanted if part not in left_out)
    found = about_data(data, data.name, {recipe.label: recipe.model for recipe in recipes})
    seed, studied = chosen.seed, (data, recipes)
    checks: dict[str, Callable[[Step], dict[str, Any]]] = {
        "table": lambda step: {
            "table_error": surrogate_against_table(*studied, seed=seed, engine=engine, told=step),
        },
        "size": lambda step: {
            "size": training_size(
                *studied, sizes=chosen.sizes, repeats=chosen.repeats, seed=seed, engine=engine, told=step
            ),
        },
        "looo": lambda step: {"looo": leave_one_optimizer_out(*studied, seed=seed, engine=engine, told=step)},
        "random": lambda step: {"random": random_only(*studied, seed=seed, engine=engine, told=step)},
        "best": lambda step: {
            "best": well_performing_only(*studied, share=chosen.share, seed=seed, engine=engine, told=step)
        },
        "tsne": lambda _: {"tsne": tsne(data, points=chosen.points, seed=seed)},
        "trajectories": lambda step: {
            "trajectories": searches(
                results,
                recipes,
                out=out,
                methods=chosen.methods,
                seeds=chosen.seeds,
                budget=chosen.budget,
                seed=seed,
                engine=engine,
                ran=lambda _: step(),
            )
        },
    }
    for part in (each for each in wanted if each in checks):
        try:
            found = replace(found, **checks[part](_teller(part, told)))
        except InvalidOption as reason:
            left_out[part] = str(reason)
    found = _with_shared_fits(found, data, recipes, wanted, chosen, engine, _teller("fits", told), left_out)
    return replace(found, left_out=left_out)


def cannot_be_checked(data: Data, results: Results, parts: Sequence[str], options: Options) -> dict[str, str]:
    """The parts that cannot be checked on a table, and why; known before any work."""
    fitted: Callable[[], object] = partial(_check_tested, data, options.seed)
    checks: dict[str, Callable[[], object]] = {
        **dict.fromkeys(("fits", "free", "depth"), fitted),
        "table": partial(repeats_of, data),
        "size": partial(check_sizes, data, options.sizes, options.seed),
        "looo": partial(check_methods, data),
        "random": partial(random_rows, data),
        "trajectories": partial(whole_table, results),
    }
    found = {}
    for part in (each for each in parts if each in checks):
        try:
            checks[part]()
        except InvalidOption as reason:
            found[part] = str(reason)
    return found


def _check_tested(data: Data, seed: int) -> None:
    if not len(split_of(data, seed).test):
        raise InvalidOption(f"a tenth of the architectures is for testing, {data.name} has too few")


def _teller(part: str, told: Told | None) -> Step:
    return lambda: told(part) if told is not None else None


def about_data(data: Data, subject: str, models: Mapping[str, str]) -> Validation:
    """A validation in which nothing has been checked yet."""
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
    found: Validation,
    data: Data,
    recipes: Sequence[Recipe],
    wanted: Sequence[str],
    options: Options,
    engine: Engine | None,
    told: Step,
    left_out: dict[str, str],
) -> Validation:
    """The parts that one fit of each model answers together."""
    mine = [part for part in ("fits", "free", "depth") if part in wanted]
    if not mine:
        return found
    split = split_of(data, options.seed)
    test = data.rows.take(split.test)
    asked: dict[str, Codes] = {}
    design: Design | None = None
    if "free" in mine:
        fitted = data.rows.codes[np.concatenate([split.train, split.validation])]
        design = design_of(data, test.codes, fitted, options.seed, left_out)
        if design is not None:
            asked[FREE] = design.codes
    each = answers(fit_jobs(data, recipes, split, asked, seed=options.seed), engine, told)
    table = fits(data, split, recipes, each, seed=options.seed)
    if "fits" in mine:
        found = replace(found, fits=table)
    good = {recipe.label: one for recipe, one in zip(recipes, each, strict=True) if not isinstance(one, str)}
    if not good:
        left_out |= dict.fromkeys(mine, f"no model could be fitted: {next(iter(table.failed.values()))}")
        return replace(found, fits=None)
    if design is not None:
        lines = parameter_free(data, design, {label: one.means[FREE] for label, one in good.items()})
        found = replace(found, free=lines)
    if "depth" in mine:
        predicted = {label: one.means[TEST] for label, one in good.items()}
        found = replace(found, depth=depth_of(data, test.codes, test.y, predicted, left_out))
    return found


def design_of(data: Data, codes: Codes, fitted: Codes, seed: int, left_out: dict[str, str]) -> Design | None:
    """Changed architectures that were not fitted on; why not is added to what is left out where there are none."""
    try:
        found = parameter_free_design(data.space, codes, np.random.default_rng(seed)).without(fitted)
    except InvalidOption as reason:
        left_out["free"] = str(reason)
        return None
    if not len(found.codes):
        left_out["free"] = f"all architectures of {data.name} with replaced operations were fitted on"
        return None
    return found


def depth_of(
    data: Data, codes: Codes, truth: Floats, predicted: Mapping[str, Floats], left_out: dict[str, str]
) -> Topology | None:
    """The check by depth; why not is added to what is left out where it does not apply."""
    try:
        return topology(data, codes, truth, predicted)
    except InvalidOption as reason:
        left_out["depth"] = str(reason)
        return None


def steps(data: Data, recipes: Sequence[Recipe], parts: Sequence[str], options: Options) -> dict[str, int]:
    """How many steps the parts have, for a bar of each; all of them must be such as can be checked."""
    models = len(recipes)
    seeds = len(repeats_of(data).seeds) if "table" in parts else 0
    runs = len(options.methods) * options.seeds
    each = {
        "fits": models,
        "table": models * seeds,
        "size": models * (len(options.sizes) or SIZES) * options.repeats,
        "looo": models * len(search_methods(data)),
        "random": models,
        "best": models,
        "trajectories": runs + models * (1 + len(options.methods) + 2 * runs),
    }
    shared = {"fits", "free", "depth"} & set(parts)
    return {part: count for part, count in each.items() if part in parts or (part == "fits" and shared)}
