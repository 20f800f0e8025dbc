"""Cheap trainings against a reference: how alike they rank the same architectures, beside what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.evaluation.rank_transfer import corrected_spearman, mean_over_seeds, seed_reliability
from nasbed.evaluation.ranking.bootstrap import item_bootstrap
from nasbed.evaluation.ranking.correlation import spearman
from nasbed.evaluation.ranking.top import within_top
from nasbed.evaluation.significance import Interval
from nasbed.spaces.base import Codes
from nasbed.studies.table import TIME, Table, table_of

FEWEST = 20
"""Rankings of fewer architectures are not compared."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrainedTable:
    """A way to train: a table at one fidelity, with its results ``[architectures, seeds]``, more is better."""

    name: str
    codes: Codes
    results: Floats
    cost_s: float
    """The mean time of a training; NaN where no times were recorded."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a training ranks the architectures that the reference has too. ``corrected`` is the correlation without the
    noise of both, NaN where one has too few repeats; ``top`` that within the reference's best; ``parameters`` that of
    counting parameters, NaN where the space does not."""

    training: str
    architectures: int
    cost_s: float
    spearman: Interval
    corrected: float
    top: float
    reliability: float
    parameters: float

    @property
    def best_estimate(self) -> float:
        """Without noise where that is known."""
        return self.spearman.estimate if np.isnan(self.corrected) else self.corrected

    @property
    def beats_parameters(self) -> bool:
        """Whether it ranks better than the number of parameters, by more than chance."""
        return np.isnan(self.parameters) or self.spearman.low > self.parameters


@dataclass(frozen=True, slots=True)
class FidelityStudy:
    """All trainings by rising cost. ``frontier`` are those that no cheaper one equals, ``chosen`` is the cheapest that
    agrees by ``at_least`` and beats counting parameters."""

    reference: str
    reference_cost_s: float
    reference_reliability: float
    metric: Metric
    agreements: tuple[Agreement, ...]
    at_least: float
    top_percent: float

    @property
    def frontier(self) -> tuple[Agreement, ...]:
        best, frontier = -np.inf, []
        for agreement in self.agreements:
            if not np.isnan(agreement.cost_s) and agreement.best_estimate > best:
                best = agreement.best_estimate
                frontier.append(agreement)
        return tuple(frontier)

    @property
    def chosen(self) -> Agreement | None:
        good = (
            agreement
            for agreement in self.agreements
            if agreement.best_estimate >= self.at_least and agreement.beats_parameters
        )
        return next(good, None)


def fidelity_study(
    reference: TabularBenchmark,
    cheaper: Sequence[TabularBenchmark] = (),
    *,
    at_least: float = 0.7,
    top_percent: float = 25.0,
    resamples: int = 500,
    seed: int = 0,
) -> FidelityStudy:
    """Compare every fidelity of the cheaper tables, and the lower ones of the reference, with the reference.

    Args:
        reference: a table; its highest fidelity is what the others should rank like.
        cheaper: other tables of the same architectures.
        at_least: the correlation that a good training has.
        top_percent: the share of the reference's best that counts as the top, in per cent.
        resamples: how many the intervals come from.
        seed: that of the resamples.
    """
    if not 0 < at_least < 1:
        raise InvalidOption(f"the correlation of a good training lies between 0 and 1, got {at_least:g}")
    space = reference.space
    for table in cheaper:
        if table.space.name != space.name:
            raise InvalidOption(
                f"trainings of the same architectures are compared, {reference.name} is of {space.name} and "
                f"{table.name} of {table.space.name}"
            )
    names = [reference.name, *(table.name for table in cheaper)]
    if len(set(names)) < len(names):
        raise InvalidOption(f"each table is named once, got {', '.join(names)}")
    *own, target = _trainings(reference)
    candidates = [*own, *(training for table in cheaper for training in _trainings(table))]
    if not candidates:
        raise InvalidOption(f"{reference.name} has one fidelity; name a cheaper table of the same architectures")
    rng = np.random.default_rng(seed)
    agreements = []
    for training in candidates:
        rows, cheap_rows = _shared_rows(target.codes, training.codes)
        if len(rows) < FEWEST:
            raise InvalidOption(
                f"rankings are compared on {FEWEST} architectures or more, {target.name} and {training.name} have "
                f"{len(rows)} in common"
            )
        truth, results = target.results[rows], training.results[cheap_rows]
        means, cheap_means = mean_over_seeds(truth), mean_over_seeds(results)
        if np.ptp(means) == 0 or np.ptp(cheap_means) == 0:
            constant = target if np.ptp(means) == 0 else training
            raise InvalidOption(f"all architectures have the same result in {constant.name}; leave it out")
        counts = space.properties(target.codes[rows]).get("parameters")
        agreements.append(
            Agreement(
                training.name,
                len(rows),
                training.cost_s,
                item_bootstrap(means, cheap_means, rng, resamples=resamples),
                corrected_spearman(truth, results),
                within_top(means, cheap_means, percent=top_percent, measure=spearman),
                seed_reliability(results),
                float("nan") if counts is None else spearman(means, counts),
            )
        )
    agreements.sort(key=lambda agreement: (np.isnan(agreement.cost_s), agreement.cost_s))
    return FidelityStudy(
        target.name,
        target.cost_s,
        seed_reliability(target.results),
        reference.judge,
        tuple(agreements),
        at_least,
        top_percent,
    )


def _trainings(table: TabularBenchmark) -> list[TrainedTable]:
    """A table at each of its fidelities, rising."""
    return list(_each_fidelity(table_of(table), table.judge))


def _each_fidelity(table: Table, metric: Metric) -> Iterator[TrainedTable]:
    sign = 1 if metric.direction == "maximize" else -1
    times = table.values.get(TIME.key)
    for position, fidelity in enumerate(table.fidelities):
        results = sign * table.values[metric.key][:, position]
        measured = ~np.isnan(results).all(axis=1)
        if measured.any():
            unit = table.fidelity_unit.removesuffix("s") if fidelity == 1 else table.fidelity_unit
            name = f"{table.name}, {fidelity} {unit}" if fidelity >= 0 else table.name
            known = None if times is None else times[measured, position]
            cost = float("nan") if known is None or np.isnan(known).all() else float(np.nanmean(known))
            yield TrainedTable(name, table.codes[measured], results[measured], cost)


def _shared_rows(first: Codes, second: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of both tables that have the same code, in the order of the first."""
    places = {code: row for row, code in enumerate(map(tuple, second.tolist()))}
    pairs = [(row, places[code]) for row, code in enumerate(map(tuple, first.tolist())) if code in places]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]
