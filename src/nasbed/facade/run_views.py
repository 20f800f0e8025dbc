"""A set of runs as a data frame, a chart, a page, and the card that a notebook shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nasbed.benchmarks import Benchmark, load
from nasbed.core.errors import InvalidOption, UnknownName
from nasbed.core.presentation.data_frames import data_frame
from nasbed.core.status import STATUSES
from nasbed.drawing.notebooks import NotebookCard
from nasbed.drawing.number_texts import count_text
from nasbed.drawing.palette import looks
from nasbed.evaluation.summary import ComparisonSummary
from nasbed.evaluation.trajectories import Centre, incumbent_index
from nasbed.experiments.provenance import check_benchmark, stale_methods
from nasbed.experiments.run_checks import check_runs_fit
from nasbed.experiments.runs import Run, Runs
from nasbed.reports.comparison.data import Comparison, comparison
from nasbed.reports.comparison.figures import CENTRE_NAMES, curves_figure
from nasbed.reports.comparison.page import EVALUATIONS, TIME, write_comparison
from nasbed.reports.comparison.standings import footnotes, regret_label, table, verdict
from nasbed.spaces import SearchSpace, space

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


def runs_frame(runs: Runs) -> pd.DataFrame:
    """See :meth:`nasbed.experiments.runs.Runs.to_pandas`."""
    searched = _space(runs)
    columns: dict[str, list[Any]] = {}
    others = dict.fromkeys(key for run in runs.runs for key in run.others)
    for method in runs.methods:
        for run in runs.of(method):
            for name, column in _columns(run, runs, searched, list(others)).items():
                columns.setdefault(name, []).append(column)
    frame = data_frame({name: np.concatenate(parts) for name, parts in columns.items()})
    return frame.astype({"incumbent_evaluation": "Int64"}) if len(frame.columns) else frame


def regret_chart(runs: Runs, over: Literal["time", "evaluations"], centre: Centre) -> alt.LayerChart:
    """See :meth:`nasbed.experiments.runs.Runs.plot`."""
    if over not in ("time", "evaluations"):
        raise InvalidOption(f"a regret is drawn over time or evaluations, got {over!r}; choose one of them")
    if centre not in CENTRE_NAMES:
        raise InvalidOption(f"a curve shows the median or the mean of all seeds, got {centre!r}; choose one of them")
    compared = _compared(runs, centre)
    curves = compared.over_time if over == "time" else compared.over_evaluations
    if not curves:
        raise InvalidOption(f"no run found anything to draw; {verdict(compared.summary)}")
    chart: alt.LayerChart = curves_figure(
        curves,
        looks(runs.methods),
        x=TIME if over == "time" else EVALUATIONS,
        y=regret_label(compared.summary),
        on_page=False,
        names=CENTRE_NAMES[centre],
    )
    return chart


def write_runs_report(runs: Runs, folder: Path, centre: Centre) -> Path:
    """See :meth:`nasbed.experiments.runs.Runs.write_report`."""
    benchmark = _benchmark(runs)
    stale = stale_methods(runs, benchmark)
    write_comparison(folder, runs, benchmark, rng=np.random.default_rng(0), stale=stale, centre=centre)
    return folder / "report.html"


def runs_html(runs: Runs) -> str:
    """The standings, as ``nasbed run`` prints them."""
    summary: ComparisonSummary = _compared(runs).summary
    columns, rows = table(summary)
    setup = runs.setup
    facts = {
        "benchmark": f"{setup.benchmark}, space {setup.space}",
        "objective": f"{setup.objective.direction} {setup.objective.key}",
        "budget": f"{setup.budget} a run, {count_text(setup.workers, 'worker')}",
        "evaluations": sum(len(run) for run in runs.runs),
    }
    return NotebookCard(
        verdict(summary),
        facts,
        columns=columns,
        rows=rows,
        lines=footnotes(summary),
        code="runs.plot()   runs.to_pandas()   runs.write_report('folder')",
    ).html()


def _columns(run: Run, runs: Runs, searched: SearchSpace, others: list[str]) -> dict[str, Any]:
    """The columns of one run. A proposal that is not in the space has no architecture."""
    count, missing = len(run), np.full(len(run), np.nan)
    inside = (run.codes >= 0).any(axis=1) if searched.code_length else np.ones(count, bool)
    texts = np.full(count, None, dtype=object)
    texts[inside] = searched.texts(run.codes[inside])
    index = incumbent_index(run.value, runs.setup.objective.direction, fidelity=run.fidelity)
    known = index >= 0
    return {
        "method": np.full(count, run.method, dtype=object),
        "seed": np.full(count, run.seed),
        "evaluation": run.numbers,
        "architecture": texts,
        "fidelity": run.fidelity,
        "status": np.array([STATUSES[number].value for number in run.status.tolist()], dtype=object),
        runs.setup.objective.key: run.value,
        **{key: run.others.get(key, missing) for key in others},
        "start_s": run.start_s,
        "end_s": run.end_s,
        "incumbent": np.where(known, run.value[index], np.nan) if count else missing,
        "incumbent_evaluation": np.where(known, run.numbers[index], np.nan) if count else missing,
    }


def _space(runs: Runs) -> SearchSpace:
    """The space of the runs: registered, or that of their benchmark."""
    try:
        return space(runs.setup.space)
    except UnknownName:
        return load(runs.setup.benchmark).space


def _benchmark(runs: Runs) -> Benchmark:
    benchmark = load(runs.setup.benchmark)
    check_benchmark(runs.setup, benchmark, "this set")
    check_runs_fit(runs, benchmark)
    return benchmark


def _compared(runs: Runs, centre: Centre = "median") -> Comparison:
    return comparison(runs, _benchmark(runs), rng=np.random.default_rng(0), centre=centre)
