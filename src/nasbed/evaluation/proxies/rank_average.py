"""Several proxies as one: the mean of their ranks, judged on architectures that were not used to choose them.

The published proxies differ in what they look at, so their errors may cancel. To test this fairly, proxies are chosen
on one half of the architectures and judged on the other, and so is the best single one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, UnknownName, nearest, shorten
from nasbed.evaluation.proxies.tasks import RankedTask
from nasbed.evaluation.ranking import Measure, persistence_for, rbo_normalised, spearman, top_count, within_top
from nasbed.evaluation.significance import Interval

Floats = NDArray[np.float64]

SMALLEST_TOP = 5
"""The least number of items for which the order within a top is meaningful."""


def score_columns(scores: Mapping[str, Floats], proxies: Sequence[str] | None = None) -> Floats:
    """A column for each proxy, ``[architectures, proxies]``: the mean over the seeds that gave a score, -inf where none
    did, so that what has no score comes last.

    >>> score_columns({"a": np.array([[1.0, 3.0], [np.nan, 5.0], [np.nan, np.nan]])}).ravel().tolist()
    [2.0, 5.0, -inf]
    """
    columns = []
    for name in scores if proxies is None else proxies:
        if name not in scores:
            raise UnknownName(f"there are no scores by {shorten(name)}; {nearest(name, scores)}")
        table = scores[name]
        finite = np.isfinite(table)
        count = finite.sum(axis=1)
        columns.append(np.where(count > 0, np.where(finite, table, 0.0).sum(axis=1) / np.maximum(count, 1), -np.inf))
    return np.stack(columns, axis=1)


def ranks_of_scores(columns: Floats) -> Floats:
    """Each column's ranks on a scale from 0 to 1, the highest score highest; equal scores share their mean rank.

    >>> ranks_of_scores(np.array([[10.0], [30.0], [20.0], [30.0]])).ravel().tolist()
    [0.125, 0.75, 0.375, 0.75]
    """
    from scipy.stats import rankdata

    ranks: Floats = (rankdata(columns, axis=0) - 0.5) / len(columns)
    return ranks


def rank_average(scores: Mapping[str, Floats], proxies: Sequence[str] | None = None) -> Floats:
    """The mean rank of each architecture over proxies, all of them by default: a score, higher being better.

    >>> rank_average({"a": np.array([[1.0], [2.0]]), "b": np.array([[5.0], [5.0]])}).tolist()
    [0.375, 0.625]
    """
    means: Floats = ranks_of_scores(score_columns(scores, proxies)).mean(axis=1)
    return means


@dataclass(frozen=True, slots=True)
class SplitHalfResult:
    """One measure of three scorings on the halves of the architectures that were not chosen on, ``[halves]`` each."""

    measure: str
    single: Floats
    every: Floats
    chosen: Floats
    single_names: tuple[str, ...]
    chosen_names: tuple[tuple[str, ...], ...]
    level: float = 0.95

    def interval(self, values: Floats) -> Interval:
        """The mean over halves and where the middle 95 % of them lie. Halves share architectures, so this measures the
        effect of the split; it is not a significance test."""
        finite = values[~np.isnan(values)]
        if not len(finite):
            return Interval(*[float("nan")] * 3)
        low, high = np.quantile(finite, [(1 - self.level) / 2, (1 + self.level) / 2])
        return Interval(float(finite.mean()), float(low), float(high))

    @property
    def gain(self) -> Interval:
        """The chosen average less the best single proxy."""
        return self.interval(self.chosen - self.single)

    @property
    def gain_of_all(self) -> Interval:
        """The average of all proxies less the best single one."""
        return self.interval(self.every - self.single)

    @property
    def wins(self) -> float:
        """The share of halves on which the chosen average is ahead of the best single proxy, half of each tie."""
        return float(((self.chosen > self.single) + 0.5 * (self.chosen == self.single)).mean())

    def shares(self) -> dict[str, float]:
        """In what share of the halves each proxy was chosen, the most frequent first."""
        names = sorted({name for names_of_half in self.chosen_names for name in names_of_half})
        counts = {name: sum(name in names_of_half for names_of_half in self.chosen_names) for name in names}
        return {name: counts[name] / len(self.chosen_names) for name in sorted(names, key=lambda n: -counts[n])}


def greedy(truth: Floats, ranks: Floats, measure: Measure) -> list[int]:
    """Which columns of ``ranks [n, proxies]`` to average: the best one, then repeatedly the one that raises the measure
    of the average most, until none raises it.

    >>> truth = np.arange(6.0)
    >>> greedy(truth, np.array([[0, 1, 2, 4, 3, 5], [1, 0, 2, 3, 5, 4], [5, 4, 3, 2, 1, 0]]).T.astype(float), spearman)
    [0, 1]
    """
    selected: list[int] = []
    best = -np.inf
    total = np.zeros(len(truth))
    while len(selected) < ranks.shape[1]:
        candidates = [column for column in range(ranks.shape[1]) if column not in selected]
        results = [_number(measure(truth, total + ranks[:, column])) for column in candidates]
        place = int(np.argmax(results))
        if selected and results[place] <= best:
            break
        best = results[place]
        selected.append(candidates[place])
        total = total + ranks[:, candidates[place]]
    return selected


def measures_for(items: int, *, top_percent: float = 1, weight: float = 0.5) -> dict[str, Measure]:
    """The measures of figures 1 to 3 for ``items`` items: Spearman over all, within the top, and normalised RBO. The
    last two are left out where the top is too small to have an order."""
    measures: dict[str, Measure] = {"spearman": spearman}
    if items * top_percent / 100 >= SMALLEST_TOP and top_count(items, top_percent) >= SMALLEST_TOP:
        measures["top"] = partial(within_top, percent=top_percent, measure=spearman)
        p = persistence_for(items, top_percent=top_percent, weight=weight)
        measures["rbo"] = partial(rbo_normalised, p=p)
    return measures


def combine_proxies(
    task: RankedTask, rng: np.random.Generator, *, halves: int = 20, top_percent: float = 1, weight: float = 0.5
) -> dict[str, SplitHalfResult]:
    """Rank averages of proxies against the best single proxy, chosen on one half of the architectures and measured on
    the other.

    For each measure there are three scorings: the average of the proxies chosen by it, the average of all, and the best
    single proxy. Ranks are taken within a half, and the top is that of the half.

    Args:
        task: The architectures with their scores and true values.
        rng: Draws the halves.
        halves: The number of random halves.
        top_percent: The size of the top, in per cent.
        weight: The weight of the top in rank-biased overlap.
    """
    if halves < 1 or len(task) < 4:
        raise InvalidOption(
            f"proxies are combined on 1 half or more of 4 architectures or more, got {halves} of {len(task)}"
        )
    columns, names = score_columns(task.scores), task.proxies
    measures = measures_for(len(task) // 2, top_percent=top_percent, weight=weight)
    values: dict[str, list[list[float]]] = {name: [] for name in measures}
    singles: dict[str, list[str]] = {name: [] for name in measures}
    sets: dict[str, list[tuple[str, ...]]] = {name: [] for name in measures}
    for _ in range(halves):
        order = rng.permutation(len(task))
        size = len(task) // 2
        chosen_on, judged_on = order[:size], order[size : 2 * size]
        ranks, judged_ranks = ranks_of_scores(columns[chosen_on]), ranks_of_scores(columns[judged_on])
        for name, measure in measures.items():
            selected = greedy(task.truth[chosen_on], ranks, measure)
            judged = (judged_ranks[:, selected[0]], judged_ranks.mean(axis=1), judged_ranks[:, selected].mean(axis=1))
            values[name].append([measure(task.truth[judged_on], scores) for scores in judged])
            singles[name].append(names[selected[0]])
            sets[name].append(tuple(names[column] for column in selected))
    results = {}
    for name in measures:
        single, full_average, chosen_average = np.array(values[name]).T
        results[name] = SplitHalfResult(
            name, single, full_average, chosen_average, tuple(singles[name]), tuple(sets[name])
        )
    return results


def _number(value: float) -> float:
    return -np.inf if np.isnan(value) else value
