"""One-shot searches over their epochs (Surrogate NAS Benchmarks, appendix F.1).

The study compares, epoch by epoch, a benchmark's prediction for the current architecture with the supernet's accuracy.
The two need not agree: DARTS is known to end with cells of skip connections while its supernet still improves. The
prediction is that of the method's judge (:mod:`nasbed.studies.one_shot.judges`), which has not seen its data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.errors import InvalidArchitecture, InvalidOption, nearest
from nasbed.core.metric import Metric
from nasbed.evaluation.ranking.columns import Floats, Integers
from nasbed.oneshot.record import SearchRecord
from nasbed.oneshot.stopping import STOPPING_RULES, stopped
from nasbed.oneshot.trajectory import SearchEpoch, SearchResult
from nasbed.studies.one_shot.failure import LOSS, WINDOW, Failure, agreement, failure
from nasbed.studies.one_shot.judges import Judge, benchmark_as_judge
from nasbed.studies.one_shot.predictions import expected_objectives, random_architectures
from nasbed.studies.one_shot.records import group_by_settings


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule would have stopped a search after epoch ``after``, with the architecture of ``architecture_epoch``."""

    after: int
    architecture_epoch: int
    prediction: float


@dataclass(frozen=True, slots=True, eq=False)
class WatchedSearch:
    """A search with one entry per epoch: the judge's prediction (NaN where it has none), that of the benchmark itself,
    which may have seen the method's data, the supernet's accuracy in per cent, the skip connections per kind of cell.

    ``end`` is the index of the epoch whose architecture the search ended with, None if it diverged. ``best`` is the
    index of the best prediction. ``stops`` has every rule whose measurements exist, None where it would not have
    stopped the search. ``correlation`` is Spearman's over epochs, of the supernet's accuracy with the prediction
    (negated where less is better). It is NaN where one of them never changes or where there are too few epochs.
    ``behind_random`` is how much worse the search ends than the mean of random architectures: negative where it ends
    better, NaN where it diverged. ``worse_than_random`` is whether that is ``LOSS`` of their standard deviations or
    more.
    """

    seed: int
    status: str
    reason: str
    epochs: Integers
    time_s: Floats
    prediction: Floats
    benchmark_prediction: Floats
    supernet: Floats
    skips: Mapping[str, Integers]
    end: int | None
    best: int | None
    stops: Mapping[str, Stop | None]
    correlation: float
    failure: Failure | None
    behind_random: float
    worse_than_random: bool

    @property
    def long_enough(self) -> bool:
        """Whether the search has enough epochs to decide if it goes wrong."""
        return int(np.isfinite(self.prediction).sum()) >= 2 * WINDOW

    @property
    def final(self) -> float:
        """The prediction for the architecture that the search ended with; NaN if it diverged."""
        return float("nan") if self.end is None else float(self.prediction[self.end])

    @property
    def benchmark_final(self) -> float:
        """:attr:`final` by the benchmark itself."""
        return float("nan") if self.end is None else float(self.benchmark_prediction[self.end])

    def at_stop(self, rule: str) -> float:
        """The prediction that the search would have ended with under a rule.

        It is the final one where the rule never stops the search, NaN where the rule's measurements are missing.
        """
        if rule not in self.stops:
            return float("nan")
        stop = self.stops[rule]
        return self.final if stop is None else stop.prediction


@dataclass(frozen=True, slots=True)
class RandomReference:
    """Predictions for ``count`` random architectures: mean, standard deviation and best. ``description`` names them: a
    table that does not hold the whole space has those that random search evaluated."""

    count: int
    mean: float
    std: float
    best: float
    description: str = "random architectures"

    @classmethod
    def of(cls, values: Floats, description: str, sign: float) -> RandomReference:
        """From one prediction per architecture; ``sign`` is −1 where less is better."""
        finite = values[np.isfinite(values)]
        best = sign * float((sign * finite).max())
        return cls(len(values), float(finite.mean()), float(finite.std(ddof=1)), best, description)


@dataclass(frozen=True, slots=True)
class WatchedMethod:
    """A method with one setting, on one dataset, with several seeds, its judge, and what that judge predicts for random
    architectures. ``method`` is the method's id, ``name`` also has the settings where several groups differ."""

    name: str
    method: str
    dataset: str
    judge: Judge
    reference: RandomReference
    searches: tuple[WatchedSearch, ...]

    @property
    def failed(self) -> list[WatchedSearch]:
        return [search for search in self.searches if search.failure is not None]

    def mean(self, column: Callable[[WatchedSearch], NDArray[np.generic]]) -> Floats:
        """The mean of a column over the searches that did not diverge, up to the end of the shortest."""
        columns = [column(search) for search in self.searches if search.status != "diverged"]
        length = min(map(len, columns), default=0)
        if not length:
            return np.empty(0)
        means: Floats = np.array([values[:length] for values in columns], dtype=np.float64).mean(axis=0)
        return means


@dataclass(frozen=True, slots=True)
class OneShotStudy:
    """``dataset`` is the benchmark's, empty if unknown. ``reference`` is by the benchmark itself. ``left_out`` has the
    reason why a search is skipped: it has no epoch, or the benchmark lacks one of its architectures."""

    benchmark: str
    space: str
    dataset: str
    metric: Metric
    measured: bool  # what is called a prediction is a mean of stored trainings
    rules: tuple[str, ...]
    methods: tuple[WatchedMethod, ...]
    reference: RandomReference
    left_out: Mapping[str, str]

    @property
    def kinds(self) -> list[str]:
        """The kinds of cells that have skip connections."""
        searches = (search for method in self.methods for search in method.searches)
        return list(dict.fromkeys(kind for search in searches for kind in search.skips))

    @property
    def has_other_judges(self) -> bool:
        """Whether a method is judged by another surrogate than the benchmark itself."""
        return any(method.judge.left_out for method in self.methods)


def one_shot_study(
    records: Sequence[SearchRecord],
    benchmark: Benchmark,
    *,
    judges: Mapping[str, Judge] | None = None,
    rules: Sequence[str] = tuple(STOPPING_RULES),
    random: int = 1000,
    rng: np.random.Generator,
) -> OneShotStudy:
    """Compare searches of the benchmark's space with the benchmark's predictions, epoch by epoch.

    Args:
        records: the searches.
        benchmark: predicts the objective of their architectures.
        judges: what judges the searches of each method, by its id, as
            :func:`~nasbed.studies.one_shot.judges.judges_without_data` makes them; the benchmark itself by default.
        rules: stopping rules to compare, by name.
        random: how many random architectures the reference has.
        rng: draws the random architectures.
    """
    check_searches(records, benchmark, rules)
    if random < 2:
        raise InvalidOption(f"the reference is 2 random architectures or more, got {random}")
    left_out = {
        f"{record.method}, seed {record.seed}": record.searched.reason or "it has no epoch"
        for record in records
        if not record.searched.epochs
    }
    records = [record for record in records if record.searched.epochs]
    if not records:
        raise InvalidOption(f"the study needs 1 search with an epoch or more, got none; {'; '.join(left_out.values())}")
    metric = benchmark.objective
    sign = 1.0 if metric.direction == "maximize" else -1.0
    archs, random_values, description = random_architectures(benchmark, random, rng)
    reference = RandomReference.of(random_values, description, sign)
    methods = []
    for name, group in group_by_settings(records).items():
        judge = (judges or {}).get(group[0].method) or benchmark_as_judge(benchmark, "no fit without it was made")
        own_reference = reference
        if judge.left_out:
            own_reference = RandomReference.of(expected_objectives(judge.benchmark, archs), description, sign)
        searches = []
        for record in group:
            visited = [epoch.architecture for epoch in record.searched.epochs]
            try:
                whole = expected_objectives(benchmark, visited)
            except InvalidArchitecture as error:
                left_out[f"{name}, seed {record.seed}"] = str(error)
                continue
            prediction = expected_objectives(judge.benchmark, visited) if judge.left_out else whole
            searches.append(watched_search(record, prediction, whole, rules=rules, sign=sign, reference=own_reference))
        if searches:
            first = group[0]
            methods.append(WatchedMethod(name, first.method, first.dataset, judge, own_reference, tuple(searches)))
    if not methods:
        raise InvalidOption(
            f"{benchmark.name} must answer for every architecture of a search: {next(iter(left_out.values()))}; use a "
            "surrogate, or a table of the whole space"
        )
    return OneShotStudy(
        benchmark=benchmark.unwrapped.name,
        space=benchmark.space.name,
        dataset=benchmark.dataset_name,
        metric=metric,
        measured=not benchmark.predicts,
        rules=tuple(dict.fromkeys(rules)),
        methods=tuple(methods),
        reference=reference,
        left_out=left_out,
    )


def check_searches(records: Sequence[SearchRecord], benchmark: Benchmark, rules: Sequence[str]) -> None:
    """Raise unless the rules exist and the searches are in the space of the benchmark."""
    for rule in rules:
        if rule not in STOPPING_RULES:
            raise InvalidOption(f"no stopping rule is called {rule!r}; {nearest(rule, STOPPING_RULES)}")
    for record in records:
        if record.space != benchmark.space.name:
            raise InvalidOption(
                f"the search by {record.method} with seed {record.seed} is in the space {record.space}, "
                f"{benchmark.name} answers for {benchmark.space.name}; name a benchmark of {record.space} with "
                "--benchmark"
            )


def watched_search(
    record: SearchRecord,
    prediction: Floats,
    benchmark_prediction: Floats,
    *,
    rules: Sequence[str],
    sign: float,
    reference: RandomReference,
) -> WatchedSearch:
    """A search with the predictions for its epochs.

    Args:
        record: the search.
        prediction: of the judge, one entry per epoch.
        benchmark_prediction: of the benchmark itself.
        rules: stopping rules, by name.
        sign: −1 where less is better, otherwise 1.
        reference: the judge's predictions for random architectures.
    """
    searched, epochs = record.searched, record.searched.epochs
    supernet = np.array([epoch.validation_accuracy for epoch in epochs])
    finite = np.flatnonzero(np.isfinite(prediction))
    stops: dict[str, Stop | None] = {}
    for name in rules:
        if has_measurements(name, epochs):
            stop = stopped(epochs, STOPPING_RULES[name])
            if stop is not None and stop[0] == len(epochs) and searched.status == "ok":
                stop = None  # the search was over anyway
            stops[name] = stop and Stop(stop[0], stop[1].epoch, float(prediction[stop[1].epoch - 1]))
    end = _end(searched)
    behind = float("nan") if end is None else sign * (reference.mean - float(prediction[end]))
    return WatchedSearch(
        seed=record.seed,
        status=searched.status,
        reason=searched.reason,
        epochs=np.array([epoch.epoch for epoch in epochs]),
        time_s=np.array([epoch.search_time_s for epoch in epochs]),
        prediction=prediction,
        benchmark_prediction=benchmark_prediction,
        supernet=supernet,
        skips={kind: np.array([epoch.skips[kind] for epoch in epochs]) for kind in epochs[0].skips},
        end=end,
        best=int(finite[np.argmax(sign * prediction[finite])]) if len(finite) else None,
        stops=stops,
        correlation=agreement(supernet[finite], sign * prediction[finite]),
        failure=failure(sign * prediction, supernet, spread=reference.std),
        behind_random=behind,
        worse_than_random=behind > 0 and behind >= LOSS * reference.std,
    )


def has_measurements(rule: str, epochs: Sequence[SearchEpoch]) -> bool:
    """Whether a search has the measurements that a stopping rule needs."""
    if rule == "eigenvalue":
        return all(epoch.eigenvalue is not None for epoch in epochs)
    return rule != "skips" or all(epoch.skips for epoch in epochs)


def _end(searched: SearchResult) -> int | None:
    """The index of the epoch with the final architecture: a search that was stopped may return to an earlier one."""
    if searched.architecture is None:
        return None
    matches = [index for index, epoch in enumerate(searched.epochs) if epoch.architecture == searched.architecture]
    if not matches:
        raise InvalidOption("a search ends with the architecture of one of its epochs, got another; search again")
    return matches[-1]
