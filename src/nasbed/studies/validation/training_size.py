"""The error by training size, and the size from which a surrogate beats a table (figures 1 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.studies.validation.data import RepeatedSeeds, ValidationData, one_seed, repeats_of
from nasbed.studies.validation.fit_tasks import FitAnswer, FitJob, Fitter, joined
from nasbed.studies.validation.scoring import score
from nasbed.surrogates import Examples
from nasbed.surrogates.base import Floats


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """One model: errors and correlations ``[sizes, repeats]``, NaN where it could not be fitted."""

    label: str
    mae: Floats
    kendall: Floats


@dataclass(frozen=True, slots=True)
class TrainingSize:
    """The curves of the models over training sizes.

    ``table_mae`` and ``table_kendall`` are those of a table of one seed, NaN where no seed is repeated. ``crossings``
    has, by model, the numbers of architectures from which its mean error is below the table's and its mean correlation
    above; NaN where it never is. ``failed`` has the reasons for missing fits.
    """

    sizes: tuple[int, ...]
    tested: int
    curves: tuple[SizeCurve, ...]
    table_mae: float
    table_kendall: float
    crossings: dict[str, tuple[float, float]]
    failed: dict[str, str] = field(default_factory=dict)


def training_size(data: ValidationData, fitter: Fitter, *, sizes: Sequence[int] = (), repeats: int = 3) -> TrainingSize:
    """Fit on more and more random architectures, ``repeats`` times at each of ``sizes``.

    With repeated seeds, models are fitted on one evaluation of architectures and tested on the repeated ones against
    the mean of the other seeds, as a table is. Without, they are fitted on the train part and tested on the test part.
    By default there are 8 sizes, up to all architectures.
    """
    try:
        repeated: RepeatedSeeds | None = repeats_of(data)
    except InvalidOption:
        repeated = None
    jobs, truths, sizes = _plan(data, repeated, fitter, sizes, repeats)
    results = iter(fitter.answers(jobs))
    line = _table_line(data, repeated)
    curves, failed = [], {}
    for recipe in fitter.recipes:
        errors, correlations = np.full((2, len(sizes), repeats), np.nan)
        for cell in np.ndindex(len(sizes), repeats):
            outcome = next(results)
            if isinstance(outcome, FitAnswer):
                scores = score(truths[cell[1]], outcome.means[TESTED], data.metric)
                errors[cell], correlations[cell] = scores.mae, scores.kendall
            else:
                failed[f"{recipe.label}, {sizes[cell[0]]} architectures"] = outcome
        curves.append(SizeCurve(recipe.label, errors, correlations))
    crossings = {curve.label: _crossings(sizes, curve, line) for curve in curves}
    return TrainingSize(tuple(sizes), len(truths[0]), tuple(curves), *line, crossings, failed)


SIZES = 8
SMALLEST = 100


def default_sizes(most: int) -> tuple[int, ...]:
    """Numbers of architectures up to all, spaced evenly on a logarithmic scale.

    >>> default_sizes(8169)
    (100, 188, 352, 660, 1238, 2322, 4355, 8169)
    """
    low = min(SMALLEST, most)
    return tuple(np.unique(np.round(np.geomspace(low, most, SIZES)).astype(int)).tolist())


def crossing(sizes: Sequence[int], gap: Floats) -> float:
    """The size from which a gap stays at or below zero, interpolated between the logarithms of sizes.

    NaN where the gap is above zero at the last size. Sizes without a fit, NaN, do not count.

    >>> crossing([10, 100, 1000], np.array([2.0, 1.0, -1.0])).__round__()
    316
    """
    finite = np.isfinite(gap)
    logs, gap = np.log(np.asarray(sizes, dtype=np.float64)[finite]), gap[finite]
    if not len(gap) or gap[-1] > 0:
        return float("nan")
    above = np.flatnonzero(gap > 0)
    if not len(above):
        return float(np.exp(logs[0]))
    last = int(above[-1])
    share = gap[last] / (gap[last] - gap[last + 1])
    return float(np.exp(logs[last] + share * (logs[last + 1] - logs[last])))


def check_sizes(data: ValidationData, sizes: Sequence[int]) -> None:
    """Raise unless a table has architectures to test on, and enough to fit on for the largest size."""
    try:
        repeated: RepeatedSeeds | None = repeats_of(data)
    except InvalidOption:
        repeated = None
    numbers = np.unique(data.rows.architecture) if repeated is not None else _fitted_and_test(data)[2]
    _chosen_sizes(sizes, len(numbers))


def _chosen_sizes(sizes: Sequence[int], most: int) -> list[int]:
    ordered = sorted(sizes or default_sizes(most))
    if ordered[0] < 1 or ordered[-1] > most:
        raise InvalidOption(f"training sizes are 1 to {most} architectures here, got {ordered}")
    return ordered


def _fitted_and_test(data: ValidationData) -> tuple[Examples, Examples, NDArray[np.int64]]:
    """The rows to fit on, the rows to test on, and the architectures to fit on."""
    fitted = joined(data.rows.take(data.split.train), data.rows.take(data.split.validation))
    return fitted, data.test, np.unique(fitted.architecture)


TESTED = "tested"
"""The batch of architectures that each fit is tested on."""


def _plan(
    data: ValidationData, repeated: RepeatedSeeds | None, fitter: Fitter, sizes: Sequence[int], repeats: int
) -> tuple[list[FitJob], list[Floats], list[int]]:
    """The jobs by model, size and repeat; the truths by repeat; the sizes."""
    if repeats < 1:
        raise InvalidOption(f"a curve needs at least 1 repeat, got {repeats}")
    if repeated is None:
        fitted, test, numbers = _fitted_and_test(data)
        tested, truths = test.codes, [test.y] * repeats
    else:
        numbers = np.unique(data.rows.architecture)
        seeds = len(repeated.seeds)
        tested, truths = repeated.codes, [repeated.mean_without(repeat % seeds) for repeat in range(repeats)]
    ordered = _chosen_sizes(sizes, len(numbers))
    orders = [np.random.default_rng([fitter.seed, repeat]).permutation(numbers) for repeat in range(repeats)]

    jobs = []
    for recipe in fitter.recipes:
        for size in ordered:
            for repeat in range(repeats):
                architectures = np.sort(orders[repeat][:size])
                rows = fitted if repeated is None else one_seed(data, repeated, repeat % len(repeated.seeds))
                train = rows.take(np.isin(rows.architecture, architectures))
                jobs.append(FitJob(recipe, data.space, train, None, {TESTED: tested}, fitter.seed + repeat))
    return jobs, truths, ordered


def _table_line(data: ValidationData, repeated: RepeatedSeeds | None) -> tuple[float, float]:
    if repeated is None:
        return float("nan"), float("nan")
    by_seed = [
        score(repeated.mean_without(column), repeated.y[:, column], data.metric)
        for column in range(len(repeated.seeds))
    ]
    return float(np.mean([scores.mae for scores in by_seed])), float(np.mean([scores.kendall for scores in by_seed]))


def _crossings(sizes: Sequence[int], curve: SizeCurve, line: tuple[float, float]) -> tuple[float, float]:
    if not np.isfinite(line[0]):
        return float("nan"), float("nan")
    error, correlation = curve.mae.mean(axis=1), curve.kendall.mean(axis=1)
    return crossing(sizes, np.log(error / line[0])), crossing(sizes, line[1] - correlation)
