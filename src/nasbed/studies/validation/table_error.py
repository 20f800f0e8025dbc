"""A surrogate against a table with one entry an architecture, where seeds were repeated (section 2, tables 1, 3 and
4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nasbed.core.execution import Engine
from nasbed.studies.validation.data import Data, Floats, Repeats, repeats_of
from nasbed.studies.validation.fitting import Job, Recipe, Told, answers
from nasbed.studies.validation.scoring import Scores, score
from nasbed.surrogates import Examples

TABLE = "table"
ALL, BETTER = "all", "better half"


@dataclass(frozen=True, slots=True)
class Rotation:
    """Scores against the mean of the other seeds, one for each seed that was fitted on."""

    label: str  # TABLE, or that of a model
    group: str  # ALL or BETTER
    by_seed: tuple[Scores, ...]

    def mean(self, name: str) -> float:
        """The mean over seeds of one of the scores."""
        return float(np.mean([getattr(each, name) for each in self.by_seed]))


@dataclass(frozen=True, slots=True)
class AgainstTable:
    """``failed`` says which models could not be fitted, and why."""

    architectures: int
    seeds: tuple[int, ...]
    rotations: tuple[Rotation, ...]
    failed: dict[str, str] = field(default_factory=dict)

    def of(self, label: str, group: str = ALL) -> Rotation:
        """That of the table or of one model."""
        return next(each for each in self.rotations if (each.label, each.group) == (label, group))


def surrogate_against_table(
    data: Data, recipes: Sequence[Recipe], *, seed: int = 0, engine: Engine | None = None, told: Told | None = None
) -> AgainstTable:
    """Fit on one seed, compare with the mean of the others, and rotate. Only architectures with all seeds count; the
    better half is chosen by that mean."""
    repeats = repeats_of(data)
    places = range(len(repeats.seeds))
    jobs = [Job(recipe, data.space, one_seed(repeats, place), None, {ALL: repeats.codes}, seed)
            for recipe in recipes for place in places]  # fmt: skip
    found = answers(jobs, engine, told)
    rotations = _rotations(TABLE, repeats, [repeats.y[:, place] for place in places], data)
    failed = {}
    for number, recipe in enumerate(recipes):
        own = found[number * len(places) : (number + 1) * len(places)]
        reasons = [each for each in own if isinstance(each, str)]
        if reasons:
            failed[recipe.label] = reasons[0]
            continue
        means = [each.means[ALL] for each in own if not isinstance(each, str)]
        rotations += _rotations(recipe.label, repeats, means, data)
    return AgainstTable(len(repeats.codes), repeats.seeds, tuple(rotations), failed)


def one_seed(repeats: Repeats, place: int, rows: NDArray[np.int64] | None = None) -> Examples:
    """What the table would be with one seed alone, or some rows of it."""
    chosen = np.arange(len(repeats.codes)) if rows is None else rows
    return Examples.plain(repeats.codes[chosen], repeats.y[chosen, place])


def _rotations(label: str, repeats: Repeats, predicted: Sequence[Floats], data: Data) -> list[Rotation]:
    sign = 1.0 if data.metric.direction == "maximize" else -1.0
    whole, half = [], []
    for place, each in enumerate(predicted):
        truth = repeats.others(place)
        better = sign * truth >= np.median(sign * truth)
        whole.append(score(truth, each, data.metric))
        half.append(score(truth[better], each[better], data.metric))
    return [Rotation(label, ALL, tuple(whole)), Rotation(label, BETTER, tuple(half))]
