"""Fits that leave out part of the data on purpose, and how they do on it: a method's evaluations (section 3.1.8,
appendix E.5), all but random search's (F.3), all but the best (F.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.experiments.campaign.plan import NOT_METHODS
from nasbed.studies.validation.data import Data
from nasbed.studies.validation.fitting import FitJob, FitProgress, Recipe, answers, split_in_two
from nasbed.studies.validation.scoring import Scatter, Scores, scatter, score

RANDOM_SEARCH = ("rs", "random", "random_search")
"""What tables call it."""
WELL_PERFORMING = 0.25
FEWEST = 20
"""Evaluations, on either side, from which a fit or a figure is made."""


@dataclass(frozen=True, slots=True)
class LeftOutFit:
    """One model fitted on ``train`` evaluations and tested on groups that it has seen no architecture of."""

    label: str
    model: str
    train: int
    scores: dict[str, Scores]  # by group
    points: Scatter  # of the first group


@dataclass(frozen=True, slots=True)
class LeftOuts:
    """``label`` of each says what was left out; ``failed`` says, by label and model, why a fit could not be made."""

    fits: tuple[LeftOutFit, ...]
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Rows to fit on and groups of rows to test on."""

    label: str
    train: NDArray[np.bool_]
    groups: dict[str, NDArray[np.bool_]]


def search_methods(data: Data) -> list[str]:
    """The methods of a table, without what campaigns label rows with that no method proposed, such as repeats."""
    return [method for method in data.methods if method not in NOT_METHODS]


def leave_one_optimizer_out(
    data: Data,
    recipes: Sequence[Recipe],
    *,
    seed: int = 0,
    engine: Engine | None = None,
    on_fit: FitProgress | None = None,
) -> LeftOuts:
    """Predict what a method evaluated from what the others did, without the architectures that they share with it
    (table 7)."""
    check_methods(data)
    plans = [_without(data, method) for method in search_methods(data)]
    return _left_out(data, recipes, plans, seed, engine, on_fit)


def check_methods(data: Data) -> None:
    """Raise unless a table has methods of which one can be left out."""
    methods = search_methods(data)
    if len(methods) < 2:
        raise InvalidOption(f"leaving one method out needs at least 2, {data.name} names {len(methods)}")


def _without(data: Data, method: str) -> _Plan:
    rows = data.rows
    by_method = rows.method == method
    return _Plan(method, ~np.isin(rows.architecture, rows.architecture[by_method]), {"its evaluations": by_method})


def random_only(
    data: Data,
    recipes: Sequence[Recipe],
    *,
    seed: int = 0,
    engine: Engine | None = None,
    on_fit: FitProgress | None = None,
) -> LeftOuts:
    """Predict what the methods found from what random search did (appendix F.3)."""
    rows = data.rows
    by_random = random_rows(data)
    unseen = ~np.isin(rows.architecture, rows.architecture[by_random])
    groups = {"everything else": unseen, "its best tenth": unseen & _best(data, 0.1, unseen)}
    groups |= {method: unseen & (rows.method == method) for method in data.methods if method not in RANDOM_SEARCH}
    return _left_out(data, recipes, [_Plan("random search only", by_random, groups)], seed, engine, on_fit)


def random_rows(data: Data) -> NDArray[np.bool_]:
    """Which rows random search evaluated; raises where it did none or all."""
    by_random: NDArray[np.bool_] = np.isin(data.rows.method, RANDOM_SEARCH)
    if not by_random.any() or by_random.all():
        raise InvalidOption(f"{data.name} does not name random search and another method")
    return by_random


def well_performing_only(
    data: Data,
    recipes: Sequence[Recipe],
    *,
    share: float = WELL_PERFORMING,
    seed: int = 0,
    engine: Engine | None = None,
    on_fit: FitProgress | None = None,
) -> LeftOuts:
    """Predict the rest from the best architectures, less a tenth of them that is tested too (appendix F.2).

    Args:
        data: The evaluations.
        recipes: The models.
        share: The best part that counts as well-performing.
        seed: Of the fits, and of the tenth.
        engine: Where models are fitted.
        on_fit: Called after each fit.
    """
    if not 0 < share < 1:
        raise InvalidOption(f"the best share of a table is between 0 and 1, got {share}")
    rows = data.rows
    best = _best(data, share, np.ones(len(rows), dtype=bool))
    chosen = np.unique(rows.architecture[best])
    tested = np.random.default_rng(seed).permutation(chosen)[: max(1, len(chosen) // 10)]
    held_out = np.isin(rows.architecture, tested)
    groups = {"everything else": ~best, "a tenth of the best, held out": best & held_out}
    return _left_out(
        data, recipes, [_Plan(f"the best {100 * share:.3g} % only", best & ~held_out, groups)], seed, engine, on_fit
    )


def _best(data: Data, share: float, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The rows of the architectures with the best means among some rows."""
    rows = data.rows
    sign = 1.0 if data.metric.direction == "maximize" else -1.0
    _, owner = np.unique(rows.architecture, return_inverse=True)
    mean = sign * (np.bincount(owner, rows.y) / np.bincount(owner))
    present = np.unique(owner[among])
    if not len(present):
        return np.zeros(len(rows), dtype=bool)
    mask: NDArray[np.bool_] = (mean >= np.quantile(mean[present], 1 - share))[owner]
    return mask


def _left_out(
    data: Data,
    recipes: Sequence[Recipe],
    plans: Sequence[_Plan],
    seed: int,
    engine: Engine | None,
    on_fit: FitProgress | None,
) -> LeftOuts:
    jobs: list[FitJob] = []
    planned: list[tuple[_Plan, Recipe]] = []
    failed = {}
    for plan in plans:
        first = next(iter(plan.groups.values()))
        if min(plan.train.sum(), first.sum()) < FEWEST:
            failed[plan.label] = (
                f"a fit and its test take at least {FEWEST} evaluations each, here are {plan.train.sum()} and "
                f"{first.sum()}"
            )
            continue
        train, valid = split_in_two(data.rows.take(plan.train), seed)
        batches = {name: data.rows.codes[group] for name, group in plan.groups.items() if group.sum() >= FEWEST}
        jobs += [FitJob(recipe, data.space, train, valid, batches, seed) for recipe in recipes]
        planned += [(plan, recipe) for recipe in recipes]
    rng = np.random.default_rng(seed)
    fits = []
    for (plan, recipe), outcome in zip(planned, answers(jobs, engine, on_fit), strict=True):
        if isinstance(outcome, str):
            failed[f"{plan.label}, {recipe.label}"] = outcome
            continue
        truths = {name: data.rows.y[plan.groups[name]] for name in outcome.means}
        first_name = next(iter(truths))
        fits.append(
            LeftOutFit(
                plan.label,
                recipe.label,
                int(plan.train.sum()),
                {name: score(truths[name], mean, data.metric) for name, mean in outcome.means.items()},
                scatter(truths[first_name], outcome.means[first_name], rng),
            )
        )
    return LeftOuts(tuple(fits), failed)
