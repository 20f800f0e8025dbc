"""The page of a tuning: the score over trials, each setting against the score, the best trials."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt

from nasbed.drawing.blocks import Figure, FigureGroup, figure, table_block
from nasbed.drawing.marks import Chart, inline, level_line, log_ticks, significant
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import digits, fixed
from nasbed.drawing.page import Section, write_page
from nasbed.drawing.palette import HUES
from nasbed.experiments.tuning import TuningResult
from nasbed.experiments.tuning.journal import TuningTrial
from nasbed.surrogates import SURROGATES

HEIGHT, PANEL = 300, 190
SHOWN = 10
SCORES = {"skt": "sparse Kendall's τ", "r2": "R²"}
TEXTS = {
    "trials": "The score on the validation part of each trial, in the order in which they were proposed. The line is "
    "the best so far at the highest budget; the dashed one is that of the default settings.",
    "settings": "Each setting against the score, over all trials at the highest budget; the orange point is the best "
    "trial. Scores far below the others are drawn at the lower edge.",
}


def write_tuning_report(path: str | Path, tuned: TuningResult, *, command: str = "", next_command: str = "") -> None:
    """Write one self-contained page about a tuning."""
    charts: dict[str, Chart] = {"trials": _trials(tuned)}
    panels = _panels(tuned)
    charts |= {f"setting-{name}": chart for name, chart in panels.items()}
    sections = [
        Section("What was found", _best_facts(tuned, next_command), text=_lead(tuned)),
        Section("Score over trials", {}, text=TEXTS["trials"], blocks=[figure("trials")]),
    ]
    if panels:
        figures = tuple(Figure(f"setting-{name}", name, label=f"the score against {name}") for name in panels)
        sections.append(Section("Settings", {}, text=TEXTS["settings"], blocks=[FigureGroup(figures, "small")]))
    sections += [
        Section("The best trials", {}, blocks=[table_block(_best_table(tuned))]),
        Section("What was run", _facts(tuned, command)),
    ]
    write_page(path, f"Tuning {tuned.setup.model} on {tuned.setup.space}", sections, charts=charts)


def tuning_rows(tuned: TuningResult) -> list[tuple[str, str, str, str]]:
    """The default settings and the best ones: the name of a figure, and its value on validation and test."""
    names = {"skt": "sparse Kendall's τ", "r2": "R²", "kendall": "Kendall's τ", "mae": "mean absolute error"}
    if "seconds_r2" in tuned.best.figures:  # the model learns logarithms
        names = {key: f"{name} of log seconds" for key, name in names.items()} | {
            "seconds_sparse_kendall": "sparse Kendall's τ in seconds",
            "seconds_r2": "R² in seconds",
        }
    return [
        (
            name,
            _text(tuned.default.figures.get(key)),
            _text(tuned.best.figures.get(key)),
            _text(tuned.test.get(key)),
        )
        for key, name in names.items()
    ]


def _text(value: float | None) -> str:
    return "failed" if value is None else fixed(value)


def _lead(tuned: TuningResult) -> str:
    failed = sum(bool(trial.error) for trial in tuned.trials)
    text = f"{len(tuned.trials)} trials, {failed} of which failed. " if failed else f"{len(tuned.trials)} trials. "
    if tuned.best.number == 0:
        return text + "None was better on the validation part than the default settings."
    default, best = tuned.score(tuned.default), tuned.score(tuned.best)
    return text + (
        f"Trial {tuned.best.number} has the best {SCORES[tuned.setup.score]} on the validation part: {_text(best)}, "
        f"where the default settings have {_text(default)}. The best of many is overrated by the part that chose it; "
        "its figures on the test part, which nothing was chosen on, are those to believe."
    )


def _best_facts(tuned: TuningResult, next_command: str) -> dict[str, object]:
    facts: dict[str, object] = {
        name: f"{best} on validation (defaults {default}), {test} on test"
        for name, default, best, test in tuning_rows(tuned)
    }
    facts["settings"] = _settings(tuned.best) or "the defaults"
    if next_command:
        facts["fit with them"] = next_command
    return facts


def _facts(tuned: TuningResult, command: str) -> dict[str, object]:
    setup = tuned.setup
    facts: dict[str, object] = {
        "model": f"{setup.model}: {SURROGATES.get(setup.model).summary}" if setup.model in SURROGATES else setup.model,
        "predicts": setup.metric,
        "tuned for": SCORES[setup.score],
        "method": "BOHB over the ranges of Table 6 (Surrogate NAS Benchmarks)",
        "budget": setup.budget or "one for all trials",
        "held fixed": ", ".join(f"{name} = {value}" for name, value in setup.settings.items()) or "nothing",
        "seed": setup.seed,
        "fitting took": f"{sum(trial.fit_s for trial in tuned.trials):,.0f} s in all",
        "command": command,
        "other versions": "; ".join(tuned.notes()),
    }
    errors = [f"trial {trial.number}: {trial.error}" for trial in tuned.trials if trial.error]
    if errors:
        facts["failed"] = "; ".join(errors[:SHOWN]) + (f"; and {len(errors) - SHOWN} more" if errors[SHOWN:] else "")
    return {name: fact for name, fact in facts.items() if fact != ""}


def _best_table(tuned: TuningResult) -> NumberTable:
    ranked = sorted(_usable(tuned), key=lambda trial: -trial.figures[tuned.setup.score])[:SHOWN]
    names = list(dict.fromkeys(name for trial in ranked for name in trial.values))
    rows = tuple(
        (
            str(trial.number),
            _text(trial.figures["skt"]),
            _text(trial.figures["r2"]),
            f"{trial.fit_s:.1f}",
            *(_value(trial.values.get(name, "default")) for name in names),
        )
        for trial in ranked
    )
    return NumberTable(("trial", "τ sparse", "R²", "seconds", *names), rows, numbers=0)


def _settings(trial: TuningTrial) -> str:
    return ", ".join(f"{name} = {_value(value)}" for name, value in trial.settings.items())


def _value(value: Any) -> str:
    return digits(value) if isinstance(value, float) else str(value)


def _usable(tuned: TuningResult) -> list[TuningTrial]:
    """Trials that succeeded at the highest budget."""
    return [trial for trial in tuned.trials if trial.figures and trial.budget == tuned.best.budget]


# --- figures ---------------------------------------------------------------------------------------------------------


def _lowest(tuned: TuningResult, trials: list[TuningTrial]) -> float:
    """The lower edge of the score's axis, above the worst trials: a few bad ones must not take up the axis."""
    scores = sorted(trial.figures[tuned.setup.score] for trial in trials)
    default = tuned.score(tuned.default)
    middle, best = scores[len(scores) // 2], scores[-1]
    lowest = max(scores[0], best - 3 * (best - middle)) if best > middle else scores[0]
    return min(lowest, default if default is not None else lowest) - 0.02 * abs(best - lowest or 1.0)


def _axis(low: float, high: float, title: str) -> Any:
    room = (high - low) * 0.04 or 0.01
    scale = alt.Scale(domain=[low - room, high + room], nice=False, zero=False, clamp=True)
    return alt.Y("y:Q", title=title, scale=scale).axis(tickCount=5)


def _trials(tuned: TuningResult) -> Chart:
    finished = [trial for trial in tuned.trials if trial.figures]
    key, label = tuned.setup.score, SCORES[tuned.setup.score]
    low, high = _lowest(tuned, finished), max(trial.figures[key] for trial in finished)
    rows, line = [], []
    best = None
    for trial in finished:
        score = trial.figures[key]
        rows.append(_row(trial, score, low) | {"x": trial.number})
        if trial.budget == tuned.best.budget:
            best = score if best is None else max(best, score)
        if best is not None:
            line.append({"x": trial.number, "y": max(best, low)})
    points = alt.Chart(inline(rows)).mark_point(filled=True, size=45, opacity=0.9).encode(
        x=alt.X("x:Q", title="trial", scale=alt.Scale(domain=[-0.5, len(tuned.trials) - 0.5], nice=False)).axis(
            tickMinStep=1, format="d", grid=False
        ),
        y=_axis(low, high, f"validation {label}"),
        tooltip=_tips(),
    )  # fmt: skip
    if tuned.setup.budget:
        budgets = sorted({row["budget"] for row in rows}, key=int)
        colour = alt.Color("budget:N", title=tuned.setup.budget, sort=budgets)
        colours = [*HUES[2 : 1 + len(budgets)], HUES[0]]
        points = points.encode(color=colour.scale(domain=budgets, range=colours).legend(orient="top", symbolOpacity=1))
    else:
        points = points.encode(color=alt.value(HUES[0]))
    layers = [points]
    if line:
        step = alt.Chart(inline(line)).mark_line(interpolate="step-after", color=HUES[1]).encode(x="x:Q", y="y:Q")
        layers.insert(0, step)
    default = tuned.score(tuned.default)
    if default is not None:
        layers.insert(0, level_line(default))
    return alt.layer(*layers).properties(height=HEIGHT)


def _panels(tuned: TuningResult) -> dict[str, Chart]:
    """A small figure per tuned setting."""
    trials = [trial for trial in _usable(tuned) if trial.values]
    if not trials:
        return {}
    ranges = SURROGATES.get(tuned.setup.model).tuning_space() if tuned.setup.model in SURROGATES else {}
    names = list(dict.fromkeys(name for trial in trials for name in trial.values))
    return {name: _panel(tuned, trials, name, ranges.get(name)) for name in names}


def _panel(tuned: TuningResult, trials: list[TuningTrial], name: str, hyperparameter: Any) -> Chart:
    key = tuned.setup.score
    with_setting = [trial for trial in trials if name in trial.values]
    low, high = _lowest(tuned, trials), max(trial.figures[key] for trial in trials)
    rows = [
        _row(trial, trial.figures[key], low)
        | {"x": _plain(trial.values[name]), "best": trial.number == tuned.best.number}
        for trial in with_setting
    ]
    numeric = all(isinstance(row["x"], int | float) for row in rows)
    if numeric:
        ends = [float(hyperparameter.lower), float(hyperparameter.upper)] if hasattr(hyperparameter, "lower") else None
        options: dict[str, Any] = {"zero": False, "nice": False} | ({"domain": ends} if ends else {})
        ticks: dict[str, Any] = {"tickCount": 4}
        if getattr(hyperparameter, "log", False):
            options["type"] = "log"
            ticks = {"values": log_ticks(*ends)} if ends else ticks
        across = alt.X("x:Q", title=None, scale=alt.Scale(**options)).axis(**ticks, grid=False)
    else:
        across = alt.X("x:N", title=None).axis(labelAngle=0)
    picked = "datum.best"
    return alt.Chart(inline(rows)).mark_point(filled=True).encode(
        x=across,
        y=_axis(low, high, ""),
        color=alt.condition(picked, alt.value(HUES[1]), alt.value(HUES[0])),
        size=alt.condition(picked, alt.value(110), alt.value(35)),
        opacity=alt.condition(picked, alt.value(1), alt.value(0.8)),
        tooltip=[alt.Tooltip("x:Q" if numeric else "x:N", title=name), *_tips()],
    ).properties(height=PANEL)  # fmt: skip


def _plain(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _row(trial: TuningTrial, score: float, low: float) -> dict[str, Any]:
    rounded: Mapping[str, Any] = {name: significant(value, 5) for name, value in trial.figures.items()}
    return {"y": max(score, low), "trial": trial.number, "budget": str(trial.budget or ""), **rounded}


def _tips() -> list[Any]:
    return [alt.Tooltip("trial:Q"), alt.Tooltip("skt:Q", title="τ sparse"), alt.Tooltip("r2:Q", title="R²")]
