"""The three measures of the paper's figures for every proxy of a task, with bootstrap resamples.

All proxies and all measures are taken on the same resamples of the architectures. So drops, orders and bests can be
compared resample by resample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.proxies.measures import HEADLINES, Yardstick, ranked_last
from nasbed.evaluation.proxies.noise_ceiling import NoiseCeiling, noise_ceiling
from nasbed.evaluation.proxies.resampling import resampled_headlines
from nasbed.evaluation.proxies.tasks import RankedTask
from nasbed.evaluation.ranking import spearman
from nasbed.evaluation.ranking.columns import Floats
from nasbed.evaluation.significance import Interval
from nasbed.studies.zero_cost.reference import RangeReference, range_reference

GLOBAL, TOP, RBO = HEADLINES
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class SampledMeasures:
    """The measures of each proxy, in the order of ``HEADLINES``, on all architectures and on each resample of them."""

    task: str
    proxies: tuple[str, ...]
    items: int
    top: int  # architectures
    values: Floats  # [measures, proxies]
    drawn: Floats  # [measures, proxies, resamples]
    reference: RangeReference | None = field(default=None, repr=False)
    ceiling: NoiseCeiling | None = None

    def value(self, measure: str, proxy: str) -> float:
        return float(self.values[HEADLINES.index(measure), self.proxies.index(proxy)])

    def interval(self, measure: str, proxy: str) -> Interval:
        """A measure of a proxy with its interval over resamples."""
        samples = self.drawn[HEADLINES.index(measure), self.proxies.index(proxy)]
        return Interval(self.value(measure, proxy), *ends(samples))

    def drop(self, proxy: str) -> Interval:
        """Spearman's correlation over all less that within the top, on the same resamples."""
        place = self.proxies.index(proxy)
        return Interval(
            float(self.values[0, place] - self.values[1, place]), *ends(self.drawn[0, place] - self.drawn[1, place])
        )

    def place(self, measure: str, proxy: str) -> int:
        """The place of a proxy among all by a measure; 1 is the best."""
        return self.order(measure).index(proxy) + 1

    def order(self, measure: str) -> list[str]:
        """The proxies by a measure, the best first; one without a value comes last."""
        values = np.nan_to_num(self.values[HEADLINES.index(measure)], nan=-np.inf)
        return [self.proxies[place] for place in np.argsort(-values, kind="stable")]

    def ahead(self, measure: str, proxy: str, rival: str) -> float:
        """The share of resamples on which a proxy is above its rival."""
        samples = self.drawn[HEADLINES.index(measure)]
        return float((samples[self.proxies.index(proxy)] > samples[self.proxies.index(rival)]).mean())

    def orders_alike(self, first: str, second: str) -> Floats:
        """The rank correlation of the proxies' orders under two measures: over all, then on each resample."""
        pair = [HEADLINES.index(first), HEADLINES.index(second)]
        tables = [self.values[pair], *np.moveaxis(self.drawn[pair], 2, 0)]
        return np.array([spearman(*table[:, ~np.isnan(table).any(axis=0)]) for table in tables])


def ends(samples: Floats, level: float = LEVEL) -> tuple[float, float]:
    """The ends of the central interval of resampled values, without those that are NaN."""
    finite = samples[~np.isnan(samples)]
    if not len(finite):
        return float("nan"), float("nan")
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def interval_numbers(interval: Interval) -> list[float]:
    """An estimate and its interval as ``numbers.json`` has them."""
    return [interval.estimate, interval.low, interval.high]


def sample_measures(
    task: RankedTask, yardstick: Yardstick, rng: np.random.Generator, *, resamples: int = 500, references: int = 300
) -> SampledMeasures:
    """Measure and resample a task. With several seeds a measure is the mean over them, taken within each resample.

    Args:
        task: The architectures with their scores and true values.
        yardstick: How the scores are measured.
        rng: Draws the resamples and the reference.
        resamples: The number of bootstrap resamples.
        references: The number of draws of the reference for a smaller range.
    """
    if TOP in yardstick.missing or RBO in yardstick.missing:
        reason = yardstick.missing.get(TOP) or yardstick.missing[RBO]
        raise InvalidOption(
            f"the top has 2 architectures or more, in {task.name} {reason}; ask for a larger --top-percent"
        )
    proxies = [name for name, table in task.scores.items() if np.isfinite(table).any()]
    columns, owners = [], []
    for place, name in enumerate(proxies):
        for column in task.scores[name].T:
            if np.isfinite(column).any():
                columns.append(ranked_last(column))
                owners.append(place)
    measured = np.array([list(yardstick.headlines(task.truth, column).values()) for column in columns]).T
    samples = resampled_headlines(task.truth, columns, yardstick, rng, resamples=resamples)
    values = _over_seeds(measured, owners)
    return SampledMeasures(
        task=task.name,
        proxies=tuple(proxies),
        items=len(task),
        top=yardstick.top,
        values=values,
        drawn=_over_seeds(samples, owners),
        reference=range_reference(values[0], len(task), yardstick.top, yardstick.p, rng, draws=references),
        ceiling=noise_ceiling(task, top_percent=yardstick.top_percent, weight=yardstick.weight),
    )


def _over_seeds(values: Floats, owners: Sequence[int]) -> Floats:
    """The mean over the columns of each proxy, the second axis, without NaN."""
    owner, finite = np.array(owners), ~np.isnan(values)
    filled = np.where(finite, values, 0.0)
    with np.errstate(invalid="ignore"):
        means = [
            filled[:, owner == place].sum(axis=1) / finite[:, owner == place].sum(axis=1)
            for place in range(owner.max() + 1)
        ]
    return np.stack(means, axis=1)
