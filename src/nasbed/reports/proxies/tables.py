"""Judged proxies in words and numbers: a paragraph, tables, and plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from nasbed.core.json_values import plain
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, digits, fixed, listed, seconds
from nasbed.evaluation.proxies import HEADLINES, JudgedProxy, JudgedTask, MeasureEstimate
from nasbed.reports.proxies.figures import HIGH, lost_at_the_top, ordered_proxies, task_titles

WIDEST = 16
"""The most letters of a proxy's name in a terminal."""
MARKS = {"better": "+", "worse": "\u2212", "": " "}


def headline_names(task: JudgedTask) -> dict[str, str]:
    """The readable names of the headline measures."""
    return dict(zip(HEADLINES, ("Spearman", f"top {task.yardstick.top_percent:g} %", "RBO"), strict=True))


def in_order(task: JudgedTask) -> list[JudgedProxy]:
    """The proxies of a task by their Spearman correlation, the highest first."""
    return [task.proxy(name) for name in ordered_proxies([task])]


# --- words -----------------------------------------------------------------------------------------------------------


def outcome(task: JudgedTask) -> str:
    """The outcome in one paragraph."""
    ranked = [proxy for proxy in in_order(task) if isfinite(proxy.value("spearman"))]
    if not ranked:
        return "No proxy has a correlation with the truth."
    top = f"the top {task.yardstick.top_percent:g} %"
    parts = [_leader(task)]
    lost = [proxy for proxy in ranked if lost_at_the_top(task, proxy.name)]
    if lost:
        pairs = listed([f"{proxy.name} ({_change(proxy)})" for proxy in lost])
        parts.append(
            f"High over all and not significantly different from zero, or below it, within {top}: {pairs}. "
            "They tell bad from good; nothing shows that they tell the best from the good."
        )
    elif any(isfinite(proxy.value("top_spearman")) for proxy in ranked):
        high = [proxy for proxy in ranked if proxy.value("spearman") >= HIGH]
        parts.append(f"All proxies with a Spearman of {HIGH} or more keep a correlation within {top}." if high else "")
    openings = ("Over all", f"Within {top}", "By RBO")
    parts += [_beside_baseline(task, measure, begin) for measure, begin in zip(HEADLINES, openings, strict=True)]
    if task.ceiling is not None:
        numbers = ", ".join(
            f"{title} {fixed(getattr(task.ceiling, measure), 2)}" for measure, title in headline_names(task).items()
        )
        parts.append(f"One training predicts the mean of the others by {numbers}: about the upper limit for any proxy.")
    return " ".join(part for part in parts if part)


def _leader(task: JudgedTask) -> str:
    leaders = []
    for measure, title in headline_names(task).items():
        ranked = [proxy for proxy in task.proxies if isfinite(proxy.value(measure))]
        if ranked:
            best = max(ranked, key=lambda proxy: proxy.value(measure))
            leaders.append(f"{title} {best.name} ({signed(best.value(measure))})")
    return f"Highest by {listed(leaders)}." if leaders else ""


def _beside_baseline(task: JudgedTask, measure: str, begin: str) -> str:
    tested = [proxy for proxy in in_order(task) if measure in proxy.against]
    if not tested:
        return ""
    better, worse = (
        [proxy.name for proxy in tested if proxy.against[measure].verdict == verdict] for verdict in ("better", "worse")
    )
    verb = "are" if better[1:] else "is"
    clause = f"{listed(better) if better else 'none'} {verb} significantly better than {task.baseline}"
    return f"{begin}, {clause}, and {len(worse) or 'none'} of {len(tested)} significantly worse."


def _change(proxy: JudgedProxy) -> str:
    return f"{signed(proxy.value('spearman'))} to {signed(proxy.value('top_spearman'))}"


def signed(value: float) -> str:
    """A number with two decimals and a typographic minus."""
    return fixed(value, 2).replace("-", "\u2212")


# --- tables ----------------------------------------------------------------------------------------------------------


def short_table(task: JudgedTask) -> NumberTable:
    """For a terminal: the headline measures with intervals, and the true rank of a search's result."""
    names = headline_names(task)
    columns = ("proxy", *names.values(), f"best of {task.yardstick.k}")
    rows = tuple(
        (_cut(proxy.name), *(_marked_text(proxy, measure) for measure in names), digits(proxy.value("best_rank")))
        for proxy in in_order(task)
    )
    return NumberTable(columns, rows)


def _cut(name: str) -> str:
    return name if len(name) <= WIDEST else f"{name[: WIDEST - 1]}\u2026"


def _marked_text(proxy: JudgedProxy, measure: str) -> str:
    against = proxy.against.get(measure)
    return _interval_text(proxy.measures[measure], 2) + (MARKS[against.verdict] if against else " ")


def _interval_text(estimate: MeasureEstimate, decimals: int) -> str:
    """A value with its interval."""
    if not isfinite(estimate.value):
        return MISSING
    ends = f" [{fixed(estimate.low, decimals)}, {fixed(estimate.high, decimals)}]" if isfinite(estimate.low) else ""
    return f"{fixed(estimate.value, decimals + 1)}{ends}".replace("-", "\u2212")


def headline_table(task: JudgedTask) -> NumberTable:
    """The headline measures with intervals, deviations between seeds, and p-values against the baseline."""
    names = headline_names(task)
    several = any(proxy.seeds > 1 for proxy in task.proxies)
    columns = ["proxy"]
    for title in names.values():
        columns += [title, *(["\u00b1 seeds"] if several else []), f"p, {task.baseline}"]
    rows = []
    for proxy in in_order(task):
        row = [proxy.name]
        for measure in names:
            estimate, against = proxy.measures[measure], proxy.against.get(measure)
            row += [_interval_text(estimate, 3), *([fixed(estimate.std, 3)] if several else [])]
            row.append(f"{against.holm:.2g}{MARKS[against.verdict]}".strip() if against else MISSING)
        rows.append(tuple(row))
    note = (
        f"Intervals hold 95 % of {task.resamples} bootstrap resamples of the architectures. p: of the difference from "
        f"{task.baseline} on the same resamples, two-sided, Holm\u2019s correction for the number of proxies; + is "
        f"significantly better, \u2212 worse. The overlap of random scores is {fixed(task.chance_rbo, 3)}."
    )
    return NumberTable(tuple(columns), tuple(rows), note=note)


def full_table(task: JudgedTask) -> NumberTable:
    """The other measures, what is missing, and times."""
    stick = task.yardstick
    titles = {
        "kendall": "Kendall",
        "sparse_kendall": f"sparse Kendall, {stick.grid:g}",
        "rbo_textbook": "RBO_EXT",
        "precision": f"precision at {stick.k}",
        "recall": f"recall at {stick.top}",
        "ndcg": f"NDCG at {stick.k}",
    }
    several = any(proxy.seeds > 1 for proxy in task.proxies)
    columns = ["proxy", *titles.values(), f"best of {stick.k}", "no score", *(["seeds"] if several else []), "time"]
    rows = [
        (
            proxy.name,
            *(fixed(proxy.value(measure), 3).replace("-", "\u2212") for measure in titles),
            digits(proxy.value("best_rank")),
            digits(proxy.missing) if proxy.missing else "0",
            *([str(proxy.seeds)] if several else []),
            seconds(proxy.seconds),
        )
        for proxy in in_order(task)
    ]
    note = (
        f"Precision: of the {stick.k} highest scored, the share in the true top of {stick.top}. Recall: of that top, "
        f"the share among the {stick.top} highest scored. Best of {stick.k}: the true rank of the best of the "
        f"{stick.k} highest scored. Time: of one network, the median."
    )
    return NumberTable(tuple(columns), tuple(rows), note=note)


# --- plain data ------------------------------------------------------------------------------------------------------


def proxies_numbers(judged: Sequence[JudgedTask]) -> dict[str, Any]:
    """Every number of the page."""
    numbers: dict[str, Any] = plain(
        {
            "tasks": [
                {
                    "task": title,
                    "space": task.space,
                    "metric": task.metric.key,
                    "architectures": task.architectures,
                    "left_out": task.left_out,
                    "top_percent": task.yardstick.top_percent,
                    "top": task.yardstick.top,
                    "weight": task.yardstick.weight,
                    "p": task.yardstick.p,
                    "k": task.yardstick.k,
                    "chance_rbo": task.chance_rbo,
                    "baseline": task.baseline,
                    "resamples": task.resamples,
                    "noise_ceiling": asdict(task.ceiling) if task.ceiling else None,
                    "notes": task.notes,
                    "outcome": outcome(task),
                    "proxies": {proxy.name: _numbers(proxy) for proxy in in_order(task)},
                }
                for title, task in zip(task_titles(judged), judged, strict=True)
            ]
        }
    )
    return numbers


def _numbers(proxy: JudgedProxy) -> dict[str, Any]:
    return {
        "measures": {
            name: {key: value for key, value in asdict(result).items() if value != "" and value == value}
            for name, result in proxy.measures.items()
        },
        "against_baseline": {
            name: {**asdict(result.difference), "holm": result.holm, "verdict": result.verdict}
            for name, result in proxy.against.items()
        },
        "missing": proxy.missing,
        "seeds": proxy.seeds,
        "empty_seeds": proxy.empty_seeds,
        "seconds": proxy.seconds,
    }
