"""The tables of a comparison's page, as HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

from nasbed.drawing.interactive import Look, key
from nasbed.drawing.number_texts import digits, duration, share, span
from nasbed.evaluation.significance import Interval
from nasbed.evaluation.summary import LEVEL, ComparisonSummary, MethodSummary
from nasbed.reports.comparison.standings import (
    OUT_OF_DATE,
    TEST,
    beaten,
    called,
    failures,
    regret_label,
)


def standings_table(summary: ComparisonSummary, styles: Mapping[str, Look]) -> str:
    """Methods, the best first."""
    heads = (
        f'<th>method</th><th class="number">mean final {escape(regret_label(summary))}</th><th>95 % interval</th>'
        '<th class="number">median</th><th class="number">mean rank</th><th>significantly better than</th>'
        '<th class="number">runs</th><th class="number">time to best</th><th class="number">thinking</th>'
        '<th class="number">failed</th><th class="number">repeated</th>'
    )
    standings = summary.standings()
    highs = [summary.regret(each).high for each in standings]
    widest = max((high for high in highs if math.isfinite(high)), default=1.0)
    rows = "".join(_row(summary, each, styles[each.method], widest) for each in standings)
    return _table("standings", heads, rows)


def _row(summary: ComparisonSummary, each: MethodSummary, look: Look, widest: float) -> str:
    outdated = f"<small>{OUT_OF_DATE}</small>" if each.out_of_date else ""
    broken = f"<small>{len(each.errors)} broke</small>" if each.errors else ""
    regret = summary.regret(each)
    numbers = (duration(each.time_to_best_s), duration(each.thinking_s), failures(each), share(each.repeated))
    return (
        f"<tr><td>{key(look)} {escape(called(summary, each))}{outdated}</td>"
        f'<td class="number">{digits(regret.estimate)}<small>{span(regret)}</small></td>'
        f"<td>{_bar(regret, look, widest)}</td>"
        f'<td class="number">{digits(summary.median(each))}</td>'
        f'<td class="number">{digits(each.mean_rank.estimate)}<small>{span(each.mean_rank)}</small></td>'
        f'<td class="wide">{escape(beaten(summary, each))}</td>'
        f'<td class="number">{each.seeds}{broken}</td>'
        + "".join(f'<td class="number">{text}</td>' for text in numbers)
        + "</tr>"
    )


def hypervolume_table(summary: ComparisonSummary, styles: Mapping[str, Look]) -> str:
    """Methods by mean hypervolume, the largest first."""
    shown = [each for each in summary.methods if math.isfinite(each.hypervolume.estimate)]
    shown.sort(key=lambda each: -each.hypervolume.estimate)
    rows = "".join(
        f"<tr><td>{key(styles[each.method])} {escape(each.method)}</td>"
        f'<td class="number">{each.hypervolume.estimate:.4f}</td>'
        f'<td class="number">{each.hypervolume.low:.4f} to {each.hypervolume.high:.4f}</td></tr>'
        for each in shown
    )
    heads = '<th>method</th><th class="number">mean hypervolume</th><th class="number">95 % interval</th>'
    return _table("volumes", heads, rows)


def _bar(interval: Interval, look: Look, widest: float) -> str:
    """The interval as a line and the mean as a dot, all methods on one scale from zero."""
    if not math.isfinite(interval.estimate):
        return ""
    scale = 138 / widest if widest > 0 else 0.0
    low, middle, high = (4 + scale * max(end, 0.0) for end in (interval.low, interval.estimate, interval.high))
    return (
        f'<svg class="bar" viewBox="0 0 146 16" aria-hidden="true"><line x1="{low:.1f}" x2="{high:.1f}" y1="8" y2="8"/>'
        f'<circle cx="{middle:.1f}" cy="8" r="4" fill="{look.colour}"/></svg>'
    )


def pairs_table(summary: ComparisonSummary) -> str:
    """P-values of all pairs, folded away."""
    if len(summary.methods) < 2:
        return ""
    standings = summary.standings()
    place = [summary.methods.index(each) for each in standings]
    names = [escape(each.method) for each in standings]
    heads = "".join(f"<th>{name}</th>" for name in names)
    rows = "".join(
        f"<tr><th>{name}</th>" + "".join(_p(float(summary.holm[i, j]), i == j) for j in place) + "</tr>"
        for i, name in zip(place, names, strict=True)
    )
    about = f"p-values of all pairs ({TEST})"
    return f"<details><summary>{about}</summary>{_table('pairs', f'<th></th>{heads}', rows)}</details>"


def _p(value: float, same: bool) -> str:
    if same:
        return "<td></td>"
    text = "&lt; 0.001" if value < 0.001 else f"{value:.3f}"
    return f'<td class="sure">{text}</td>' if value < LEVEL else f"<td>{text}</td>"


def failures_table(summary: ComparisonSummary) -> str:
    """The runs that broke, with what broke them."""
    broken = summary.broken()
    if not broken:
        return ""
    rows = "".join(
        f'<tr><td>{escape(method)}</td><td class="seeds">{", ".join(map(str, seeds))}</td>'
        f'<td class="wide">{escape(error)}</td></tr>'
        for method, error, seeds in broken
    )
    total = sum(len(seeds) for _, _, seeds in broken)
    count = f"{total} run{'s' if total != 1 else ''} broke"
    heads = "<th>method</th><th>seeds</th><th>error</th>"
    return f"<h3>{count}: ranked last, left out of the means</h3>{_table('failures', heads, rows)}"


def _table(name: str, heads: str, rows: str) -> str:
    """A table that scrolls in its own box."""
    return (
        f'<div class="scroll"><table class="{name}"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
