"""The statements of "Zero-Cost Benchmarks: Towards Lower Reliance on Spearman Rank Correlation", each with a verdict.

A criterion, written beside each statement, decides its verdict from numbers. Where the tasks lack what a statement
needs, or the numbers leave it open, the verdict is that it cannot be said here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil
from typing import Any, Literal

import numpy as np

from nasbed.drawing.number_texts import fixed, listed
from nasbed.evaluation.significance import Interval
from nasbed.studies.zero_cost.samples import GLOBAL, RBO, TOP, SampledMeasures, ends, interval_numbers

Verdict = Literal["holds", "does not hold", "cannot be said here"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "cannot be said here"

SMALLEST_TOP = 10
EXCELLENT = 0.7
ALIKE = 0.5
SURE = 0.975
FEWEST = 5
"""The least number of proxies whose order is judged."""
CORRELATED = 0.3
SHOWN = 3
"""The most pairs of proxy and task that a sentence names."""
NAMES = {GLOBAL: "Spearman over all", TOP: "Spearman within the top", RBO: "normalised RBO"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim, its criterion, the verdict, and the reason in words and numbers.

    ``ours`` marks a claim that the paper does not make.
    """

    key: str
    claim: str
    criterion: str
    verdict: Verdict
    why: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    ours: bool = False


def statements(tasks: Sequence[SampledMeasures]) -> tuple[Statement, ...]:
    """All statements: those of the paper in its order, then ours."""
    return (
        drop_at_the_top(tasks),
        excellent_but_blind(tasks),
        different_orders(tasks),
        *(best_varies(tasks, measure) for measure in (GLOBAL, TOP, RBO)),
        collapse(tasks),
        hidden_strength(tasks),
        beyond_range(tasks),
        short_of_overlap(tasks),
        noisy_truth(tasks),
    )


def drop_at_the_top(tasks: Sequence[SampledMeasures]) -> Statement:
    """S1: correlation drops from the whole space to the top."""
    claim = "For all proxies and on most tasks, correlation drops significantly from the whole space to the top."
    criterion = (
        "Every proxy has a drop whose 95 % bootstrap interval lies above 0 on more than half of the tasks. "
        f"Needs {SMALLEST_TOP} architectures in the top."
    )
    usable = [task for task in tasks if task.top >= SMALLEST_TOP]
    if not usable:
        return Statement("S1", claim, criterion, OPEN, _small_top(tasks))
    drops = {task.task: {proxy: task.drop(proxy) for proxy in task.proxies} for task in usable}
    proxies = _all_proxies(usable)
    fallen = {proxy: [by_proxy[proxy].low > 0 for by_proxy in drops.values() if proxy in by_proxy] for proxy in proxies}
    short = [proxy for proxy in proxies if 2 * sum(fallen[proxy]) <= len(fallen[proxy])]
    pairs, total = sum(map(sum, fallen.values())), sum(map(len, fallen.values()))
    mean = float(np.mean([drop.estimate for by_proxy in drops.values() for drop in by_proxy.values()]))
    reason = f"{pairs} of {total} pairs of proxy and task drop significantly, by {mean:.2f} in the mean"
    reason += f"; not on most tasks: {listed(short)}." if short else "; every proxy does on most tasks."
    numbers = {
        "drops": {
            task: {proxy: interval_numbers(drop) for proxy, drop in by_proxy.items()}
            for task, by_proxy in drops.items()
        },
        "without": short,
    }
    return Statement("S1", claim, criterion, FAILS if short else HOLDS, reason, numbers)


def excellent_but_blind(tasks: Sequence[SampledMeasures]) -> Statement:
    """S2: some proxies are excellent over the whole space and blind at the top."""
    claim = "Some proxies with excellent correlation over the whole space have none, or a negative one, at the top."
    criterion = (
        f"At least one proxy on one task has a correlation of {EXCELLENT} or more over all. Within the top, its 95 % "
        "interval reaches 0 or below and ends below half of the correlation over all."
    )
    usable = [task for task in tasks if task.top >= SMALLEST_TOP]
    if not usable:
        return Statement("S2", claim, criterion, OPEN, _small_top(tasks))
    good = [(task, proxy) for task in usable for proxy in task.proxies if task.value(GLOBAL, proxy) >= EXCELLENT]
    if not good:
        highest = max(task.value(GLOBAL, proxy) for task in usable for proxy in task.proxies)
        return Statement("S2", claim, criterion, OPEN, f"No proxy is excellent over all; the best has {highest:.2f}.")
    blind = [
        (task, proxy)
        for task, proxy in good
        if task.interval(TOP, proxy).low <= 0 and task.interval(TOP, proxy).high < task.value(GLOBAL, proxy) / 2
    ]
    blind.sort(key=lambda pair: pair[0].value(TOP, pair[1]))
    examples = [
        f"{proxy} on {task.task} ({task.value(GLOBAL, proxy):.2f} over all, "
        f"{_interval_text(task.interval(TOP, proxy))} within)"
        for task, proxy in blind[:SHOWN]
    ]
    first = ", first of all " if len(blind) > SHOWN else ": "
    reason = f"{len(blind)} of {len(good)} excellent pairs of proxy and task are blind there"
    reason += f"{first}{listed(examples)}." if examples else "."
    excellent = {
        f"{proxy} on {task.task}": {
            "all": task.value(GLOBAL, proxy),
            "top": interval_numbers(task.interval(TOP, proxy)),
        }
        for task, proxy in good
    }
    numbers = {"excellent": excellent, "blind": [f"{proxy} on {task.task}" for task, proxy in blind]}
    return Statement("S2", claim, criterion, HOLDS if blind else FAILS, reason, numbers)


def different_orders(tasks: Sequence[SampledMeasures]) -> Statement:
    """S3: RBO orders proxies differently from Spearman."""
    claim = "Results by RBO are very different from those by Spearman."
    criterion = (
        "The rank correlation between the proxies' order by Spearman and by RBO, the mean over tasks, has a 95 % "
        f"interval below {ALIKE}; it does not hold where the interval lies above. Needs {FEWEST} proxies."
    )
    usable = [task for task in tasks if len(task.proxies) >= FEWEST]
    if not usable:
        return Statement("S3", claim, criterion, OPEN, "Too few proxies were scored.")
    alike = np.array([task.orders_alike(GLOBAL, RBO) for task in usable])
    means = alike.mean(axis=0)
    mean = Interval(float(means[0]), *ends(means[1:]))
    verdict = HOLDS if mean.high < ALIKE else FAILS if mean.low >= ALIKE else OPEN
    by_task = [f"{task.task} {row[0]:.2f}" for task, row in zip(usable, alike, strict=True)]
    reason = f"The orders correlate by {_interval_text(mean)} ({', '.join(by_task)})."
    numbers = {task.task: [row[0], *ends(row[1:])] for task, row in zip(usable, alike, strict=True)}
    return Statement(
        "S3", claim, criterion, verdict, reason, {"orders_spearman": numbers, "mean": interval_numbers(mean)}
    )


def best_varies(tasks: Sequence[SampledMeasures], measure: str) -> Statement:
    """S4: the best proxy varies with the task, by one measure."""
    key, name = f"S4 {measure.replace('_', ' ')}", NAMES[measure]
    claim = f"The best proxy varies with the task, by {name}."
    criterion = (
        "On two tasks different proxies are best, and each is ahead of the other on its own task on "
        f"{100 * SURE:g} % of resamples or more. It does not hold where one proxy is best on all; otherwise the "
        "difference may be due to chance. Needs 2 tasks."
    )
    best = {task.task: task.order(measure)[0] for task in tasks}
    leaders = ", ".join(f"{proxy} on {task}" for task, proxy in best.items())
    numbers = {"best": best}
    if len(tasks) < 2:
        return Statement(key, claim, criterion, OPEN, f"There is one task only: {leaders}.", numbers)
    if len(set(best.values())) == 1:
        return Statement(
            key, claim, criterion, FAILS, f"The best is {next(iter(best.values()))} on every task.", numbers
        )
    sure = any(
        first.ahead(measure, best[first.task], best[second.task]) >= SURE
        and second.ahead(measure, best[second.task], best[first.task]) >= SURE
        for first, second in combinations(tasks, 2)
        if best[first.task] != best[second.task] and _share_proxies(first, second, best)
    )
    reason = f"Best are {leaders}" + ("." if sure else "; the difference may be due to chance.")
    return Statement(key, claim, criterion, HOLDS if sure else OPEN, reason, numbers)


def _share_proxies(first: SampledMeasures, second: SampledMeasures, best: Mapping[str, str]) -> bool:
    """Whether each of two tasks has scores by the best proxy of the other."""
    return best[second.task] in first.proxies and best[first.task] in second.proxies


def collapse(tasks: Sequence[SampledMeasures], proxies: Sequence[str] = ("params", "synflow")) -> Statement:
    """S5: these proxies are good by Spearman and collapse by RBO."""
    claim = f"{' and '.join(proxies)} are consistently good by Spearman and collapse by RBO."
    criterion = (
        "Each is in the better half of all proxies by Spearman on more than half of the tasks, and in the worse half "
        f"by RBO on more than half. Needs both of them and {FEWEST} proxies."
    )
    usable = [task for task in tasks if len(task.proxies) >= FEWEST and set(proxies) <= set(task.proxies)]
    if not usable:
        return Statement(
            "S5", claim, criterion, OPEN, f"No task has scores of {' and '.join(proxies)} and enough others."
        )
    good = {proxy: [2 * task.place(GLOBAL, proxy) <= len(task.proxies) for task in usable] for proxy in proxies}
    collapsed = {proxy: [2 * task.place(RBO, proxy) > len(task.proxies) + 1 for task in usable] for proxy in proxies}
    holds = all(_is_majority(good[proxy]) and _is_majority(collapsed[proxy]) for proxy in proxies)
    return Statement(
        "S5", claim, criterion, HOLDS if holds else FAILS, _places_text(usable, proxies), _places(usable, proxies)
    )


def hidden_strength(tasks: Sequence[SampledMeasures], proxy: str = "ntk") -> Statement:
    """S6: this proxy is poor by Spearman and among the best by RBO."""
    claim = f"{proxy} is poor by Spearman but among the best by RBO."
    criterion = (
        "It is in the worse half of all proxies by Spearman on more than half of the tasks, and in the best quarter by "
        f"RBO on more than half. Needs its scores and {FEWEST} proxies."
    )
    usable = [task for task in tasks if len(task.proxies) >= FEWEST and proxy in task.proxies]
    if not usable:
        return Statement("S6", claim, criterion, OPEN, f"No task has scores of {proxy} and enough others.")
    poor = [2 * task.place(GLOBAL, proxy) > len(task.proxies) + 1 for task in usable]
    best = [task.place(RBO, proxy) <= ceil(len(task.proxies) / 4) for task in usable]
    verdict = HOLDS if _is_majority(poor) and _is_majority(best) else FAILS
    return Statement("S6", claim, criterion, verdict, _places_text(usable, [proxy]), _places(usable, [proxy]))


def beyond_range(tasks: Sequence[SampledMeasures]) -> Statement:
    """Ours: whether the drop is more than restriction of range."""
    claim = "The drop at the top is more than what a smaller range of true values gives any proxy."
    criterion = (
        "The reference is a Gaussian copula: the same correlation over all, and equal errors everywhere. Of the pairs "
        "of proxy and task with a significant drop, more than half have a correlation within the top below the middle "
        "95 % of the reference in a top of that size."
    )
    usable = [task for task in tasks if task.top >= SMALLEST_TOP and task.reference is not None]
    rows, numbers, deeper = [], {}, []
    for task in usable:
        for place, proxy in enumerate(task.proxies):
            assert task.reference is not None
            expected, observed = task.reference.in_top(place), task.value(TOP, proxy)
            numbers[f"{proxy} on {task.task}"] = {
                "all": task.value(GLOBAL, proxy),
                "top": observed,
                "expected": interval_numbers(expected),
            }
            if task.drop(proxy).low > 0:
                rows.append((task.value(GLOBAL, proxy), observed, expected))
                deeper += [proxy] if observed < expected.low else []
    if not rows:
        return Statement(
            "R top",
            claim,
            criterion,
            OPEN,
            _small_top(tasks) if not usable else "No correlation drops significantly.",
            numbers,
            True,
        )
    below = len(deeper)
    above = sum(observed > expected.high for _, observed, expected in rows)
    fall = float(np.mean([over_all - observed for over_all, observed, _ in rows]))
    expected_fall = float(np.mean([over_all - expected.estimate for over_all, _, expected in rows]))
    reason = (
        f"Of {len(rows)} significant drops, {below} are deeper than the smaller range gives, "
        f"{len(rows) - below - above} as deep and {above} less deep; the mean drop is {fall:.2f}, "
        f"that of the reference {expected_fall:.2f}."
    )
    often = [name for name, count in Counter(deeper).items() if 2 * count > len(usable)]
    reason += f" Deeper on most tasks: {listed(often)}." if often else ""
    return Statement("R top", claim, criterion, HOLDS if 2 * below > len(rows) else FAILS, reason, numbers, True)


def short_of_overlap(tasks: Sequence[SampledMeasures]) -> Statement:
    """Ours: whether proxies find the best as well as their correlation over all predicts."""
    claim = "Proxies find the best less well than their correlation over all predicts."
    criterion = (
        f"Of the pairs of proxy and task with a correlation of {CORRELATED} or more over all, more than half fall "
        "short: the 95 % interval of their RBO ends below the middle 95 % of the same reference, a Gaussian copula."
    )
    rows, numbers, short = [], {}, 0
    for task in tasks:
        for place, proxy in enumerate(task.proxies):
            if task.reference is None or not task.value(GLOBAL, proxy) >= CORRELATED:
                continue
            expected, observed = task.reference.overlap(place), task.interval(RBO, proxy)
            numbers[f"{proxy} on {task.task}"] = {
                "rbo": interval_numbers(observed),
                "expected": interval_numbers(expected),
            }
            rows.append((observed.estimate, expected.estimate))
            short += observed.high < expected.low
    if not rows:
        return Statement("R rbo", claim, criterion, OPEN, f"No proxy has a correlation of {CORRELATED}.", ours=True)
    mean, reference = np.mean(rows, axis=0)
    reason = (
        f"{short} of {len(rows)} pairs of proxy and task are below the reference; the mean RBO is {mean:.2f}, that of "
        f"the reference {reference:.2f}."
    )
    return Statement("R rbo", claim, criterion, HOLDS if 2 * short > len(rows) else FAILS, reason, numbers, True)


def noisy_truth(tasks: Sequence[SampledMeasures]) -> Statement:
    """Ours: whether the truth itself can order the top."""
    claim = "The order within the top is largely noise of the trainings themselves."
    criterion = (
        "One training, compared with the mean of the others, has a Spearman correlation below 0.5 within the top on "
        f"more than half of the tasks. This needs repeated trainings and {SMALLEST_TOP} architectures in the top."
    )
    ceilings = {task.task: task.ceiling for task in tasks if task.top >= SMALLEST_TOP and task.ceiling is not None}
    ceilings = {name: ceiling for name, ceiling in ceilings.items() if np.isfinite(ceiling.top_spearman)}
    if not ceilings:
        return Statement("N", claim, criterion, OPEN, "No task has enough repeated trainings to decide.", ours=True)
    clauses = [
        f"{name}: {ceiling.top_spearman:.2f} within the top, {ceiling.spearman:.2f} over all"
        for name, ceiling in ceilings.items()
    ]
    verdict = HOLDS if _is_majority([ceiling.top_spearman < 0.5 for ceiling in ceilings.values()]) else FAILS
    numbers = {
        name: {"all": ceiling.spearman, "top": ceiling.top_spearman, "rbo": ceiling.rbo}
        for name, ceiling in ceilings.items()
    }
    return Statement("N", claim, criterion, verdict, f"{'; '.join(clauses)}.", numbers, True)


# --- words -----------------------------------------------------------------------------------------------------------


def _small_top(tasks: Sequence[SampledMeasures]) -> str:
    largest = max((task.top for task in tasks), default=0)
    return f"The top has at most {largest} architectures, too few to rank."


def _places_text(tasks: Sequence[SampledMeasures], proxies: Sequence[str]) -> str:
    parts = []
    for proxy in proxies:
        places = [
            f"{task.task} {task.place(GLOBAL, proxy)} and {task.place(RBO, proxy)} of {len(task.proxies)}"
            for task in tasks
        ]
        parts.append(f"{proxy} by Spearman and by RBO: {', '.join(places)}")
    return f"Places of {'; of '.join(parts)}."


def _places(tasks: Sequence[SampledMeasures], proxies: Sequence[str]) -> dict[str, Any]:
    return {
        proxy: {task.task: {measure: task.place(measure, proxy) for measure in (GLOBAL, TOP, RBO)} for task in tasks}
        for proxy in proxies
    }


def _all_proxies(tasks: Sequence[SampledMeasures]) -> list[str]:
    return list(dict.fromkeys(proxy for task in tasks for proxy in task.proxies))


def _is_majority(facts: Sequence[bool]) -> bool:
    return 2 * sum(facts) > len(facts)


def _interval_text(interval: Interval) -> str:
    return f"{fixed(interval.estimate, 2)} [{fixed(interval.low, 2)} to {fixed(interval.high, 2)}]"
