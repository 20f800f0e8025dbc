"""The page of the case study on local search: the outcome in words, a table of moments, the curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nasbed.core.json_values import plain
from nasbed.drawing.anytime_figures import TIME, Axes, panel
from nasbed.drawing.blocks import Figure, FigureGroup, Paragraph, table_block
from nasbed.drawing.figures import metric_label, write_report
from nasbed.drawing.marks import Chart
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import digits, listed, spanned
from nasbed.drawing.page import Section
from nasbed.studies.local_search.study import LEVEL, SUBJECT, BudgetComparison, LocalSearchStudy

WIDTH, HEIGHT = 400, 290
WORDS = {1: "best", 2: "second", 3: "third"}
PUBLISHED = (
    "on the DARTS space, local search is the worst method after 10\u2076 s, behind random search; with ten times the "
    "budget it is one of the best (Surrogate NAS Benchmarks, section 4 and figure 6)"
)
TEXT = (
    "The median over seeds of the incumbent\u2019s regret, and the quartiles as a band; a regret below the axis is "
    "drawn at its edge. Regrets are of the noise-free mean of what was found, against the best that is known."
)
CAPTION = (
    "Mean regret over seeds with its 95 % bootstrap interval; the place is by this mean. "
    "Significantly: p < 0.05 by Wilcoxon\u2019s signed-rank test by seed, Holm\u2019s correction for the number of "
    "others."
)


def outcome(study: LocalSearchStudy) -> str:
    """The outcome in one paragraph."""
    early, late = study.early, study.late
    parts = (
        [_sentence(study, early, "Local search is"), _sentence(study, late, "It is")]
        if early is not late
        else [_sentence(study, late, "Local search is")]
    )
    passed = [
        f"that of {name} from {_amount(study, moment)} on"
        for name, moment in study.passes.items()
        if math.isfinite(moment)
    ]
    never = [f"that of {name}" for name, moment in study.passes.items() if math.isinf(moment)]
    clauses = [f"below {listed(passed)}"] if passed else []
    clauses += [f"not below {listed(never)} in the end"] if never else []
    parts.append(f"Its mean regret is {', '.join(clauses)}.")
    if not study.can_tell:
        count = f"{study.seeds} seeds and {len(late.p)} other method{'s' if len(late.p) > 1 else ''}"
        parts.append(f"With {count} no difference can be significant, however large: run more seeds.")
        return " ".join(parts)
    worst = early.place == len(early.regrets)
    poor = "seen" if worst and len(early.better) == len(early.p) else "seen in the means alone" if worst else "not seen"
    good = "not seen" if late.better else "seen"
    parts.append(
        "The paper calls local search the \u201cworst method (even worse than random search)\u201d early: here that "
        f"is {poor}. It calls it \u201cone of the best\u201d late: here that is {good}."
    )
    return " ".join(parts)


def _sentence(study: LocalSearchStudy, moment: BudgetComparison, begin: str) -> str:
    count = len(moment.regrets)
    place = "worst" if moment.place == count else WORDS.get(moment.place, f"number {moment.place}")
    regret = spanned(moment.regrets[SUBJECT])
    groups = {"significantly worse than": moment.better, "significantly better than": moment.beaten}
    undecided = [name for name in moment.p if name not in moment.better and name not in moment.beaten]
    clauses = [f"{words} {_with_p(moment, names)}" for words, names in groups.items() if names]
    clauses += [f"not significantly different from {_with_p(moment, undecided)}"] if undecided else []
    unit = f" {study.metric.unit}" if study.metric.unit else ""
    return (
        f"{begin} {place} of {count} at {_amount(study, moment.at)} (mean regret {regret}{unit}), {', '.join(clauses)}."
    )


def _with_p(moment: BudgetComparison, names: Sequence[str]) -> str:
    return listed([f"{name} (p = {moment.p[name]:.2g})" for name in names])


def _amount(study: LocalSearchStudy, value: float) -> str:
    return f"{value:.0f} evaluations" if study.unit == "evaluations" else f"{value:.3g} simulated s"


def moments_table(study: LocalSearchStudy) -> NumberTable:
    """A column per moment: the mean regrets of all methods, and the rank of local search."""
    unit = f" [{study.metric.unit}]" if study.metric.unit else ""
    unit_of_time = "evaluations" if study.unit == "evaluations" else "simulated s"
    rows = [
        (f"{name}, mean regret{unit}", *(spanned(moment.regrets[name]) for moment in study.moments))
        for name in study.late.regrets
    ]
    rows += [
        (f"place of {SUBJECT}", *(f"{moment.place} of {len(moment.regrets)}" for moment in study.moments)),
        (f"mean rank of {SUBJECT}", *(spanned(moment.ranks[SUBJECT]) for moment in study.moments)),
        (f"significantly better than {SUBJECT}", *(", ".join(moment.better) or "none" for moment in study.moments)),
        (f"significantly worse than {SUBJECT}", *(", ".join(moment.beaten) or "none" for moment in study.moments)),
    ]
    return NumberTable(
        (unit_of_time, *(f"{digits(moment.at)} ({moment.share:.0%})" for moment in study.moments)), tuple(rows)
    )


def local_search_numbers(study: LocalSearchStudy) -> dict[str, Any]:
    """Every number of the page."""
    numbers: dict[str, Any] = plain(
        {
            "benchmark": study.benchmark,
            "metric": study.metric.key,
            "best": study.best,
            "seeds": study.seeds,
            "budget": study.budget,
            "unit": study.unit,
            "outcome": outcome(study),
            "moments": [
                {
                    "share": moment.share,
                    "at": moment.at,
                    "place": moment.place,
                    "order": moment.order,
                    "p_holm": moment.p,
                    "mean_regret": {name: _ends(interval) for name, interval in moment.regrets.items()},
                    "mean_rank": {name: _ends(interval) for name, interval in moment.ranks.items()},
                }
                for moment in study.moments
            ],
            "passes": {name: None if math.isinf(passed) else passed for name, passed in study.passes.items()},
            "errors": study.errors,
            "failed_evaluations": study.failed[0],
            "remarks": [remark.text for remark in study.remarks],
        }
    )
    return numbers


def _ends(interval: Any) -> list[float]:
    return [interval.estimate, interval.low, interval.high]


def local_search_figures(study: LocalSearchStudy) -> dict[str, Chart]:
    """Regret over evaluations and over simulated time, both logarithmic."""
    charts = {}
    for name, curves, across in (
        ("evaluations", study.over_evaluations, "evaluations"),
        ("time", study.over_time, TIME),
    ):
        axes = Axes.over(curves.values(), study.metric, across=across)
        charts[name] = panel(curves, axes, width=WIDTH, height=HEIGHT)
    return charts


def write_local_search_report(study: LocalSearchStudy, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if needed."""
    facts: dict[str, object] = {
        "benchmark": study.benchmark,
        "runs": f"{study.seeds} seeds of each method, {study.budget} each, one worker",
        "judged by": f"{metric_label(study.metric)}, against {study.best:.4g}",
        "early and late": f"after {study.early.share:.3g} and after all of the budget; significant is p < {LEVEL}",
        "published": PUBLISHED,
    }
    facts |= {f"broke: {run}": error for run, error in study.errors.items()}
    facts["evaluations that failed"] = "{} of {}".format(*study.failed)
    facts |= {f"remark on {remark.method}, {remark.kind}": remark.text for remark in study.remarks}
    figures = FigureGroup((Figure("evaluations"), Figure("time")), "cards")
    sections = [
        Section("What came out", {}, text=outcome(study)),
        Section("Early and late", {}, blocks=[table_block(moments_table(study)), Paragraph(CAPTION, "caption")]),
        Section("Over the budget", {}, text=TEXT, blocks=[figures]),
        Section("What was run", facts),
    ]
    title = f"Local search on {study.benchmark}"
    charts, numbers = local_search_figures(study), local_search_numbers(study)
    write_report(folder, title, sections=sections, figures=charts, numbers=numbers, formats=formats)
