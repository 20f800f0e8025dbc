"""Zero-cost proxies judged on a task: every measure, how sure it is, and whether it beats counting parameters.

After Zero-Cost Benchmarks: Towards Lower Reliance on Spearman Rank Correlation. A measure is the mean over the seeds of
the scores. An architecture without a score is ranked last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nasbed.core.errors import UnknownName, nearest, shorten
from nasbed.core.metric import Metric
from nasbed.evaluation.proxies.measures import CONSTANT, HEADLINES, MEASURES, Yardstick, ranked_last
from nasbed.evaluation.proxies.noise_ceiling import NoiseCeiling, noise_ceiling
from nasbed.evaluation.proxies.resampling import resampled_headlines
from nasbed.evaluation.proxies.tasks import RankedTask
from nasbed.evaluation.ranking import Difference
from nasbed.evaluation.ranking.columns import Floats
from nasbed.evaluation.significance import holm

BASELINE = "params"
LEVEL = 0.05
FEW = 5
"""A top of fewer architectures says little."""


@dataclass(frozen=True, slots=True)
class MeasureEstimate:
    """The mean of a measure over seeds and its standard deviation, NaN for a single seed. Headline measures have a 95 %
    bootstrap interval over architectures. ``reason`` says why a value is NaN."""

    value: float
    std: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """A headline measure less that of the baseline on the same resamples; ``holm`` is p corrected for the number of
    proxies that are compared."""

    difference: Difference
    holm: float

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, or empty where the two do not differ significantly."""
        if not self.holm < LEVEL:
            return ""
        return "better" if self.difference.estimate > 0 else "worse"


@dataclass(frozen=True, slots=True)
class JudgedProxy:
    """``missing`` is how many architectures have no score, the mean over the ``seeds`` that count; ``empty_seeds`` had
    no score at all."""

    name: str
    measures: Mapping[str, MeasureEstimate]
    against: Mapping[str, BaselineComparison]
    missing: float
    seeds: int
    empty_seeds: int
    seconds: float

    def value(self, measure: str) -> float:
        return self.measures[measure].value


@dataclass(frozen=True, slots=True)
class JudgedTask:
    """All proxies on one task. ``notes`` say what a reader has to know to trust the numbers."""

    name: str
    metric: Metric
    space: str
    architectures: int
    left_out: int
    yardstick: Yardstick
    chance_rbo: float
    baseline: str
    resamples: int
    proxies: tuple[JudgedProxy, ...]
    ceiling: NoiseCeiling | None = None
    notes: tuple[str, ...] = field(default=())

    def proxy(self, name: str) -> JudgedProxy:
        by_name = {proxy.name: proxy for proxy in self.proxies}
        if name not in by_name:
            raise UnknownName(f"{self.name} has no scores by {shorten(name)}; {nearest(name, by_name)}")
        return by_name[name]


def judge_proxies(
    task: RankedTask,
    rng: np.random.Generator,
    *,
    top_percent: float = 1.0,
    weight: float = 0.5,
    k: int = 10,
    resamples: int = 1000,
    baseline: str = BASELINE,
) -> JudgedTask:
    """Judge every proxy of a task.

    Where there are no scores by ``params``, the proxy with the highest Spearman correlation is the baseline. Any other
    baseline must have scores.

    Args:
        task: The architectures with their scores and true values.
        rng: Draws the resamples.
        top_percent: The share of truly best architectures that counts as the top, in per cent.
        weight: The weight of the top in rank-biased overlap, by equation 4.
        k: How many architectures a search could train.
        resamples: The number of bootstrap resamples.
        baseline: The proxy that the others are compared with.
    """
    yardstick = Yardstick.of(task.truth, task.metric, top_percent=top_percent, weight=weight, k=k)
    if baseline not in task.scores and baseline != BASELINE:
        raise UnknownName(
            f"{task.name} has no scores by the baseline {shorten(baseline)}; {nearest(baseline, task.scores)}"
        )
    columns = {name: _columns(scores) for name, scores in task.scores.items()}
    by_seed = {name: [yardstick.measured(task.truth, column) for column in seeds] for name, seeds in columns.items()}
    resampled = _resampled_means(task, columns, yardstick, rng, resamples)
    baseline_name = baseline if columns.get(baseline) else _best(by_seed)
    against = _comparisons(baseline_name, by_seed, resampled)
    judged = tuple(
        JudgedProxy(
            name,
            {
                measure: _estimate_of(measure, by_seed[name], resampled[name], columns[name], yardstick)
                for measure in MEASURES
            },
            against.get(name, {}),
            missing=_mean_missing(scores),
            seeds=len(columns[name]),
            empty_seeds=scores.shape[1] - len(columns[name]),
            seconds=task.seconds.get(name, float("nan")),
        )
        for name, scores in task.scores.items()
    )
    ceiling = noise_ceiling(task, top_percent=top_percent, weight=weight, k=k)
    return JudgedTask(
        task.name,
        task.metric,
        task.space,
        len(task),
        task.left_out,
        yardstick,
        yardstick.chance,
        baseline_name,
        resamples,
        judged,
        ceiling,
        tuple(_notes(yardstick, judged, requested=baseline, baseline=baseline_name, resamples=resamples)),
    )


def _columns(scores: Floats) -> list[Floats]:
    """The seeds that have a score at all, what is missing ranked last."""
    return [ranked_last(column) for column in scores.T if np.isfinite(column).any()]


def _mean_missing(scores: Floats) -> float:
    """How many architectures lack a score, the mean over seeds that have any; all of them where none has."""
    counts = np.isnan(scores).sum(axis=0)
    partial = counts[counts < len(scores)]
    return float(partial.mean()) if len(partial) else float(len(scores))


def _resampled_means(
    task: RankedTask,
    columns: Mapping[str, Sequence[Floats]],
    yardstick: Yardstick,
    rng: np.random.Generator,
    resamples: int,
) -> dict[str, Floats]:
    """By proxy, the mean over seeds of the headline measures on each resample, [headlines, resamples]."""
    flat = [column for seeds in columns.values() for column in seeds]
    values = resampled_headlines(task.truth, flat, yardstick, rng, resamples=resamples)
    ends = np.cumsum([0, *(len(seeds) for seeds in columns.values())])
    return {
        name: _mean(values[:, first:last], axis=1)
        for name, first, last in zip(columns, ends[:-1], ends[1:], strict=True)
    }


def _mean(values: Floats, axis: int) -> Floats:
    """The mean of the values that are not NaN."""
    finite = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(finite, values, 0.0).sum(axis=axis) / finite.sum(axis=axis)
    return means


def _estimate_of(
    measure: str,
    by_seed: Sequence[Mapping[str, float]],
    resampled: Floats,
    columns: Sequence[Floats],
    yardstick: Yardstick,
) -> MeasureEstimate:
    values = np.array([values_of_seed[measure] for values_of_seed in by_seed])
    values = values[~np.isnan(values)]
    if not len(values):
        return MeasureEstimate(float("nan"), reason=_reason(measure, columns, yardstick))
    std = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    low, high = _ends(resampled[HEADLINES.index(measure)]) if measure in HEADLINES else (float("nan"), float("nan"))
    return MeasureEstimate(float(values.mean()), std, low, high)


def _reason(measure: str, columns: Sequence[Floats], yardstick: Yardstick) -> str:
    if measure in yardstick.missing:
        return yardstick.missing[measure]
    if not columns:
        return "there is no score at all"
    if all((column == column[0]).all() for column in columns):
        return CONSTANT
    return "all scores in the top are equal" if measure == "top_spearman" else "all true values are equal"


def _ends(resampled: Floats) -> tuple[float, float]:
    finite = resampled[~np.isnan(resampled)]
    if not len(finite):
        return float("nan"), float("nan")
    low, high = np.quantile(finite, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


# --- against the baseline --------------------------------------------------------------------------------------------


def _best(by_seed: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    """The proxy with the highest Spearman correlation, the first where none has any."""
    means = {name: _estimate(values_of_seeds, "spearman") for name, values_of_seeds in by_seed.items()}
    return max(means, key=lambda name: means[name] if means[name] == means[name] else -np.inf)


def _estimate(by_seed: Sequence[Mapping[str, float]], measure: str) -> float:
    finite = [
        values_of_seed[measure] for values_of_seed in by_seed if values_of_seed[measure] == values_of_seed[measure]
    ]
    return sum(finite) / len(finite) if finite else float("nan")


def _comparisons(
    baseline: str, by_seed: Mapping[str, Sequence[Mapping[str, float]]], resampled: Mapping[str, Floats]
) -> dict[str, dict[str, BaselineComparison]]:
    """The differences by proxy and headline measure, without measures that either proxy lacks."""
    comparisons: dict[str, dict[str, BaselineComparison]] = {name: {} for name in by_seed}
    for place, measure in enumerate(HEADLINES):
        differences = {}
        for name in by_seed:
            estimate = _estimate(by_seed[name], measure) - _estimate(by_seed[baseline], measure)
            if name != baseline and estimate == estimate:
                differences[name] = _difference(estimate, resampled[name][place] - resampled[baseline][place])
        corrected = holm([difference.p for difference in differences.values()]).tolist()
        for (name, difference), p in zip(differences.items(), corrected, strict=True):
            comparisons[name][measure] = BaselineComparison(difference, p)
    return comparisons


def _difference(estimate: float, resampled: Floats) -> Difference:
    """As :func:`nasbed.evaluation.ranking.paired_bootstrap` has it; p is 1 without a finite resample."""
    finite = resampled[~np.isnan(resampled)]
    count = min(int((finite <= 0).sum()), int((finite >= 0).sum()))
    p = min(1.0, 2 * (count + 1) / (len(finite) + 1)) if len(finite) else 1.0
    return Difference(estimate, *_ends(resampled), p)


# --- notes ----------------------------------------------------------------------------------------------------------


def _notes(
    yardstick: Yardstick, judged: Sequence[JudgedProxy], *, requested: str, baseline: str, resamples: int
) -> list[str]:
    notes = []
    if 2 <= yardstick.top < FEW:
        notes.append(f"the top {yardstick.top_percent:g} % are {yardstick.top} architectures: too few to say much")
    notes += dict.fromkeys(yardstick.missing[name] for name in HEADLINES if name in yardstick.missing)
    if requested != baseline:
        notes.append(f"there are no scores by {requested}; the baseline is {baseline}, which has the highest Spearman")
    rivals = len(judged) - 1
    if rivals and 2 * rivals / (resamples + 1) >= LEVEL:
        limit = int(2 * rivals / LEVEL)
        notes.append(f"with {resamples} resamples no difference can be significant; use more than {limit}")
    notes += _missing_scores(judged)
    for proxy in judged:
        if proxy.empty_seeds:
            notes.append(f"{proxy.name} has no score at all with {proxy.empty_seeds} of its seeds: left out")
        reason = proxy.measures["spearman"].reason
        if reason and reason not in notes and proxy.seeds:
            notes.append(f"{proxy.name} has no correlation: {reason}")
    return notes


def _missing_scores(judged: Sequence[JudgedProxy]) -> list[str]:
    """How many architectures lack a score, those proxies together that lack as many."""
    by_count: dict[float, list[str]] = {}
    for proxy in judged:
        if proxy.missing and proxy.seeds:
            by_count.setdefault(proxy.missing, []).append(proxy.name)
    return [
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no score for {count:.4g} "
        f"architecture{'' if count == 1 else 's'}: ranked last"
        for count, names in sorted(by_count.items())
    ]
