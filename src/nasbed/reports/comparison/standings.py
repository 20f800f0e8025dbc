"""The standings in words and in the cells of a table: the same text on the page and in the terminal."""

from __future__ import annotations

import math

from nasbed.drawing.number_texts import MISSING, duration, share, short, spanned
from nasbed.evaluation.remarks import Remark, percent
from nasbed.evaluation.summary import ComparisonSummary, MethodSummary

MARK = "*"
"""Marks a method that has a remark."""
OUT_OF_DATE = "out of date"
"""Marks a method with stored runs that no longer hold; a note gives the reason."""
MOST_NAMED = 4
TEST = "Wilcoxon's signed-rank test by seed, Holm's correction"


def regret_label(summary: ComparisonSummary) -> str:
    """The regret by which methods are compared, as the title of an axis or a column."""
    return f"{summary.kind} regret" + (f" [{summary.unit}]" if summary.unit else "")


def regret_meaning(summary: ComparisonSummary) -> str:
    """The definition of the regret."""
    if not summary.judged_by:
        return f"{summary.kind} regret is the distance of the best value found to {_best(summary)} in any of these runs"
    return (
        f"{summary.kind} regret is the distance of the mean {summary.judged_by} of the architecture found to "
        f"{_best(summary)} {best_is(summary)}"
    )


def best_is(summary: ComparisonSummary) -> str:
    """Which best value the regret is measured from."""
    return "of these runs" if summary.best_of_runs else "known"


def _best(summary: ComparisonSummary) -> str:
    return f"{summary.best:.4g}, the best" if math.isfinite(summary.best) else "the best"


def verdict(summary: ComparisonSummary) -> str:
    """The result in words."""
    ranked = [standing for standing in summary.standings() if math.isfinite(summary.regret(standing).estimate)]
    if not ranked:
        return f"No run found anything. {_cause(summary)}".rstrip()
    first, unit = ranked[0], f" {summary.unit}" if summary.unit else ""
    over = f"over {first.finished} run{'s' if first.finished != 1 else ''}"
    text = f"{first.method} ends with the smallest mean {summary.kind} regret, "
    text += f"{short(summary.regret(first).estimate)}{unit} {over}."
    rivals = [standing.method for standing in summary.standings()[1:]]
    if not rivals or not summary.can_tell:
        return text
    beaten = summary.beats(first.method)
    equal = [method for method in rivals if method not in beaten]
    if not equal:
        return f"{text} All others are significantly worse."
    return f"{text} Not significantly different from it: {', '.join(equal)}."


def _cause(summary: ComparisonSummary) -> str:
    """Why nothing was found: the error of the first broken run, or the benchmark's refusal."""
    broken = summary.broken()
    if broken:
        return f"Broke: {broken[0][1]}"
    refused = next((reason for method in summary.methods for reason in method.refusals), "")
    return f"The benchmark refused: {refused}" if refused else ""


def called(summary: ComparisonSummary, method: MethodSummary) -> str:
    """A method's name, with a mark where there is a remark on it."""
    return f"{method.method} {MARK}" if summary.remarked(method.method) else method.method


def marked(remark: Remark) -> str:
    """A remark as a line, with the mark that stands beside the method."""
    return f"{MARK} {remark.text}" if remark.method else remark.text


def failures(method: MethodSummary) -> str:
    """How many evaluations failed, and their share where any did."""
    return f"{method.failed} ({percent(method.failed_share)})" if method.failed else "0"


def table(summary: ComparisonSummary) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Columns and rows for a terminal, the best first."""
    unit = f" [{summary.unit}]" if summary.unit else ""
    columns = ("method", "seeds", f"mean {summary.kind} regret{unit}", "mean rank", "beats", "time to best",
               "thinking", "failed", "repeated")  # fmt: skip
    return columns, [
        (
            f"{standing.method} ({OUT_OF_DATE}) {MARK}" if standing.out_of_date else called(summary, standing),
            f"{standing.seeds} ({len(standing.errors)} broke)" if standing.errors else f"{standing.seeds}",
            spanned(summary.regret(standing)),
            spanned(standing.mean_rank),
            beaten(summary, standing),
            duration(standing.time_to_best_s),
            duration(standing.thinking_s),
            failures(standing),
            share(standing.repeated),
        )
        for standing in summary.standings()
    ]


def caption(summary: ComparisonSummary) -> str:
    """The meaning of the table's columns."""
    meaning = regret_meaning(summary)
    return (
        f"{meaning[0].upper()}{meaning[1:]}. Intervals are 95 % bootstrap intervals over seeds. Significantly better: "
        f"p < 0.05 by {TEST}. Time to best: on the simulated clock, the median over seeds. Thinking: real time in the "
        "method itself. Failed: evaluations that gave no result, over all runs. Repeated: evaluations of what the same "
        f"run had evaluated before. {MARK}: read the remark on it."
    )


def footnotes(summary: ComparisonSummary) -> list[str]:
    """The meaning of the table, remarks, and the runs that broke."""
    meaning = regret_meaning(summary)
    lines = [
        f"{meaning[0].upper()}{meaning[1:]}; in brackets, 95 % bootstrap intervals. Beats: p < 0.05 by {TEST}.",
        *map(marked, summary.remarks),
    ]
    return lines + [
        f"Broke: {method}, seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}: {error}"
        for method, error, seeds in summary.broken()
    ]


def beaten(summary: ComparisonSummary, standing: MethodSummary) -> str:
    """The methods that a method is significantly better than, or all but the others where those are fewer."""
    worse = summary.beats(standing.method)
    rivals = [rival.method for rival in summary.standings() if rival is not standing]
    not_worse = [method for method in rivals if method not in worse]
    if not worse:
        return MISSING
    if len(worse) > 1 and not not_worse:
        return "all others"
    if len(worse) > MOST_NAMED and len(not_worse) < len(worse):
        return f"all but {', '.join(not_worse)}"
    return ", ".join(worse)
