"""``nasbed.suite``: search methods on many benchmarks, and what such runs show in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from nasbed.benchmarks.suites import Suite, load_suite
from nasbed.core.calls.arguments import check_location, one_or_several, whole_number
from nasbed.core.presentation.data_frames import data_frame
from nasbed.drawing.notebooks import NotebookCard
from nasbed.evaluation.suite import SuiteSummary, summarise_suite
from nasbed.experiments.provenance import Method
from nasbed.experiments.suites import SuiteRuns, run_suite
from nasbed.facade.arguments import check_settings, engine_of, method_list
from nasbed.facade.comparing import print_error
from nasbed.leaderboard.joining import files_for, join
from nasbed.reports.suite.page import write_suite_report
from nasbed.reports.suite.tables import standings_rows
from nasbed.reports.suite.words import NORMALISED, lead, suite_verdict
from nasbed.terminal.progress import note, run_bars

if TYPE_CHECKING:
    import pandas as pd


def suite(
    name: str | Path | Suite,
    methods: Method | Iterable[Method],
    *,
    seeds: int | None = None,
    out: str | Path | None = None,
    processes: int = 1,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    preset: str = "",
    skip_missing: bool = False,
    against: str | Path | Iterable[str | Path] = (),
    progress: bool = True,
) -> SuiteRuns:
    """Run search methods on every benchmark of a suite, as ``nasbed suite run`` does.

    The result shows its standings in a notebook; ``write_report(folder)`` writes the page over all benchmarks, with
    ``table.csv`` and ``table.tex``.

    Args:
        name: an id of ``nasbed suite list``, a TOML file, or a suite.
        methods: one or several, as for :func:`nasbed.compare`.
        seeds: runs of each method on each benchmark; the suite's own number by default.
        out: the folder of the runs. A repeated call makes only what is missing there. Without it, runs are kept in
            memory alone.
        processes: how many runs are made at once. More than one need a script with ``if __name__ == "__main__":``, and
            your own class in a file.
        settings: by method and name: ``{"re": {"sample_size": 5}}``.
        preset: the paper that other settings are from, such as ``nb101``.
        skip_missing: whether to leave out benchmarks that are not here; otherwise they raise.
        against: ``"reference"``, the runs that come with the package, or files of runs, to compare with. Their methods
            are not run again.
        progress: whether a notebook or a terminal shows progress bars.
    """
    chosen = name if isinstance(name, Suite) else load_suite(name)
    compared, engine = method_list(methods), engine_of(processes)
    check_settings(settings)
    if seeds is not None:
        seeds = whole_number("seeds", seeds, least=1)
    names = one_or_several("against", against, (str, Path))
    for file in names:
        check_location('runs to compare with are "reference" or a file', file)
    files = files_for(chosen, names)
    total = len(compared) * (chosen.seeds if seeds is None else seeds)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory()) if out is None else out
        bars = {entry.name: total for entry in chosen.benchmarks} if progress else {}
        report_finished = stack.enter_context(run_bars(bars)) if progress else None

        def report_run(benchmark: str, method: str, seed: int, error: str) -> None:
            if report_finished is not None:
                report_finished(benchmark)
            print_error(f"{benchmark}: {method}", seed, error)

        runs = run_suite(
            chosen,
            compared,
            out=folder,
            seeds=seeds,
            engine=engine,
            preset=preset,
            settings=settings,
            skip_missing=skip_missing,
            progress=report_run,
            on_note=note,
        )
        return join(runs, files)


def suite_summary(runs: SuiteRuns) -> SuiteSummary:
    """See :meth:`nasbed.experiments.suites.SuiteRuns.summary`."""
    return summarise_suite(runs, np.random.default_rng(0))


def write_runs_of_suite(runs: SuiteRuns, folder: Path) -> Path:
    """See :meth:`nasbed.experiments.suites.SuiteRuns.write_report`."""
    write_suite_report(folder, runs, rng=np.random.default_rng(0))
    return folder / "report.html"


def suite_frame(runs: SuiteRuns) -> pd.DataFrame:
    """See :meth:`nasbed.experiments.suites.SuiteRuns.to_pandas`."""
    empty = data_frame({})
    frames = [part.runs.to_pandas().assign(benchmark=part.name) for part in runs.benchmarks]
    if not frames:
        return empty
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def suite_html(runs: SuiteRuns) -> str:
    """The standings over all benchmarks, as ``nasbed suite run`` prints them."""
    summary = suite_summary(runs)
    table = standings_rows(summary)
    return NotebookCard(
        f"{lead(summary)} {suite_verdict(summary)}",
        {"suite": runs.title, "benchmarks": ", ".join(part.name for part in runs.benchmarks)},
        columns=table.columns,
        rows=table.rows,
        lines=[f"{NORMALISED}; in brackets, 95 % bootstrap intervals over seeds."],
        code="runs.summary()   runs.to_pandas()   runs.write_report('folder')",
    ).html()
