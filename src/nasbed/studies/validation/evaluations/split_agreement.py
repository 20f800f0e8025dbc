"""Does the validation metric rank architectures as the test metric does, over all and among the best?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.core.status import OK
from nasbed.evaluation.ranking import in_top, kendall, spearman
from nasbed.results.store import Results
from nasbed.spaces.lookup import Lookup
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.scoring import Scatter, scatter
from nasbed.surrogates.base import Floats
from nasbed.surrogates.examples import validation_metric


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Kendall's and Spearman's correlation of ``count`` architectures; NaN where all values are equal."""

    group: str
    count: int
    kendall: float
    spearman: float


@dataclass(frozen=True, slots=True)
class SplitAgreement:
    """The agreement of validation and test metric, by the architectures' means.

    The top is that of the test metric. ``chosen`` is the test metric of the architecture with the best validation
    metric, ``best`` the best test metric of any. ``points`` is a sample, test as truth.
    """

    validation: Metric
    test: Metric
    groups: tuple[RankAgreement, ...]
    chosen: float
    best: float
    points: Scatter


TOPS = {"all": 100.0, "top 10 %": 10.0, "top 1 %": 1.0}
"""The groups that are compared, as the best per cent by the test metric."""
FEWEST = 10
"""The least number of architectures of a group."""


def metrics_to_compare(results: Results) -> tuple[Metric, Metric]:
    """The validation metric of a table and the test metric of the same name; raises where it lacks one."""
    validation = validation_metric(results)
    tests = [metric for metric in results.about.metrics if metric.split == "test"]
    same = [metric for metric in tests if metric.name == validation.name]
    if not same:
        raise InvalidOption(f"{results.about.name} has no test metric beside {validation.key}")
    return validation, same[0]


def split_agreement(data: ValidationData, results: Results, *, seed: int = 0) -> SplitAgreement:
    """Compare both metrics on the architectures of ``data``, at its fidelity. The seed draws the sample of points."""
    validation, test = metrics_to_compare(results)
    seen, true = _means(data, results, validation, test)
    if len(true) < FEWEST:
        raise InvalidOption(f"a rank correlation needs at least {FEWEST} architectures, {data.name} has {len(true)}")
    sign = 1.0 if test.direction == "maximize" else -1.0
    groups = []
    for name, percent in TOPS.items():
        if len(true) * percent / 100 >= FEWEST:
            members = in_top(sign * true, percent=percent)
            pair = sign * true[members], sign * seen[members]
            varied = all(np.ptp(column) > 0 for column in pair)
            figures = (kendall(*pair), spearman(*pair)) if varied else (float("nan"), float("nan"))
            groups.append(RankAgreement(name, int(members.sum()), *figures))
    chosen, best = float(true[np.argmax(sign * seen)]), float(sign * (sign * true).max())
    points = scatter(true, seen, np.random.default_rng(seed))
    return SplitAgreement(validation, test, tuple(groups), chosen, best, points)


def _means(data: ValidationData, results: Results, *metrics: Metric) -> tuple[Floats, Floats]:
    """The means of two metrics over the evaluations that have both, by architecture."""
    codes, _ = data.architectures()
    lookup, sums = Lookup(codes), np.zeros((3, len(codes)))
    for rows in results.batches():
        columns = np.stack([rows.values[metric.key] for metric in metrics])
        used = (rows.status == OK) & np.isfinite(columns).all(axis=0) & (rows.fidelity == data.rows.fidelity)
        owner = lookup.find(data.space.canonical_codes(rows.codes[used]))
        known = owner >= 0
        for place, column in enumerate((*columns[:, used], np.ones(used.sum()))):
            sums[place] += np.bincount(owner[known], column[known], minlength=len(codes))
    measured = sums[2] > 0
    first, second = sums[:2, measured] / sums[2, measured]
    return first, second
