"""The tables of a comparison's page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from nasbed.drawing.blocks import Details, PageBlock, Paragraph, TableBlock, TableCell
from nasbed.drawing.number_texts import duration, share, short, span
from nasbed.drawing.palette import LineStyle
from nasbed.evaluation.significance import Interval
from nasbed.evaluation.summary import LEVEL, ComparisonSummary, MethodSummary
from nasbed.reports.comparison.standings import OUT_OF_DATE, TEST, beaten, called, failures, regret_label


def standings_table(summary: ComparisonSummary, styles: Mapping[str, LineStyle]) -> TableBlock:
    """A row per method, the best first."""
    numbers = ("median", "mean rank"), ("runs", "time to best", "thinking", "failed", "repeated")
    heads = (
        TableCell("method"),
        _number(f"mean final {regret_label(summary)}"),
        TableCell("95 % interval"),
        *map(_number, numbers[0]),
        TableCell("significantly better than"),
        *map(_number, numbers[1]),
    )
    standings = summary.standings()
    highs = [summary.regret(method).high for method in standings]
    widest = max((high for high in highs if math.isfinite(high)), default=1.0)
    return TableBlock(
        heads,
        tuple(_row(summary, method, styles[method.method], widest) for method in standings),
        "standings",
    )


def _number(text: str, small: str = "") -> TableCell:
    return TableCell(text, "number", small)


def _row(summary: ComparisonSummary, method: MethodSummary, look: LineStyle, widest: float) -> tuple[TableCell, ...]:
    regret = summary.regret(method)
    return (
        TableCell(called(summary, method), small=OUT_OF_DATE if method.out_of_date else "", look=look),
        _number(short(regret.estimate), span(regret)),
        TableCell(bar=interval_bar(regret, widest), bar_colour=look.colour),
        _number(short(summary.median(method))),
        _number(short(method.mean_rank.estimate), span(method.mean_rank)),
        TableCell(beaten(summary, method), "wide"),
        _number(str(method.seeds), f"{len(method.errors)} broke" if method.errors else ""),
        _number(duration(method.time_to_best_s)),
        _number(duration(method.thinking_s)),
        _number(failures(method)),
        _number(share(method.repeated)),
    )


def hypervolume_table(summary: ComparisonSummary, styles: Mapping[str, LineStyle]) -> TableBlock:
    """Methods by mean hypervolume, the largest first."""
    methods = [method for method in summary.methods if math.isfinite(method.hypervolume.estimate)]
    methods.sort(key=lambda method: -method.hypervolume.estimate)
    rows = tuple(
        (
            TableCell(method.method, look=styles[method.method]),
            _number(f"{method.hypervolume.estimate:.4f}"),
            _number(f"{method.hypervolume.low:.4f} to {method.hypervolume.high:.4f}"),
        )
        for method in methods
    )
    return TableBlock((TableCell("method"), _number("mean hypervolume"), _number("95 % interval")), rows)


def interval_bar(interval: Interval, widest: float) -> Interval | None:
    """The interval as a line and the mean as a dot, all methods on one scale from zero."""
    if not math.isfinite(interval.estimate):
        return None
    ends = (interval.estimate, interval.low, interval.high)
    shares = (max(end, 0.0) / widest if widest > 0 else 0.0 for end in ends)
    return Interval(*shares)


def pairs_table(summary: ComparisonSummary) -> Sequence[PageBlock]:
    """P-values of all pairs, folded away; empty for a single method."""
    if len(summary.methods) < 2:
        return ()
    standings = summary.standings()
    order = [summary.methods.index(method) for method in standings]
    names = [method.method for method in standings]
    rows = tuple(
        (TableCell(name, "head"), *(_p(float(summary.holm[i, j]), i == j) for j in order))
        for i, name in zip(order, names, strict=True)
    )
    table = TableBlock((TableCell(), *map(TableCell, names)), rows, "pairs")
    return (Details(f"p-values of all pairs ({TEST})", (table,)),)


def _p(value: float, same: bool) -> TableCell:
    if same:
        return TableCell()
    return TableCell("< 0.001" if value < 0.001 else f"{value:.3f}", "sure" if value < LEVEL else "")


def failures_table(summary: ComparisonSummary) -> Sequence[PageBlock]:
    """The runs that broke, with their errors; empty where none did."""
    broken = summary.broken()
    if not broken:
        return ()
    rows = tuple(
        (TableCell(method), TableCell(", ".join(map(str, seeds)), "wide"), TableCell(error, "wide"))
        for method, error, seeds in broken
    )
    total = sum(len(seeds) for _, _, seeds in broken)
    heading = f"{total} run{'s' if total != 1 else ''} broke: ranked last, left out of the means"
    return (
        Paragraph(heading, "heading"),
        TableBlock(tuple(map(TableCell, ("method", "seeds", "error"))), rows),
    )
