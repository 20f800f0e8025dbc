"""Fits of models and their predictions, as tasks that any engine can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine, SerialEngine
from nasbed.results.splits import stratified_split
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.surrogates import SURROGATES, Examples
from nasbed.surrogates.base import Floats
from nasbed.surrogates.ensemble import Ensemble, Prediction, fit_ensemble

FitProgress = Callable[[], None]
"""Called after each fit."""

TIMED_QUERIES = 30


@dataclass(frozen=True, slots=True)
class SurrogateRecipe:
    """A model by its id, alone or as an ensemble of several members.

    >>> SurrogateRecipe("lgb").label, SurrogateRecipe("lgb", members=10).label
    ('lgb', '10 × lgb')
    """

    model: str
    members: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    """The name of the paper's settings, where some of the settings are from there."""

    @property
    def label(self) -> str:
        return self.model if self.members == 1 else f"{self.members} × {self.model}"

    @property
    def note(self) -> str:
        """The settings that differ from the model's defaults, in words; empty where none does."""
        if not self.settings:
            return ""
        values = ", ".join(f"{name} = {value!r}" for name, value in self.settings.items())
        return f"{self.model} has {values}" + (f" (preset {self.preset})" if self.preset else "")


@dataclass(frozen=True, slots=True)
class FitJob:
    """A model to fit, and named batches of architectures that it then predicts."""

    recipe: SurrogateRecipe
    space: SearchSpace
    train: Examples
    valid: Examples | None
    batches: Mapping[str, Codes]
    seed: int = 0


@dataclass(frozen=True, slots=True)
class FitAnswer:
    """The predictions of a fitted model, and its times.

    ``ensembles`` has the deviations too, where the model is an ensemble. ``query_s`` is the median time of a query for
    one architecture, ``batch_s`` the time for one architecture in a batch.
    """

    means: Mapping[str, Floats]
    ensembles: Mapping[str, Prediction]
    fit_s: float
    query_s: float
    batch_s: float


def answer(job: FitJob) -> FitAnswer:
    """Fit the model of a job and predict its batches."""
    start = perf_counter()
    recipe = job.recipe
    predict: Callable[[Codes], Floats]
    if recipe.members == 1:
        model = SURROGATES.get(recipe.model)(job.space, seed=job.seed, settings=recipe.settings or None)
        model.fit(job.train, job.valid)
        predict, ensemble = model.predict, None
    else:
        ensemble = fit_ensemble(
            recipe.model,
            job.space,
            joined(job.train, job.valid),
            members=recipe.members,
            settings=recipe.settings or None,
            seed=job.seed,
        )
        predict = _mean_of(ensemble)
    fit_s = perf_counter() - start
    query_s, batch_s = query_times(predict, next(iter(job.batches.values())))
    if ensemble is None:
        return FitAnswer({name: predict(codes) for name, codes in job.batches.items()}, {}, fit_s, query_s, batch_s)
    predictions = {name: ensemble.predict(codes) for name, codes in job.batches.items()}
    means = {name: prediction.mean for name, prediction in predictions.items()}
    return FitAnswer(means, predictions, fit_s, query_s, batch_s)


@dataclass(frozen=True, slots=True)
class Fitter:
    """The models of a validation and how they are fitted.

    Args:
        recipes: The models.
        seed: The seed of the fits, and of the choices that a part makes.
        engine: Where models are fitted; in this process by default.
        on_fit: Called after each fit.
    """

    recipes: Sequence[SurrogateRecipe]
    seed: int = 0
    engine: Engine | None = None
    on_fit: FitProgress | None = None

    def answers(self, jobs: Sequence[FitJob]) -> list[FitAnswer | str]:
        """The answers in the order of the jobs; the reason as text for a job that failed."""
        results: list[FitAnswer | str] = [""] * len(jobs)
        for outcome in (self.engine or SerialEngine()).map_unordered(answer, jobs):
            results[outcome.task] = outcome.error or outcome.result
            if self.on_fit is not None:
                self.on_fit()
        return results


def split_in_two(rows: Examples, seed: int) -> tuple[Examples, Examples | None]:
    """Nine tenths to fit on and one to stop early on, within each method (section 3.1.8)."""
    parts = stratified_split(rows.method, rows.architecture, np.random.default_rng(seed), fractions=(0.9, 0.1, 0.0))
    if not len(parts.train):
        raise InvalidOption(f"a fit needs at least 1 evaluation, got {len(parts.train)}")
    return rows.take(parts.train), rows.take(parts.validation) if len(parts.validation) else None


def joined(first: Examples, second: Examples | None) -> Examples:
    """Two sets of rows, concatenated."""
    if second is None:
        return first
    names = ("codes", "y", "cost_s", "architecture", "method", "seed")
    columns: dict[str, Any] = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in names}
    return replace(first, **columns)


def _mean_of(ensemble: Ensemble) -> Callable[[Codes], Floats]:
    return lambda codes: ensemble.predict(codes).mean


def query_times(predict: Callable[[Codes], Floats], codes: Codes) -> tuple[float, float]:
    """Seconds of a query for one architecture, and for one in a batch.

    A first query, which may compile, does not count.
    """
    predict(codes[:1])
    single = []
    for number in range(min(TIMED_QUERIES, len(codes))):
        start = perf_counter()
        predict(codes[number : number + 1])
        single.append(perf_counter() - start)
    start = perf_counter()
    predict(codes)
    return float(np.median(single)), (perf_counter() - start) / len(codes)
