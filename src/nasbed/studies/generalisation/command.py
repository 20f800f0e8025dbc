"""``nasbed study generalisation``: searches in a part of a space and in the whole of it."""

from __future__ import annotations

from typing import Annotated

import typer

from nasbed.terminal.interruption import on_interrupt, runs_kept
from nasbed.terminal.output import print_fields, print_table
from nasbed.terminal.progress import run_bars
from nasbed.terminal.report_options import Budget, Figures, Formats, Out, Processes, Searched, report_formats


def generalisation(
    out: Out,
    benchmark: Searched = "nb201/cifar10",
    seeds: Annotated[int, typer.Option(min=2, help="The number of runs of each variant, with seeds 0, 1, 2 …")] = 100,
    budget: Budget = "5e5s",
    figures: Figures = False,
    format: Formats = None,
    processes: Processes = None,
) -> None:
    """Compare searches in a part of a space with searches in the whole of it (NAS-Bench-101, section 4.2).

    Example: nasbed study generalisation nb201/cifar10 --out generalisation
    """
    formats = report_formats(out, figures, format)
    on_interrupt(lambda: runs_kept(out))

    from nasbed.core.execution import LocalEngine
    from nasbed.studies.generalisation.page import (
        generalisation_facts,
        generalisation_table,
        write_generalisation_report,
    )
    from nasbed.studies.generalisation.study import generalisation_study, variants

    total = len(variants()) * seeds
    engine = LocalEngine(processes)
    with run_bars({"small": total, "full": total}) as on_run:
        study = generalisation_study(benchmark, seeds=seeds, budget=budget, out=out, engine=engine, progress=on_run)
    write_generalisation_report(study, out, formats=formats)
    print_table(*generalisation_table(study))
    typer.echo()
    print_fields(generalisation_facts(study))
    typer.echo(f"\n{out / 'report.html'}")
