"""A surrogate against a table with one seed, where seeds were repeated (section 2, tables 1, 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nasbed.studies.validation.data import RepeatedSeeds, ValidationData, repeats_of
from nasbed.studies.validation.fit_tasks import FitJob, Fitter
from nasbed.studies.validation.scoring import Scores, score
from nasbed.surrogates import Examples
from nasbed.surrogates.base import Floats

TABLE = "table"
ALL, BETTER = "all", "better half"


@dataclass(frozen=True, slots=True)
class Rotation:
    """Scores against the mean of the other seeds, for each seed that was fitted on."""

    label: str  # TABLE, or that of a model
    group: str  # ALL or BETTER
    by_seed: tuple[Scores, ...]

    def mean(self, name: str) -> float:
        """The mean over seeds of one of the scores."""
        return float(np.mean([getattr(scores, name) for scores in self.by_seed]))


@dataclass(frozen=True, slots=True)
class AgainstTable:
    """The scores of the table and of each model. ``failed`` has the reasons for models that could not be fitted."""

    architectures: int
    seeds: tuple[int, ...]
    rotations: tuple[Rotation, ...]
    failed: dict[str, str] = field(default_factory=dict)

    def of(self, label: str, group: str = ALL) -> Rotation:
        """The rotation of the table or of one model."""
        return next(rotation for rotation in self.rotations if (rotation.label, rotation.group) == (label, group))


def surrogate_against_table(data: ValidationData, fitter: Fitter) -> AgainstTable:
    """Fit on one seed, compare with the mean of the other seeds, and rotate.

    Only architectures with all seeds count. The mean of the other seeds chooses the better half.
    """
    repeats = repeats_of(data)
    columns = range(len(repeats.seeds))
    jobs = [
        FitJob(recipe, data.space, one_seed(repeats, column), None, {ALL: repeats.codes}, fitter.seed)
        for recipe in fitter.recipes
        for column in columns
    ]
    results = fitter.answers(jobs)
    rotations = _rotations(TABLE, repeats, [repeats.y[:, column] for column in columns], data)
    failed = {}
    for number, recipe in enumerate(fitter.recipes):
        by_seed = results[number * len(columns) : (number + 1) * len(columns)]
        reasons = [outcome for outcome in by_seed if isinstance(outcome, str)]
        if reasons:
            failed[recipe.label] = reasons[0]
            continue
        means = [outcome.means[ALL] for outcome in by_seed if not isinstance(outcome, str)]
        rotations += _rotations(recipe.label, repeats, means, data)
    return AgainstTable(len(repeats.codes), repeats.seeds, tuple(rotations), failed)


def one_seed(repeats: RepeatedSeeds, column: int, rows: NDArray[np.int64] | None = None) -> Examples:
    """The table with one seed only, or some rows of it."""
    numbers = np.arange(len(repeats.codes)) if rows is None else rows
    return Examples.plain(repeats.codes[numbers], repeats.y[numbers, column])


def _rotations(label: str, repeats: RepeatedSeeds, predicted: Sequence[Floats], data: ValidationData) -> list[Rotation]:
    sign = 1.0 if data.metric.direction == "maximize" else -1.0
    of_all, of_better = [], []
    for column, values in enumerate(predicted):
        truth = repeats.mean_without(column)
        better = sign * truth >= np.median(sign * truth)
        of_all.append(score(truth, values, data.metric))
        of_better.append(score(truth[better], values[better], data.metric))
    return [Rotation(label, ALL, tuple(of_all)), Rotation(label, BETTER, tuple(of_better))]
