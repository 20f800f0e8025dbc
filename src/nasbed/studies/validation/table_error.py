"""A surrogate against a table with one seed, where seeds were repeated (section 2, tables 1, 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nasbed.studies.validation.data import RepeatedSeeds, ValidationData, one_seed, repeats_of
from nasbed.studies.validation.fit_tasks import FitJob, Fitter
from nasbed.studies.validation.scoring import Scores, score
from nasbed.surrogates.base import Floats
from nasbed.surrogates.scores import kl_divergence

TABLE = "table"
ALL, BETTER = "all", "better half"


@dataclass(frozen=True, slots=True)
class Rotation:
    """Scores against the mean of the other seeds, for each seed that was fitted on.

    Of an ensemble also, as means over seeds: ``sigma``, the spread between its members, and ``kl``, the divergence from
    the distribution of the other seeds to a normal one with that spread. Both are NaN for others; ``kl`` needs three
    seeds.
    """

    label: str  # TABLE, or that of a model
    group: str  # ALL or BETTER
    by_seed: tuple[Scores, ...]
    sigma: float = float("nan")
    kl: float = float("nan")

    def mean(self, name: str) -> float:
        """The mean over seeds of one of the scores."""
        return float(np.mean([getattr(scores, name) for scores in self.by_seed]))


@dataclass(frozen=True, slots=True)
class AgainstTable:
    """The scores of the table and of each model on ``architectures`` with repeated seeds; models are fitted on
    ``fitted``. ``failed`` has the reasons for models that could not be fitted."""

    architectures: int
    fitted: int
    seeds: tuple[int, ...]
    rotations: tuple[Rotation, ...]
    failed: dict[str, str] = field(default_factory=dict)

    def of(self, label: str, group: str = ALL) -> Rotation:
        """The rotation of the table or of one model."""
        return next(rotation for rotation in self.rotations if (rotation.label, rotation.group) == (label, group))


def surrogate_against_table(data: ValidationData, fitter: Fitter) -> AgainstTable:
    """Fit on one evaluation of every architecture, compare with the mean of the other seeds of the repeated ones, and
    rotate. The mean of the other seeds chooses the better half.
    """
    repeats = repeats_of(data)
    columns = range(len(repeats.seeds))
    jobs = [
        FitJob(recipe, data.space, one_seed(data, repeats, column), None, {ALL: repeats.codes}, fitter.seed)
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
        answers = [outcome for outcome in by_seed if not isinstance(outcome, str)]
        means = [answer.means[ALL] for answer in answers]
        spreads = [answer.ensembles[ALL].spread for answer in answers if ALL in answer.ensembles]
        rotations += _rotations(recipe.label, repeats, means, data, spreads)
    fitted = len(np.unique(data.rows.architecture))
    return AgainstTable(len(repeats.codes), fitted, repeats.seeds, tuple(rotations), failed)


def _rotations(
    label: str,
    repeats: RepeatedSeeds,
    predicted: Sequence[Floats],
    data: ValidationData,
    spreads: Sequence[Floats] = (),
) -> list[Rotation]:
    sign = 1.0 if data.metric.direction == "maximize" else -1.0
    groups: dict[str, list[tuple[Scores, float, float]]] = {ALL: [], BETTER: []}
    for column, values in enumerate(predicted):
        truth = repeats.mean_without(column)
        spread = spreads[column] if spreads else np.full(len(truth), np.nan)
        divergence = _divergence(repeats, column, values, spread)
        better = sign * truth >= np.median(sign * truth)
        for group, chosen in ((ALL, np.ones(len(truth), dtype=bool)), (BETTER, better)):
            scores = score(truth[chosen], values[chosen], data.metric)
            groups[group].append((scores, float(spread[chosen].mean()), _mean(divergence[chosen])))
    rotations = []
    for group, of_group in groups.items():
        by_seed, sigmas, divergences = zip(*of_group, strict=True)
        rotations.append(Rotation(label, group, by_seed, float(np.mean(sigmas)), float(np.mean(divergences))))
    return rotations


def _mean(values: Floats) -> float:
    """The mean of the values that are known, NaN where none is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _divergence(repeats: RepeatedSeeds, column: int, predicted: Floats, spread: Floats) -> Floats:
    """From the normal distribution of the seeds other than that of a column to the predicted one, by architecture."""
    others = np.delete(repeats.y, column, axis=1)
    divergence = np.full(len(predicted), np.nan)
    if others.shape[1] > 1:
        deviation = others.std(axis=1, ddof=1)
        known = (deviation > 0) & (spread > 0)  # equal evaluations are no distribution
        divergence[known] = kl_divergence(others[known].mean(axis=1), deviation[known], predicted[known], spread[known])
    return divergence
