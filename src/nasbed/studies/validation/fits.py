"""How well models fit a table, alone and as ensembles, on one split for all (section 3.1, table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nasbed.spaces.base import Codes
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.fit_tasks import FitAnswer, FitJob, Fitter
from nasbed.studies.validation.scoring import Scatter, Scores, scatter, score
from nasbed.surrogates import Examples
from nasbed.surrogates.base import Floats
from nasbed.surrogates.ensemble import Prediction
from nasbed.surrogates.quality import kl_figures
from nasbed.surrogates.scores import coverage

TEST = "test"


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of an ensemble's normal distributions.

    ``coverage`` is the share of evaluations in the central 90 %. ``kl`` is the mean KL divergence from the
    distributions of repeats, NaN without repeats. ``raw_…`` takes the spread of the members for the deviation.
    """

    coverage: float
    raw_coverage: float
    kl: float
    raw_kl: float


@dataclass(frozen=True, slots=True)
class ModelFit:
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
    """All models, the best by sparse Kendall first. ``failed`` has the reasons for models that could not be fitted."""

    train: int
    validation: int
    test: int
    fits: tuple[ModelFit, ...]
    failed: dict[str, str] = field(default_factory=dict)


def fit_jobs(data: ValidationData, fitter: Fitter, more: dict[str, Codes] | None = None) -> list[FitJob]:
    """A job for each model, which predicts the test part and ``more`` batches of architectures.

    A model is fitted on the train part and stopped early on the validation part.
    """
    train, valid, test = (data.rows.take(part) for part in data.split.parts)
    batches = {TEST: test.codes} | (more or {})
    return [
        FitJob(recipe, data.space, train, valid if len(valid) else None, batches, fitter.seed)
        for recipe in fitter.recipes
    ]


def fits(data: ValidationData, fitter: Fitter, outcomes: Sequence[FitAnswer | str]) -> Fits:
    """The fits of all models from the outcomes of their jobs."""
    test = data.test
    rng = np.random.default_rng(fitter.seed)
    fitted, failed = [], {}
    for recipe, outcome in zip(fitter.recipes, outcomes, strict=True):
        if isinstance(outcome, str):
            failed[recipe.label] = outcome
            continue
        fit = fit_figures(data, recipe.label, test, outcome.means[TEST], outcome.ensembles.get(TEST), rng)
        fitted.append(replace(fit, fit_s=outcome.fit_s, query_s=outcome.query_s, batch_s=outcome.batch_s))
    fitted.sort(key=lambda fit: -np.nan_to_num(fit.scores.sparse_kendall, nan=-2.0))
    split = data.split
    return Fits(len(split.train), len(split.validation), len(split.test), tuple(fitted), failed)


def fit_figures(
    data: ValidationData,
    label: str,
    test: Examples,
    mean: Floats,
    ensemble: Prediction | None,
    rng: np.random.Generator,
) -> ModelFit:
    """The figures of one model on evaluations that it has not seen.

    Args:
        data: The evaluations.
        label: The name of the model.
        test: The unseen evaluations.
        mean: The predictions for them.
        ensemble: The predictions with deviations, of an ensemble.
        rng: Draws the points of the figure.
    """
    calibrated = None if ensemble is None else calibration(ensemble, test)
    return ModelFit(label, score(test.y, mean, data.metric), scatter(test.y, mean, rng), calibration=calibrated)


def calibration(prediction: Prediction, test: Examples) -> Calibration:
    """How well the deviations of an ensemble fit its errors, before and after calibration."""
    divergence = kl_figures(prediction, test)
    return Calibration(
        coverage=coverage(test.y, prediction.mean, prediction.std),
        raw_coverage=coverage(test.y, prediction.mean, prediction.spread),
        kl=divergence.get("kl", float("nan")),
        raw_kl=divergence.get("raw_kl", float("nan")),
    )
