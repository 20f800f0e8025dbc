"""How well models fit a table: one split, all models, alone and as ensembles (section 3.1, table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nasbed.results.splits import Split, stratified_split
from nasbed.spaces.base import Codes
from nasbed.studies.validation.data import Data, Floats
from nasbed.studies.validation.fitting import Answer, Job, Recipe
from nasbed.studies.validation.scoring import Scatter, Scores, scatter, score
from nasbed.surrogates import Examples
from nasbed.surrogates.ensemble import Prediction
from nasbed.surrogates.figures import kl_figures
from nasbed.surrogates.scores import coverage

TEST = "test"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of an ensemble's normal distributions: the share of evaluations in the central 90 %, and the mean KL divergence
    from those of repeats, NaN without repeats. ``raw_…`` takes the spread of the members for the deviation."""

    coverage: float
    raw_coverage: float
    kl: float
    raw_kl: float


@dataclass(frozen=True, slots=True)
class Fit:
    """One model on the test part."""

    label: str
    scores: Scores
    points: Scatter
    fit_s: float = float("nan")
    query_s: float = float("nan")
    batch_s: float = float("nan")
    calibration: Calibration | None = None


@dataclass(frozen=True, slots=True)
class Fits:
    """All models, the best by sparse Kendall first; ``failed`` says which could not be fitted, and why."""

    train: int
    validation: int
    test: int
    fits: tuple[Fit, ...]
    failed: dict[str, str] = field(default_factory=dict)


def split_of(data: Data, seed: int) -> Split:
    """0.8/0.1/0.1 within each method, all evaluations of an architecture together."""
    return stratified_split(data.rows.method, data.rows.architecture, np.random.default_rng(seed))


def fit_jobs(
    data: Data, recipes: Sequence[Recipe], split: Split, asked: dict[str, Codes] | None = None, *, seed: int = 0
) -> list[Job]:
    """A job for each model: fitted on the train part, stopped on the validation part, asked for the test part and for
    what else is wanted of the same models."""
    train, valid, test = (data.rows.take(part) for part in (split.train, split.validation, split.test))
    batches = {TEST: test.codes} | (asked or {})
    return [Job(recipe, data.space, train, valid if len(valid) else None, batches, seed) for recipe in recipes]


def fits(data: Data, split: Split, recipes: Sequence[Recipe], found: Sequence[Answer | str], *, seed: int = 0) -> Fits:
    """The table of models from the answers to their jobs."""
    test = data.rows.take(split.test)
    rng = np.random.default_rng(seed)
    good, failed = [], {}
    for recipe, each in zip(recipes, found, strict=True):
        if isinstance(each, str):
            failed[recipe.label] = each
            continue
        fit = one_fit(data, recipe.label, test, each.means[TEST], each.ensembles.get(TEST), rng)
        good.append(Fit(fit.label, fit.scores, fit.points, each.fit_s, each.query_s, each.batch_s, fit.calibration))
    good.sort(key=lambda fit: -np.nan_to_num(fit.scores.sparse_kendall, nan=-2.0))
    return Fits(len(split.train), len(split.validation), len(split.test), tuple(good), failed)


def one_fit(
    data: Data, label: str, test: Examples, mean: Floats, ensemble: Prediction | None, rng: np.random.Generator
) -> Fit:
    """One model on some evaluations that it has not seen."""
    told = None if ensemble is None else calibration(ensemble, test)
    return Fit(label, score(test.y, mean, data.metric), scatter(test.y, mean, rng), calibration=told)


def calibration(found: Prediction, test: Examples) -> Calibration:
    """How honest an ensemble is about its errors, before and after calibration."""
    divergence = kl_figures(found, test)
    return Calibration(
        coverage=coverage(test.y, found.mean, found.std),
        raw_coverage=coverage(test.y, found.mean, found.spread),
        kl=divergence.get("kl", float("nan")),
        raw_kl=divergence.get("raw_kl", float("nan")),
    )
