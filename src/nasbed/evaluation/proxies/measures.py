"""The measures that a proxy is judged by, for one column of scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.metric import Metric
from nasbed.evaluation.ranking import (
    best_rank_at,
    kendall,
    ndcg_at,
    persistence_for,
    precision_at,
    rbo_extrapolated,
    rbo_normalised,
    recall_at,
    sparse_kendall,
    spearman,
    top_count,
    within_top,
)
from nasbed.evaluation.ranking.columns import Floats
from nasbed.surrogates.scores import precision_of

HEADLINES = ("spearman", "top_spearman", "rbo")
"""The measures that have an interval and are tested against the baseline."""

MEASURES = (
    *HEADLINES,
    "kendall",
    "sparse_kendall",
    "rbo_textbook",
    "precision",
    "recall",
    "best_rank",
    "ndcg",
)
CONSTANT = "all scores are equal"


@dataclass(frozen=True, slots=True)
class Yardstick:
    """How the scores of a task are measured. ``top`` is the number of truly best architectures that count as the top.
    ``p`` is the persistence of rank-biased overlap. The truth is rounded to multiples of ``grid`` for a sparse Kendall.
    ``missing`` has, by measure, the reason why it is undefined for all scores."""

    items: int
    top_percent: float
    top: int
    weight: float
    p: float
    k: int
    grid: float
    missing: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, truth: Floats, metric: Metric, *, top_percent: float, weight: float, k: int) -> Yardstick:
        """The yardstick of a task.

        Args:
            truth: The true values.
            metric: The metric that they are of.
            top_percent: The size of the top, in per cent.
            weight: The weight of the top in rank-biased overlap.
            k: How many architectures a search could train.
        """
        items = len(truth)
        if items < 2:
            raise InvalidOption(f"a ranking has 2 architectures or more, scores and table share {items}; score more")
        if not 0 < top_percent <= 100:
            raise InvalidOption(f"the top is more than 0 and at most 100 percent, got {shorten(top_percent)}")
        if not 0 < weight < 1:
            raise InvalidOption(f"the weight of the top is above 0 and below 1, got {shorten(weight)}")
        if k < 1:
            raise InvalidOption(f"a search trains 1 architecture or more, got k = {shorten(k)}")
        missing: dict[str, str] = {}
        p, top = float("nan"), 0
        try:
            top = top_count(items, top_percent)
            p = persistence_for(items, top_percent=top_percent, weight=weight)
        except InvalidOption as error:
            missing |= dict.fromkeys(("rbo", "rbo_textbook"), str(error))
        if top < 2:
            count = "less than one" if not top else "a single one"
            missing["top_spearman"] = f"the top {top_percent:g} % of {items} architectures is {count}"
        if not top:
            missing |= dict.fromkeys(("precision", "recall"), missing["top_spearman"])
        if truth.min() < 0:
            missing["ndcg"] = "gains are at least 0, some true values are below"
        return cls(items, top_percent, top, weight, p, min(k, items), precision_of(metric, truth), missing)

    @property
    def chance(self) -> float:
        """The expected rank-biased overlap of random scores."""
        if "rbo" in self.missing:
            return float("nan")
        return rbo_normalised(np.arange(self.items, dtype=np.float64), np.zeros(self.items), p=self.p)

    def measured(self, truth: Floats, scores: Floats) -> dict[str, float]:
        """Every measure of one column of scores, NaN where it is undefined. Equal scores stand for the mean over
        their orders; at the boundary of the top, the first of equal true values count."""
        functions: dict[str, Callable[[Floats, Floats], float]] = {
            "kendall": kendall,
            "sparse_kendall": partial(sparse_kendall, precision=self.grid, rounded="truth"),
            "rbo_textbook": partial(rbo_extrapolated, p=self.p),
            "precision": partial(precision_at, k=self.k, best=self.top),
            "recall": partial(recall_at, k=self.top, best=self.top),
            "best_rank": partial(best_rank_at, k=self.k),
            "ndcg": partial(ndcg_at, k=self.k),
        }
        return self.headlines(truth, scores) | self._values(functions, truth, scores)

    def headlines(self, truth: Floats, scores: Floats) -> dict[str, float]:
        """Those of :meth:`measured` that are in :data:`HEADLINES`, in that order."""
        functions: dict[str, Callable[[Floats, Floats], float]] = {
            "spearman": spearman,
            "top_spearman": partial(within_top, percent=self.top_percent, measure=spearman, ties="index"),
            "rbo": partial(rbo_normalised, p=self.p),
        }
        return self._values(functions, truth, scores)

    def _values(
        self, functions: Mapping[str, Callable[[Floats, Floats], float]], truth: Floats, scores: Floats
    ) -> dict[str, float]:
        return {
            name: float("nan") if name in self.missing else function(truth, scores)
            for name, function in functions.items()
        }


def ranked_last(scores: Floats) -> Floats:
    """Scores of which the missing ones come last: a proxy that cannot score an architecture cannot pick it.

    >>> ranked_last(np.array([0.5, np.nan])).tolist()
    [0.5, -inf]
    """
    return np.where(np.isnan(scores), -np.inf, scores)
