"""The page of a sweep: the outcome in words, a row per setting, final regrets and curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import altair as alt

from nasbed.core.json_values import plain
from nasbed.drawing.anytime_figures import Axes, panel
from nasbed.drawing.blocks import Paragraph, figure, table_block
from nasbed.drawing.figures import metric_label, write_report
from nasbed.drawing.marks import Chart, inline
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import listed, short, spanned
from nasbed.drawing.page import Section
from nasbed.drawing.palette import COLOURS, FAINT
from nasbed.studies.sweep.study import LEVEL, SettingResult, SweepStudy

WIDTH, HEIGHT, ROW = 520, 300, 26
MOST_CURVES = 7
CAPTION = (
    "Mean final regret over seeds and mean rank among all settings, with 95 % bootstrap intervals. p: Wilcoxon’s "
    "signed-rank test by seed against the default, Holm’s correction for the number of settings."
)
CURVES = (
    "The median over seeds of the incumbent’s regret, and the quartiles as a band; a regret below the axis is drawn at "
    "its edge."
)


def outcome(study: SweepStudy) -> str:
    """Which settings differ from the default, in a paragraph."""
    best = study.standings()[0]
    unit = f" {study.metric.unit}" if study.metric.unit else ""
    parts = [f"Of {len(study.settings)} settings of {study.method}, {best.name} has the least mean final regret, "]
    parts[0] += f"{spanned(best.regret)}{unit}"
    parts[0] += "." if best is study.default else f"; the default has {spanned(study.default.regret)}{unit}."
    if not study.can_tell:
        parts.append(
            f"With {len(study.default.variant.finals)} seeds no difference can be significant, however large: run more."
        )
        return " ".join(parts)
    for verb, settings in (("better", study.better()), ("worse", study.worse())):
        if settings:
            parts.append(f"Significantly {verb} than the default: {listed([_with_p(one) for one in settings])}.")
    if not study.better() and not study.worse():
        parts.append(f"None differs significantly from the default (p ≥ {LEVEL}).")
    return " ".join(parts)


def _with_p(setting: SettingResult) -> str:
    return f"{setting.name} (p = {setting.p:.2g})"


def settings_table(study: SweepStudy) -> NumberTable:
    """A row per setting, the least regret first."""
    unit = f" [{study.metric.unit}]" if study.metric.unit else ""
    rows = []
    for setting in study.standings():
        verdict = "" if setting is study.default else _verdict(study, setting)
        p = "" if setting is study.default else short(setting.p)
        seeds = str(len(setting.variant.finals))
        rows.append((setting.name, spanned(setting.regret), spanned(setting.rank), p, verdict, seeds))
    heads = (study.method, f"mean final regret{unit}", "mean rank", "p", "against the default", "seeds")
    return NumberTable(heads, tuple(rows))


def _verdict(study: SweepStudy, setting: SettingResult) -> str:
    if not setting.differs:
        return "not settled"
    return "better" if setting.regret.estimate < study.default.regret.estimate else "worse"


def sweep_figures(study: SweepStudy) -> dict[str, Chart]:
    """Final regrets of all settings, and the curves of the best and of the default."""
    shown = study.standings()[: MOST_CURVES - 1]
    if study.default not in shown:
        shown.append(study.default)
    curves = {setting.name: setting.variant.curve for setting in shown}
    axes = Axes.over(curves.values(), study.metric)
    return {"final": _final(study), "curves": panel(curves, axes, width=WIDTH, height=HEIGHT)}


def _final(study: SweepStudy) -> Chart:
    order = [setting.name for setting in study.settings]
    rows = [
        {
            "setting": setting.name,
            "mean": setting.regret.estimate,
            "low": setting.regret.low,
            "high": setting.regret.high,
            "verdict": "default" if setting is study.default else _verdict(study, setting),
        }
        for setting in study.settings
    ]
    kinds = {"default": FAINT, "better": COLOURS[2], "worse": COLOURS[1], "not settled": COLOURS[0]}
    present = [kind for kind in kinds if any(row["verdict"] == kind for row in rows)]
    colour = alt.Color("verdict:N", title=None).scale(domain=present, range=[kinds[kind] for kind in present])
    unit = f" [{study.metric.unit}]" if study.metric.unit else ""
    base = alt.Chart(inline(rows)).encode(alt.Y("setting:N", title=None, sort=order).axis(labelLimit=320), color=colour)
    across = alt.Scale(zero=False)
    x = alt.X("mean:Q", title=f"mean final regret{unit}").scale(across)
    tooltips = ["setting:N", *(alt.Tooltip(f"{end}:Q", format=".4g") for end in ("mean", "low", "high")), "verdict:N"]
    level = alt.Chart(inline([{"mean": study.default.regret.estimate}])).mark_rule(color=FAINT, strokeDash=[4, 3])
    bars = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q").scale(across), alt.X2("high"))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(x, tooltip=tooltips)
    return (level.encode(alt.X("mean:Q")) + bars + points).properties(width=WIDTH, height=ROW * len(order))


def sweep_numbers(study: SweepStudy) -> dict[str, Any]:
    """Every number of the page."""
    settings = [
        {
            "name": setting.name,
            "mean_regret": asdict(setting.regret),
            "mean_rank": asdict(setting.rank),
            "p_holm": None if setting is study.default else setting.p,
            "final_regrets": {str(seed): value for seed, value in setting.variant.by_seed.items()},
        }
        for setting in study.settings
    ]
    same = ("benchmark", "method", "best", "varied", "seeds", "budget", "left_out", "errors")
    numbers = {name: getattr(study, name) for name in same} | {"settings": settings, "outcome": outcome(study)}
    numbers |= {"metric": study.metric.key, "unit": study.metric.unit, "failed_evaluations": study.failed[0]}
    json_values: dict[str, Any] = plain(numbers)
    return json_values


def sweep_lines(study: SweepStudy) -> Sequence[str]:
    """What a reader should know beside the table: combinations that were not run, runs that broke, evaluations that
    failed."""
    failed, evaluations = study.failed
    return [
        *(f"left out, {name}: {reason}" for name, reason in study.left_out.items()),
        *(f"broke, {run}: {error}" for run, error in study.errors.items()),
        *([f"{failed} of {evaluations} evaluations failed"] if failed else []),
    ]


def write_sweep_report(study: SweepStudy, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if needed."""
    facts: dict[str, object] = {
        "benchmark": study.benchmark,
        "runs": f"{study.seeds} seeds of each setting, {study.budget} each, one worker",
        "judged by": f"{metric_label(study.metric)}, against {study.best:.4g}",
        "evaluations that failed": "{} of {}".format(*study.failed),
    }
    facts |= {f"left out: {name}": reason for name, reason in study.left_out.items()}
    facts |= {f"broke: {run}": error for run, error in study.errors.items()}
    sections = [
        Section("What came out", {}, text=outcome(study), blocks=[figure("final")]),
        Section("All settings", {}, blocks=[table_block(settings_table(study)), Paragraph(CAPTION, "caption")]),
        Section("Over the budget", {}, text=CURVES, blocks=[figure("curves")]),
        Section("What was run", facts),
    ]
    title = f"Settings of {study.method} on {study.benchmark}"
    charts, numbers = sweep_figures(study), sweep_numbers(study)
    write_report(folder, title, sections=sections, figures=charts, numbers=numbers, formats=formats)
