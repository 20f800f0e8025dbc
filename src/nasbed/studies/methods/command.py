"""``nasbed study methods``: every search method on one page."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from nasbed.terminal.interruption import on_interrupt, runs_kept
from nasbed.terminal.output import print_table
from nasbed.terminal.progress import method_bars
from nasbed.terminal.report_options import (
    DEFAULT_BENCHMARK,
    Budget,
    Figures,
    Formats,
    MethodPreset,
    Out,
    Processes,
    Searched,
    report_formats,
)


def methods(
    out: Out,
    benchmark: Searched = DEFAULT_BENCHMARK,
    optimizers: Annotated[
        str, typer.Option(show_default="all", help="Comma-separated ids, see 'nasbed list optimizers'.")
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, help="The number of runs of each method, with seeds 0, 1, 2 …")] = 10,
    budget: Budget = "300ev",
    preset: MethodPreset = "",
    processes: Processes = None,
    timeout: Annotated[float | None, typer.Option(min=1, help="Wall-clock timeout per run, in seconds.")] = None,
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Show every search method on one page: a figure with random search for comparison, a description, its settings.

    Example: nasbed study methods nb201/cifar10 --out methods
    """
    on_interrupt(lambda: runs_kept(out))
    formats = report_formats(out, figures, format)

    from nasbed.core.execution import LocalEngine
    from nasbed.optimizers import OPTIMIZERS
    from nasbed.studies.methods.page import method_line, write_methods_report
    from nasbed.studies.methods.study import methods_study

    names = [name.strip() for name in optimizers.split(",") if name.strip()]
    for name in names:
        OPTIMIZERS.get(name)
    run_study = partial(methods_study, benchmark, names, seeds=seeds, budget=budget, out=out, preset=preset)
    with method_bars(dict.fromkeys(["rs", *(names or OPTIMIZERS)], seeds)) as on_run:
        study = run_study(engine=LocalEngine(processes), timeout_s=timeout, progress=on_run)
    write_methods_report(study, out, formats=formats)
    print_table(("method", "what", "final regret", "own time a run"), map(method_line, study.methods))
    for remark in (remark for method in study.methods for remark in method.remarks):
        typer.echo(remark.text)
    for name, reason in study.left_out.items():
        typer.echo(f"left out: {name}: {reason}", err=True)
    typer.echo(f"\n{out / 'report.html'}")
