"""``nasbed study local-search``: local search early and late in long runs."""

from __future__ import annotations

from typing import Annotated

import typer

from nasbed.terminal.interruption import on_interrupt, runs_kept
from nasbed.terminal.progress import method_bars
from nasbed.terminal.report_options import (
    DEFAULT_BENCHMARK,
    Budget,
    Figures,
    Formats,
    Out,
    Processes,
    Searched,
    report_formats,
)


def local_search(
    out: Out,
    benchmark: Searched = DEFAULT_BENCHMARK,
    optimizers: Annotated[
        str, typer.Option(help="Methods to compare with: comma-separated ids, see 'nasbed list optimizers'.")
    ] = "rs,re,bananas",
    seeds: Annotated[int, typer.Option(min=2, help="The number of runs of each method, with seeds 0, 1, 2 …")] = 20,
    budget: Budget = "1500ev",
    early: Annotated[float, typer.Option(help="The share of the budget that counts as early.")] = 0.1,
    processes: Processes = None,
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Compare local search with other methods early and late in long runs (Surrogate NAS Benchmarks, section 4).

    Example: nasbed study local-search mine.snb --optimizers rs,re,bananas --budget 1500ev --out local-search
    """
    on_interrupt(lambda: runs_kept(out))
    formats = report_formats(out, figures, format)

    from nasbed.core.execution import LocalEngine
    from nasbed.experiments.named_methods import optimizer_class, short_name
    from nasbed.studies.local_search.page import moments_table, outcome, write_local_search_report
    from nasbed.studies.local_search.study import SUBJECT, local_search_study

    names = [name.strip() for name in optimizers.split(",") if name.strip()]
    for name in names:
        optimizer_class(name)
    engine = LocalEngine(processes)
    with method_bars(dict.fromkeys([SUBJECT, *map(short_name, names)], seeds)) as on_run:
        study = local_search_study(
            benchmark, rivals=names, seeds=seeds, budget=budget, early=early, out=out, engine=engine, progress=on_run
        )
    write_local_search_report(study, out, formats=formats)
    typer.echo(moments_table(study).text())
    for remark in study.remarks:
        typer.echo(remark.text)
    typer.echo(f"\n{outcome(study)}\n\n{out / 'report.html'}")
