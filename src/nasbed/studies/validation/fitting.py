"""Models to be fitted and asked, as tasks that any engine can carry out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine, SerialEngine
from nasbed.results.splits import stratified_split
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.surrogates import SURROGATES, Examples
from nasbed.surrogates.ensemble import Ensemble, Prediction, fit_ensemble

Floats = NDArray[np.float64]
FitProgress = Callable[[], None]
"""Called once for each fit that ended."""

TIMED_QUERIES = 30


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model by its id, alone or as an ensemble of several members.

    >>> Recipe("lgb").label, Recipe("lgb", members=10).label
    ('lgb', '10 × lgb')
    """

    model: str
    members: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.model if self.members == 1 else f"{self.members} × {self.model}"


@dataclass(frozen=True, slots=True)
class FitJob:
    """Fit a model, then ask it for some batches of architectures, by name."""

    recipe: Recipe
    space: SearchSpace
    train: Examples
    valid: Examples | None
    batches: Mapping[str, Codes]
    seed: int = 0


@dataclass(frozen=True, slots=True)
class FitAnswer:
    """``ensembles`` has the deviations too, where the model is an ensemble. ``query_s`` is the time of one architecture
    asked by itself, the median of several; ``batch_s`` that of one among many."""

    means: Mapping[str, Floats]
    ensembles: Mapping[str, Prediction]
    fit_s: float
    query_s: float
    batch_s: float


def answer(job: FitJob) -> FitAnswer:
    """Carry out one job."""
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


def answers(
    jobs: Sequence[FitJob], engine: Engine | None = None, on_fit: FitProgress | None = None
) -> list[FitAnswer | str]:
    """The answers in the order of the jobs; a text that says why where there is none."""
    results: list[FitAnswer | str] = [""] * len(jobs)
    for outcome in (engine or SerialEngine()).map_unordered(answer, jobs):
        results[outcome.task] = outcome.error or outcome.result
        if on_fit is not None:
            on_fit()
    return results


def split_in_two(rows: Examples, seed: int) -> tuple[Examples, Examples | None]:
    """Nine tenths to fit on and one to stop early on, within each method (section 3.1.8)."""
    parts = stratified_split(rows.method, rows.architecture, np.random.default_rng(seed), fractions=(0.9, 0.1, 0.0))
    if not len(parts.train):
        raise InvalidOption(f"a fit needs at least 1 evaluation, got {len(parts.train)}")
    return rows.take(parts.train), rows.take(parts.validation) if len(parts.validation) else None


def joined(first: Examples, second: Examples | None) -> Examples:
    """Two sets of rows as one."""
    if second is None:
        return first
    names = ("codes", "y", "cost_s", "architecture", "method", "seed")
    columns: dict[str, Any] = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in names}
    return replace(first, **columns)


def _mean_of(ensemble: Ensemble) -> Callable[[Codes], Floats]:
    return lambda codes: ensemble.predict(codes).mean


def query_times(predict: Callable[[Codes], Floats], codes: Codes) -> tuple[float, float]:
    """Seconds of one query and of one architecture in a batch, after a first that may compile."""
    predict(codes[:1])
    single = []
    for number in range(min(TIMED_QUERIES, len(codes))):
        start = perf_counter()
        predict(codes[number : number + 1])
        single.append(perf_counter() - start)
    start = perf_counter()
    predict(codes)
    return float(np.median(single)), (perf_counter() - start) / len(codes)
