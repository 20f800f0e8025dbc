"""What the page of a suite says in sentences; the terminal says the same."""

from __future__ import annotations

import math
from itertools import pairwise

from nasbed.drawing.number_texts import MISSING, count_text, listed, short
from nasbed.evaluation.suite.suite_summary import ROPE, SuiteSummary
from nasbed.evaluation.summary import LEVEL

NORMALISED = (
    "Normalised regret is the regret divided by the median regret of 1 000 random architectures of the benchmark's "
    "space: 0 is the best architecture, 1 a random one"
)


def record_text(record: tuple[int, int, int]) -> str:
    """Wins, ties and losses.

    >>> record_text((3, 1, 0))
    '3/1/0'
    """
    return "/".join(map(str, record))


def p_text(p: float) -> str:
    """A p-value.

    >>> p_text(0.00002), p_text(0.0312)
    ('p < 0.001', 'p = 0.031')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def lead(summary: SuiteSummary) -> str:
    """What was compared, in one sentence."""
    seeds = sorted({method.seeds for item in summary.benchmarks for method in item.summary.methods})
    spread = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    return (
        f"{count_text(len(summary.methods), 'method')} on {count_text(len(summary.benchmarks), 'benchmark')}, {spread} "
        f"seed{'s' if seeds != [1] else ''} each."
    )


def suite_verdict(summary: SuiteSummary) -> str:
    """The result in words."""
    order = summary.standings()
    first = order[0]
    rank = float(summary.mean_ranks[summary.methods.index(first)])
    if len(order) == 1:
        return f"{first} was run alone: add methods to compare it with."
    equal = [
        method
        for method, other in zip(summary.methods, summary.mean_ranks, strict=True)
        if math.isclose(other, rank, abs_tol=1e-9)
    ]
    if len(equal) > 1:
        text = f"{listed(sorted(equal, key=order.index))} share the best mean rank, {short(rank)} of {len(order)}."
    else:
        text = f"{first} has the best mean rank, {short(rank)} of {len(order)}"
        regret = summary.final_regret(first).estimate
        text += f", and a mean normalised regret of {short(regret)}." if math.isfinite(regret) else "."
    if summary.friedman.p >= LEVEL:
        return (
            f"{text} Friedman's test finds no difference between methods over these benchmarks "
            f"({p_text(summary.friedman.p)}), so the order may be chance."
        )
    group = next((group for group in summary.groups if first in group), (first,))
    rivals = [method for method in order if method in group and method not in equal]
    they_differ, they_do = ("They differ", "they do") if len(equal) > 1 else ("It differs", "it does")
    if not rivals:
        return f"{text} {they_differ} significantly from all others over these benchmarks (Nemenyi's test)."
    return f"{text} Over these benchmarks {they_do} not differ significantly from {listed(rivals)} (Nemenyi's test)."


def difference_text(summary: SuiteSummary) -> str:
    """What the diagram of critical differences shows."""
    number = len(summary.benchmarks)
    return (
        f"Methods are ranked once on each benchmark, by mean final regret; a point is the mean of its {number} "
        f"rank{'s' if number != 1 else ''}. Friedman's test of the hypothesis that all rank alike: χ² = "
        f"{short(summary.friedman.statistic)}, {p_text(summary.friedman.p)}. Bars join methods that Nemenyi's test "
        "does not tell apart at 5 %: their mean ranks lie less than the critical difference CD = "
        f"{summary.critical_difference:.2f} apart. Benchmarks are the sample here, not seeds, so few benchmarks tell "
        "little (Demšar 2006). The tests take benchmarks for independent, which surrogates of one table are not."
    )


WINS = (
    "Wins, ties and losses of the row's method against the column's: on how many benchmarks it is significantly "
    "better, not significantly different, and significantly worse, by Wilcoxon's signed-rank test by seed with Holm's "
    "correction for all pairs of methods on a benchmark."
)
POSTERIOR = (
    "The posterior probability that the row's method has the smaller normalised regret over benchmarks such as these, "
    f"and in small print that the two differ by less than {ROPE:g}: the Bayesian signed-rank test (Benavoli et al. "
    "2017). Unlike a p-value it can also say that two methods are equal. It takes these benchmarks for a sample of "
    "the ones that matter, and is too sure of itself if they are alike."
)
CURVES = (
    "The mean over benchmarks, each with the same weight, of the mean over seeds. Bands are 95 % intervals of the "
    "stratified bootstrap: what other seeds would give on these benchmarks. A curve begins when all runs of a method "
    "have found something. Point at a curve to read it; the buttons show and hide methods in all figures."
)
RANKS = (
    "Methods ranked within each seed of each benchmark, 1 the best, and the mean over both. A run that has found "
    "nothing yet, or broke, is last."
)
LEFT_OUT = "The order by mean rank when one benchmark is left out. A result that hangs on one benchmark changes here."
MULTIPLES = {
    centre: f"{shown}, in the unit of each benchmark, over the share of its budget."
    for centre, shown in (
        ("median", "The median regret over seeds and the quartiles"),
        ("mean", "The mean regret over seeds and its 95 % bootstrap interval"),
    )
}


def remarks_of(summary: SuiteSummary) -> list[str]:
    """What a reader should know before reading the numbers, a sentence or two each."""
    lines = []
    if summary.missing:
        absent = "; ".join(f"{name} ({why})" for name, why in summary.missing.items())
        lines.append(f"Benchmarks of the suite that are not in this comparison: {absent}.")
    lines += [f"{method} is left out: {why}." for method, why in summary.omitted.items()]
    lines += _seeds_remark(summary)
    unknown = [item.name for item in summary.benchmarks if item.summary.best_of_runs]
    if unknown:
        lines.append(
            f"The best architecture of {listed(unknown)} is not known: regrets there are measured from the best that "
            "any of these runs found."
        )
    by_text: dict[str, list[str]] = {}
    for item in summary.benchmarks:
        for remark in item.summary.remarks:
            by_text.setdefault(remark.text, []).append(item.name)
    return [*lines, *(f"{', '.join(names)}: {text}" for text, names in by_text.items())]


def _seeds_remark(summary: SuiteSummary) -> list[str]:
    """How numbers of seeds differ, and what follows; nothing if all methods have the same."""
    by_seeds: dict[tuple[int, int], list[str]] = {}
    for method in summary.methods:
        by_seeds.setdefault(summary.seeds(method), []).append(method)
    usual = summary.usual_seeds
    clauses = [
        f"{listed(names)} {'has' if len(names) == 1 else 'have'} {seeds_text(seeds)}"
        for seeds, names in by_seeds.items()
        if seeds != usual
    ]
    if not clauses:
        return []
    return [
        f"{'; '.join(clauses)}, the other methods have {seeds_text(usual)}. Means are over the seeds of each method, "
        "tests over those that two methods share, and ranks over those that all share."
    ]


def seeds_text(seeds: tuple[int, int]) -> str:
    """A number of seeds, or the range of several.

    >>> seeds_text((3, 3)), seeds_text((1, 5))
    ('3 seeds', '1 to 5 seeds')
    """
    few, many = seeds
    return count_text(few, "seed") if few == many else f"{few} to {many} seeds"


def order_text(names: list[str], values: list[float]) -> str:
    """Methods by mean rank, the best first; equal ones are joined by an equals sign.

    >>> order_text(["a", "b", "c"], [2.0, 1.0, 2.0])
    'b, a = c'
    """
    if not names:
        return MISSING
    ordered = sorted(zip(values, names, strict=True), key=lambda item: round(item[0], 9))
    text = ordered[0][1]
    for (before, _), (value, name) in pairwise(ordered):
        text += f" = {name}" if math.isclose(before, value, abs_tol=1e-9) else f", {name}"
    return text
