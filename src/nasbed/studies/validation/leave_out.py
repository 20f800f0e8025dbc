"""Fits without part of the data, tested on that part.

Left out are a method's evaluations (section 3.1.8, appendix E.5), all but random search's (F.3), all but the best
(F.2), or the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.experiments.campaign.plan import NOT_METHODS
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.fit_tasks import FitJob, Fitter, SurrogateRecipe, split_in_two
from nasbed.studies.validation.scoring import Scatter, Scores, scatter, score


@dataclass(frozen=True, slots=True)
class LeftOutFit:
    """One model fitted on ``train`` evaluations and tested on groups of unseen architectures."""

    label: str
    model: str
    train: int
    scores: dict[str, Scores]  # by group
    points: Scatter  # of the first group


@dataclass(frozen=True, slots=True)
class LeftOuts:
    """The fits, and the reasons for missing fits by label and model. A label says what was left out."""

    fits: tuple[LeftOutFit, ...]
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Rows to fit on and groups of rows to test on."""

    label: str
    train: NDArray[np.bool_]
    groups: dict[str, NDArray[np.bool_]]


def search_methods(data: ValidationData) -> list[str]:
    """The methods of a table, without the labels of rows that no method proposed, such as repeats."""
    return [method for method in data.methods if method not in NOT_METHODS]


def leave_one_optimizer_out(data: ValidationData, fitter: Fitter) -> LeftOuts:
    """Predict the evaluations of each method from those of the other methods (table 7).

    Architectures that a method shares with the others are not fitted on.
    """
    check_methods(data)
    return _left_out(data, fitter, [_without(data, method) for method in search_methods(data)])


def check_methods(data: ValidationData) -> None:
    """Raise unless a table names at least two search methods."""
    methods = search_methods(data)
    if len(methods) < 2:
        raise InvalidOption(f"leaving one method out needs at least 2, {data.name} names {len(methods)}")


def _without(data: ValidationData, method: str) -> _Plan:
    rows = data.rows
    return _Plan(method, ~rows.is_of_architectures_by([method]), {"its evaluations": rows.method == method})


RANDOM_SEARCH = ("rs", "random", "random_search")
"""The names of random search in tables."""


def random_only(data: ValidationData, fitter: Fitter) -> LeftOuts:
    """Predict the evaluations of the other methods from those of random search (appendix F.3)."""
    rows = data.rows
    by_random = random_rows(data)
    unseen = ~np.isin(rows.architecture, rows.architecture[by_random])
    groups = {"everything else": unseen, "its best tenth": unseen & _best(data, 0.1, unseen)}
    groups |= {method: unseen & (rows.method == method) for method in data.methods if method not in RANDOM_SEARCH}
    return _left_out(data, fitter, [_Plan("random search only", by_random, groups)])


def random_rows(data: ValidationData) -> NDArray[np.bool_]:
    """The rows that random search evaluated; raises where these are none or all."""
    by_random: NDArray[np.bool_] = np.isin(data.rows.method, RANDOM_SEARCH)
    if not by_random.any() or by_random.all():
        raise InvalidOption(f"{data.name} does not name random search and another method")
    return by_random


WELL_PERFORMING = 0.25
"""The best share of architectures that counts as well-performing."""


@dataclass(frozen=True, slots=True)
class BestRegion:
    """The well-performing architectures by their mean: the best ``share``, or those at least as good as ``threshold``.

    The paper's region is a validation accuracy of 92 % and above (section 3.1.8).
    """

    share: float = WELL_PERFORMING
    threshold: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InvalidOption(f"the best share of a table is between 0 and 1, got {self.share}")

    @property
    def label(self) -> str:
        """The name of the region, such as ``the best 25 %``."""
        if self.threshold is None:
            return f"the best {100 * self.share:.3g} %"
        return f"the best from {self.threshold:g} on"

    def rows(self, data: ValidationData) -> NDArray[np.bool_]:
        """The evaluations of its architectures; raises where these are none or all."""
        best = _best(data, self.share, np.ones(len(data.rows), dtype=bool), threshold=self.threshold)
        if best.all() or not best.any():
            count = "all" if best.all() else "none"
            raise InvalidOption(f"the region of {self.label} has some architectures of {data.name}, got {count}")
        return best


def well_performing_only(data: ValidationData, fitter: Fitter, *, region: BestRegion | None = None) -> LeftOuts:
    """Predict all other architectures from the best ones (appendix F.2).

    A tenth of the best is held out and tested too; the seed of the fits chooses it.
    """
    region = region or BestRegion()
    best = region.rows(data)
    held_out = _held_out(data, best, fitter.seed)
    groups = {"everything else": ~best, "a tenth of the best, held out": held_out}
    return _left_out(data, fitter, [_Plan(f"{region.label} only", best & ~held_out, groups)])


def well_performing_unseen(data: ValidationData, fitter: Fitter, *, region: BestRegion | None = None) -> LeftOuts:
    """Predict the best architectures from all others: the reverse of appendix F.2, and what a search must trust when it
    leaves the data that a surrogate was fitted on. A tenth of the others is held out and tested too."""
    region = region or BestRegion()
    best = region.rows(data)
    held_out = _held_out(data, ~best, fitter.seed)
    groups = {region.label: best, "a tenth of the others, held out": held_out}
    return _left_out(data, fitter, [_Plan(f"all but {region.label}", ~best & ~held_out, groups)])


def _held_out(data: ValidationData, rows: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    """The rows of a random tenth of the architectures that some rows have."""
    architectures = np.unique(data.rows.architecture[rows])
    tested = np.random.default_rng(seed).permutation(architectures)[: max(1, len(architectures) // 10)]
    mask: NDArray[np.bool_] = np.isin(data.rows.architecture, tested)
    return mask


def _best(
    data: ValidationData, share: float, among: NDArray[np.bool_], *, threshold: float | None = None
) -> NDArray[np.bool_]:
    """The rows of the architectures whose mean is in the best share among the given rows, or passes a threshold."""
    rows = data.rows
    sign = 1.0 if data.metric.direction == "maximize" else -1.0
    _, owner = np.unique(rows.architecture, return_inverse=True)
    mean = sign * (np.bincount(owner, rows.y) / np.bincount(owner))
    present = np.unique(owner[among])
    if not len(present):
        return np.zeros(len(rows), dtype=bool)
    least = np.quantile(mean[present], 1 - share) if threshold is None else sign * threshold
    mask: NDArray[np.bool_] = (mean >= least)[owner]
    return mask


FEWEST = 20
"""The least number of evaluations to fit on, and to test on."""


def _left_out(data: ValidationData, fitter: Fitter, plans: Sequence[_Plan]) -> LeftOuts:
    jobs: list[FitJob] = []
    planned: list[tuple[_Plan, SurrogateRecipe]] = []
    failed = {}
    for plan in plans:
        first = next(iter(plan.groups.values()))
        if min(plan.train.sum(), first.sum()) < FEWEST:
            failed[plan.label] = (
                f"a fit and its test need at least {FEWEST} evaluations each, got {plan.train.sum()} and {first.sum()}"
            )
            continue
        train, valid = split_in_two(data.rows.take(plan.train), fitter.seed)
        batches = {name: data.rows.codes[group] for name, group in plan.groups.items() if group.sum() >= FEWEST}
        jobs += [FitJob(recipe, data.space, train, valid, batches, fitter.seed) for recipe in fitter.recipes]
        planned += [(plan, recipe) for recipe in fitter.recipes]
    rng = np.random.default_rng(fitter.seed)
    fits = []
    for (plan, recipe), outcome in zip(planned, fitter.answers(jobs), strict=True):
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
