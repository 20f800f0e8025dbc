"""One-shot searches, watched (Surrogate NAS Benchmarks, appendix F.1).

What a benchmark says of the architecture that a search would end with, epoch by epoch, beside what the supernet says of
itself. The two need not agree: DARTS is known to end with cells of skip connections while its supernet still improves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.errors import InvalidArchitecture, InvalidOption, nearest
from nasbed.core.metric import Metric
from nasbed.evaluation.ranking.correlation import spearman
from nasbed.oneshot.record import SearchRecord
from nasbed.oneshot.stopping import STOPPING_RULES, stopped
from nasbed.oneshot.trajectory import Searched, SearchEpoch
from nasbed.studies.one_shot.asked import predicted, random_predictions
from nasbed.studies.one_shot.records import grouped

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RANDOM = 1000
LEAST_EPOCHS = 3
"""For a rank correlation over epochs."""
WINDOW = 5
"""Epochs that are held against the last as many to tell whether a search goes wrong."""
LOSS = 0.5
"""What it loses then: so many standard deviations of random architectures, or more."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule would have ended a search after so many epochs, with the architecture of the epoch ``taken``."""

    after: int
    taken: int
    prediction: float


@dataclass(frozen=True, slots=True)
class Failure:
    """From an epoch to the end the prediction gets worse by ``lost`` while the supernet's accuracy rises by ``gained``,
    both of means over windows."""

    epoch: int
    lost: float
    gained: float


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A search with an entry an epoch: what the benchmark predicts (NaN where it knows nothing), the supernet's
    accuracy in per cent, the skip connections of each kind of cell.

    ``end`` is the place of the epoch whose architecture the search ended with, None if it diverged; ``best`` that of
    the best prediction. ``stops`` has a rule that could be asked, None where it would not have stopped the search.
    ``correlation`` is Spearman's over epochs, of the supernet's accuracy with the prediction (negated where less is
    better), NaN where one of them never changes or where there are too few.
    """

    seed: int
    status: str
    reason: str
    epochs: Ints
    time_s: Floats
    prediction: Floats
    supernet: Floats
    skips: Mapping[str, Ints]
    end: int | None
    best: int | None
    stops: Mapping[str, Stop | None]
    correlation: float
    failure: Failure | None

    @property
    def long_enough(self) -> bool:
        """Whether it can be told if the search goes wrong."""
        return int(np.isfinite(self.prediction).sum()) >= 2 * WINDOW

    @property
    def final(self) -> float:
        """The prediction for the architecture that the search ended with; NaN if it diverged."""
        return float("nan") if self.end is None else float(self.prediction[self.end])

    def at_stop(self, rule: str) -> float:
        """The prediction that a rule would have ended with: the final one where it stops nothing, NaN where it could
        not be asked."""
        if rule not in self.stops:
            return float("nan")
        stop = self.stops[rule]
        return self.final if stop is None else stop.prediction


@dataclass(frozen=True, slots=True)
class WatchedMethod:
    """A method with one setting, on one dataset, with several seeds."""

    name: str
    dataset: str
    searches: tuple[Watched, ...]

    @property
    def failed(self) -> list[Watched]:
        return [each for each in self.searches if each.failure is not None]

    def mean(self, column: Callable[[Watched], NDArray[np.generic]]) -> Floats:
        """The mean of a column over searches that did not diverge, as far as all of them go; of none, nothing."""
        own = [column(each) for each in self.searches if each.status != "diverged"]
        length = min(map(len, own), default=0)
        return np.array([each[:length] for each in own], dtype=np.float64).mean(axis=0) if length else np.empty(0)


@dataclass(frozen=True, slots=True)
class RandomReference:
    """So many random architectures of the space: the mean, the standard deviation and the best of predictions. ``what``
    they are in words: those of a table that does not hold the space are those that random search evaluated."""

    count: int
    mean: float
    std: float
    best: float
    what: str = "random architectures"


@dataclass(frozen=True, slots=True)
class OneShotStudy:
    """``dataset`` is that of the benchmark, empty if it does not say; ``left_out`` says which searches are not watched,
    and why: they have no epoch, or the benchmark does not know an architecture of theirs."""

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
        return list(dict.fromkeys(kind for each in self.methods for own in each.searches for kind in own.skips))

    def behind_random(self, search: Watched) -> float:
        """How much worse a search ends than the mean of random architectures; negative where it ends better, NaN where
        it diverged."""
        difference = self.reference.mean - search.final
        return difference if self.metric.direction == "maximize" else -difference

    def worse_than_random(self, search: Watched) -> bool:
        """Whether a search ends worse than that mean by ``LOSS`` standard deviations of random architectures or
        more."""
        behind = self.behind_random(search)
        return behind > 0 and behind >= LOSS * self.reference.std


def one_shot_study(
    records: Sequence[SearchRecord],
    benchmark: Benchmark,
    *,
    rules: Sequence[str] = tuple(STOPPING_RULES),
    random: int = RANDOM,
    rng: np.random.Generator,
) -> OneShotStudy:
    """Watch searches of the benchmark's space. ``random`` architectures are drawn for a reference."""
    for rule in rules:
        if rule not in STOPPING_RULES:
            raise InvalidOption(f"no stopping rule is called {rule!r}; {nearest(rule, STOPPING_RULES)}")
    if random < 2:
        raise InvalidOption(f"the reference is 2 random architectures or more, got {random}")
    for record in records:
        if record.space != benchmark.space.name:
            raise InvalidOption(
                f"the search by {record.method} with seed {record.seed} is in the space {record.space}, "
                f"{benchmark.name} answers for {benchmark.space.name}; name a benchmark of {record.space} with "
                "--benchmark"
            )
    left_out = {
        f"{record.method}, seed {record.seed}": record.searched.reason or "it has no epoch"
        for record in records
        if not record.searched.epochs
    }
    records = [record for record in records if record.searched.epochs]
    if not records:
        raise InvalidOption(f"1 search with an epoch or more is watched, got none; {'; '.join(left_out.values())}")
    metric = benchmark.objective
    sign = 1.0 if metric.direction == "maximize" else -1.0
    drawn, what = random_predictions(benchmark, random, rng)
    count, drawn = len(drawn), drawn[np.isfinite(drawn)]
    best = sign * float((sign * drawn).max())
    reference = RandomReference(count, float(drawn.mean()), float(drawn.std(ddof=1)), best, what)
    methods = []
    for name, own in grouped(records).items():
        searches = []
        for each in own:
            try:
                said = predicted(benchmark, [epoch.architecture for epoch in each.searched.epochs])
            except InvalidArchitecture as error:
                left_out[f"{name}, seed {each.seed}"] = str(error)
                continue
            searches.append(watched(each.searched, said, seed=each.seed, rules=rules, sign=sign, spread=reference.std))
        if searches:
            methods.append(WatchedMethod(name, own[0].dataset, tuple(searches)))
    if not methods:
        raise InvalidOption(
            f"{benchmark.name} must answer for every architecture of a search: {next(iter(left_out.values()))}; watch "
            "with a surrogate, or with a table of the whole space"
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


def watched(
    searched: Searched,
    prediction: Floats,
    *,
    seed: int,
    rules: Sequence[str],
    sign: float,
    spread: float,
) -> Watched:
    """A search with the predictions for its epochs. ``sign`` is −1 where less is better; ``spread`` is the standard
    deviation of random architectures."""
    epochs = searched.epochs
    supernet = np.array([each.validation_accuracy for each in epochs])
    known = np.flatnonzero(np.isfinite(prediction))
    stops: dict[str, Stop | None] = {}
    for name in rules:
        if can_ask(name, epochs):
            found = stopped(epochs, STOPPING_RULES[name])
            if found is not None and found[0] == len(epochs) and searched.status == "ok":
                found = None  # nothing was left to stop
            stops[name] = found and Stop(found[0], found[1].epoch, float(prediction[found[1].epoch - 1]))
    return Watched(
        seed=seed,
        status=searched.status,
        reason=searched.reason,
        epochs=np.array([each.epoch for each in epochs]),
        time_s=np.array([each.search_time_s for each in epochs]),
        prediction=prediction,
        supernet=supernet,
        skips={kind: np.array([each.skips[kind] for each in epochs]) for kind in epochs[0].skips},
        end=_end(searched),
        best=int(known[np.argmax(sign * prediction[known])]) if len(known) else None,
        stops=stops,
        correlation=agreement(supernet[known], sign * prediction[known]),
        failure=failure(sign * prediction, supernet, spread=spread),
    )


def can_ask(rule: str, epochs: Sequence[SearchEpoch]) -> bool:
    """Whether a search tells what a rule goes by."""
    if rule == "eigenvalue":
        return all(each.eigenvalue is not None for each in epochs)
    return rule != "skips" or all(each.skips for each in epochs)


def agreement(supernet: Floats, prediction: Floats) -> float:
    """Spearman's rank correlation over epochs; NaN for fewer than three, or if one of them never changes.

    >>> round(agreement(np.array([10.0, 20.0, 30.0]), np.array([3.0, 1.0, 2.0])), 6)
    -0.5
    """
    return spearman(supernet, prediction) if len(supernet) >= LEAST_EPOCHS else float("nan")


def failure(prediction: Floats, supernet: Floats, *, spread: float) -> Failure | None:
    """Where a search goes wrong, if it does.

    Of the windows of ``WINDOW`` epochs that end before the last one begins, the one with the best mean is held against
    the last: every prediction of the last is worse than every one of the best, their means differ by ``LOSS`` ·
    ``spread`` or more, and the mean accuracy of the supernet rises. Any sequence is worse in the end than at its best;
    of independent predictions 0.4 % meet all of this in 10 epochs, 3 % in 50 and 7 % in 100.

    >>> failure(np.repeat([62.0, 58.0], 5), np.repeat([30.0, 50.0], 5), spread=2.0)
    Failure(epoch=5, lost=4.0, gained=20.0)
    """
    known = np.flatnonzero(np.isfinite(prediction))
    if len(known) < 2 * WINDOW:
        return None
    seen = np.lib.stride_tricks.sliding_window_view(prediction[known], WINDOW)
    own = np.lib.stride_tricks.sliding_window_view(supernet[known], WINDOW).mean(axis=1)
    best = int(np.argmax(seen[:-WINDOW].mean(axis=1)))
    lost, gained = float(seen[best].mean() - seen[-1].mean()), float(own[-1] - own[best])
    if seen[-1].max() >= seen[best].min() or lost < LOSS * spread or gained <= 0:
        return None
    return Failure(int(known[best + WINDOW - 1]) + 1, lost, gained)


def _end(searched: Searched) -> int | None:
    """A search that was stopped may have gone back to an earlier epoch."""
    if searched.architecture is None:
        return None
    same = [place for place, each in enumerate(searched.epochs) if each.architecture == searched.architecture]
    if not same:
        raise InvalidOption("a search ends with the architecture of one of its epochs, got another; search again")
    return same[-1]
