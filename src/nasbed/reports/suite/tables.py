"""The tables of a suite: on its page, in the terminal, and as files for a paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from nasbed.drawing.blocks import TableBlock, TableCell
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, short, span, spanned
from nasbed.drawing.palette import LineStyle
from nasbed.drawing.table_files import latex_tabular, write_csv, write_text
from nasbed.evaluation.ranks import ranks
from nasbed.evaluation.suite.suite_summary import SuiteBenchmark, SuiteSummary
from nasbed.evaluation.summary import LEVEL, MethodSummary
from nasbed.reports.comparison.tables import interval_bar
from nasbed.reports.suite.words import NORMALISED, order_text, record_text, seeds_text

CSV_COLUMNS = (
    *("benchmark", "method", "seeds", "broken", "judged_by", "unit", "mean_regret", "low", "high", "median_regret"),
    *("random_regret", "normalised_regret", "rank", "wins", "ties", "losses"),
)

HERE = "here"
"""What a table says of runs that come from no file."""


def standings_rows(summary: SuiteSummary) -> NumberTable:
    """A row per method, the best first, for a terminal."""
    shared = ("method", "mean rank", "normalised regret", "first on", "wins/ties/losses", "broken runs")
    set_apart = any(_aside(summary, method) for method in summary.methods)
    columns = (*shared, *(("runs",) if set_apart else ()))
    rows = tuple(
        (
            method,
            f"{_mean_rank(summary, method):.2f}",
            spanned(summary.final_regret(method)),
            str(_firsts(summary, method)),
            record_text(summary.total_record(method)),
            str(_broken(summary, method)),
            *((_aside(summary, method) or HERE,) if set_apart else ()),
        )
        for method in summary.standings()
    )
    return NumberTable(columns, rows)


def suite_standings(summary: SuiteSummary, styles: Mapping[str, LineStyle]) -> TableBlock:
    """A row per method, the best first."""
    heads = (
        TableCell("method"),
        *(TableCell(text, "number") for text in ("mean rank", "mean normalised regret")),
        TableCell("95 % interval"),
        *(TableCell(text, "number") for text in ("rank over seeds", "first on", "wins/ties/losses", "broken")),
    )
    finals = {method: summary.final_regret(method) for method in summary.methods}
    widest = max((final.high for final in finals.values() if math.isfinite(final.high)), default=1.0)
    rows = []
    for method in summary.standings():
        final, rank = finals[method], summary.final_rank(method)
        firsts = f"{_firsts(summary, method)} of {len(summary.benchmarks)}"
        cells = (
            TableCell(method, small=_aside(summary, method), look=styles[method]),
            TableCell(f"{_mean_rank(summary, method):.2f}", "number"),
            TableCell(short(final.estimate), "number", span(final)),
            TableCell(bar=interval_bar(final, widest), bar_colour=styles[method].colour),
            TableCell(f"{rank.estimate:.2f}", "number", span(rank)),
            *(
                TableCell(text, "number")
                for text in (firsts, record_text(summary.total_record(method)), str(_broken(summary, method)))
            ),
        )
        rows.append(cells)
    return TableBlock(heads, tuple(rows), "standings")


def _aside(summary: SuiteSummary, method: str) -> str:
    """Below the name of a method: where its runs come from, and how many seeds they have if others have more."""
    seeds = summary.seeds(method)
    notes = (summary.sources.get(method, ""), seeds_text(seeds) if seeds != summary.usual_seeds else "")
    return ", ".join(filter(None, notes))


def wins_table(summary: SuiteSummary) -> TableBlock:
    """Wins, ties and losses of each method against each other."""
    order = summary.standings()

    def cell(row: str, column: str) -> TableCell:
        if row == column:
            return TableCell()
        won, tied, lost = summary.record(row, column)
        return TableCell(record_text((won, tied, lost)), "sure" if won > lost else "")

    return _matrix(order, [[cell(row, column) for column in order] for row in order])


def posterior_table(summary: SuiteSummary) -> TableBlock:
    """The probability that each method is better than each other."""
    order = summary.standings()

    def cell(row: str, column: str) -> TableCell:
        if row == column:
            return TableCell()
        if (row, column) in summary.posteriors:
            posterior = summary.posteriors[row, column]
            better = posterior.better
        else:
            posterior = summary.posteriors[column, row]
            better = posterior.worse
        return TableCell(f"{better:.2f}", "sure" if better > 1 - LEVEL else "", f"equal {posterior.equivalent:.2f}")

    return _matrix(order, [[cell(row, column) for column in order] for row in order])


def _matrix(names: Sequence[str], cells: Sequence[Sequence[TableCell]]) -> TableBlock:
    rows = tuple((TableCell(name, "head"), *row) for name, row in zip(names, cells, strict=True))
    return TableBlock((TableCell(), *map(TableCell, names)), rows, "pairs")


def left_out_table(summary: SuiteSummary) -> NumberTable:
    """The order of methods without each benchmark."""
    methods = list(summary.methods)
    rows = [("none", order_text(methods, summary.mean_ranks.tolist()), MISSING)]
    full = ranks(summary.mean_ranks[:, None])[:, 0]
    for item, values in zip(summary.benchmarks, summary.left_out, strict=True):
        moved = np.count_nonzero(ranks(values[:, None])[:, 0] != full)
        rows.append((item.name, order_text(methods, values.tolist()), str(moved)))
    return NumberTable(("left out", "order by mean rank, the best first", "methods that change places"), tuple(rows), 2)


def benchmark_table(summary: SuiteSummary) -> tuple[NumberTable, set[tuple[int, int]]]:
    """A row per benchmark with the mean final regret of each method, then means over benchmarks; and the cells in bold:
    the best of a row, and what does not differ significantly from it."""
    order = summary.standings()
    rows: list[tuple[str, ...]] = []
    bold: set[tuple[int, int]] = set()
    for item in summary.benchmarks:
        values = [_regret(item, method) for method in order]
        best = int(np.nanargmin(values)) if np.isfinite(values).any() else -1
        beaten = item.summary.beats(order[best]) if best >= 0 else []
        bold |= {
            (len(rows), j + 1) for j, name in enumerate(order) if np.isfinite(values[j]) and _equal(item, name, beaten)
        }
        rows.append((f"{item.name} [{item.summary.unit or item.summary.kind}]", *map(short, values)))
    finals = [summary.final_regret(method).estimate for method in order]
    places = [_mean_rank(summary, method) for method in order]
    for values, texts, label in (
        (finals, [short(value) for value in finals], "mean normalised regret"),
        (places, [f"{value:.2f}" for value in places], "mean rank"),
    ):
        if np.isfinite(values).any():
            bold |= {
                (len(rows), j + 1) for j in np.flatnonzero(np.isclose(values, np.nanmin(values), rtol=1e-9)).tolist()
            }
        rows.append((label, *texts))
    return NumberTable(("benchmark", *order), tuple(rows)), bold


def write_tables(folder: Path, summary: SuiteSummary) -> None:
    """Write ``table.csv``, a row per benchmark and method, and ``table.tex``, a row per benchmark."""
    write_csv(folder / "table.csv", CSV_COLUMNS, _csv_rows(summary))
    table, bold = benchmark_table(summary)
    comment = (
        f"{summary.title}: mean final regret by benchmark. Bold: the best of a row, and what does not differ from it "
        "by\n"
        f"Wilcoxon's signed-rank test over seeds with Holm's correction at 5 %. {NORMALISED}.\n"
        "Use it in a document with \\input{table.tex}; it needs no package."
    )
    text = latex_tabular(table, bold=bold, rules={len(summary.benchmarks)}, comment=comment)
    write_text(folder / "table.tex", text)


def _csv_rows(summary: SuiteSummary) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for item in summary.benchmarks:
        place = ranks(item.losses[:, None])[:, 0]
        for i, method in enumerate(summary.methods):
            details = _details(item, method)
            regret = item.summary.regret(details)
            won, lost = int(item.wins[i].sum()), int(item.wins[:, i].sum())
            numbers = (regret.estimate, regret.low, regret.high, item.summary.median(details), item.scale)
            rows.append(
                (
                    item.name,
                    method,
                    details.seeds,
                    len(details.errors),
                    item.summary.judged_by or item.summary.kind,
                    item.summary.unit,
                    *map(_csv_number, (*numbers, float(item.losses[i]), float(place[i]))),
                    won,
                    len(summary.methods) - 1 - won - lost,
                    lost,
                )
            )
    return rows


def _csv_number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else ""


def _details(item: SuiteBenchmark, method: str) -> MethodSummary:
    return next(details for details in item.summary.methods if details.method == method)


def _regret(item: SuiteBenchmark, method: str) -> float:
    return item.summary.regret(_details(item, method)).estimate


def _equal(item: SuiteBenchmark, method: str, beaten: Sequence[str]) -> bool:
    """Whether a method is the best or does not differ significantly from it; with too few seeds only the best is."""
    if item.summary.can_tell:
        return method not in beaten
    return _regret(item, method) == min(
        value for other in item.summary.methods if math.isfinite(value := _regret(item, other.method))
    )


def _mean_rank(summary: SuiteSummary, method: str) -> float:
    return float(summary.mean_ranks[summary.methods.index(method)])


def _firsts(summary: SuiteSummary, method: str) -> int:
    """On how many benchmarks a method has the smallest mean final regret."""
    losses = summary.losses
    return int((losses[summary.methods.index(method)] <= losses.min(axis=0)).sum())


def _broken(summary: SuiteSummary, method: str) -> int:
    return sum(len(_details(item, method).errors) for item in summary.benchmarks)


def regrets_block(summary: SuiteSummary) -> TableBlock:
    """The table of regrets for the page, its bold cells marked."""
    table, bold = benchmark_table(summary)
    rows = []
    for i, row in enumerate(table.rows):
        rows.append(
            (
                TableCell(row[0], "head"),
                *(TableCell(text, "sure" if (i, j) in bold else "") for j, text in enumerate(row[1:], start=1)),
            )
        )
    return TableBlock(tuple(map(TableCell, ("", *table.columns[1:]))), tuple(rows), "pairs")
