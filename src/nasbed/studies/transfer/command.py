"""``nasbed study transfer``: do rankings carry over from one dataset to another?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nasbed.studies.nas_bench_unseen import NAS_BENCH_UNSEEN
from nasbed.terminal.interruption import on_interrupt, runs_kept
from nasbed.terminal.progress import method_bars, stage_bar
from nasbed.terminal.report_options import (
    Budget,
    Figures,
    Formats,
    OtherTables,
    Out,
    Processes,
    TopPercent,
    report_formats,
)


def transfer(
    out: Out,
    tables: OtherTables = None,
    top_percent: TopPercent = 10.0,
    optimizers: Annotated[
        str,
        typer.Option(
            show_default="none", help="Compare the order of these methods too: comma-separated ids, run on each table."
        ),
    ] = "",
    seeds: Annotated[int, typer.Option(min=2, help="The number of runs of each method, with seeds 0, 1, 2 …")] = 20,
    budget: Budget = "200ev",
    processes: Processes = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.parquet",
            help="Scores of proxies on a table's dataset, once a dataset; some are in the package.",
        ),
    ] = None,
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Measure whether architectures that are good on one dataset are good on another: all pairs of tables.

    Without tables, those of NAS-Bench-Unseen, which come with the package. With --optimizers also whether search
    methods keep their order, and with scores on two datasets or more, whether proxies do.

    Example: nasbed study transfer --out transfer

    Example: nasbed study transfer --optimizers rs,re,ls,de,bananas --out transfer

    Example: nasbed study transfer nb201/cifar10 nb201/cifar100 nb201-chesseract-v1.0 --out transfer
    """
    on_interrupt(lambda: runs_kept(out))
    formats = report_formats(out, figures, format)

    from nasbed.benchmarks.catalog import load_table
    from nasbed.core.execution import LocalEngine
    from nasbed.experiments.named_methods import optimizer_class
    from nasbed.studies.transfer.methods import method_order
    from nasbed.studies.transfer.page import order_lines, transfer_summary, transfer_table, write_transfer_report
    from nasbed.studies.transfer.proxies import proxy_order, scores_of
    from nasbed.studies.transfer.study import transfer_study

    names = [name.strip() for name in optimizers.split(",") if name.strip()]
    for name in names:
        optimizer_class(name)
    rule, remedy = "transfer is measured between tables", "name one"
    with stage_bar("Studying", ("tables", "rankings", "proxies")) as start_stage:
        start_stage("tables")
        benchmarks = {name: load_table(name, rule=rule, remedy=remedy) for name in tables or NAS_BENCH_UNSEEN}
        opened_tables = list(benchmarks.values())
        scored = scores_of(opened_tables, scores or ())
        start_stage("rankings")
        study = transfer_study(opened_tables, top_percent=top_percent)
        start_stage("proxies")
        proxies = proxy_order(opened_tables, scored)
    methods = None
    if names:
        with method_bars({table.name: len(names) * seeds for table in opened_tables}) as on_run:
            methods = method_order(
                benchmarks,
                names,
                seeds=seeds,
                budget=budget,
                out=out / "runs",
                engine=LocalEngine(processes),
                progress=on_run,
            )
    write_transfer_report(study, out, methods=methods, proxies=proxies, formats=formats)
    statements = "\n\n".join([transfer_table(study).text(), transfer_summary(study), *order_lines(methods, proxies)])
    typer.echo(f"{statements}\n\n{out / 'report.html'}")
