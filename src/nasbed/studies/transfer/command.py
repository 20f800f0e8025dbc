"""``nasbed study transfer``: do rankings carry over from one dataset to another?"""

from __future__ import annotations

import typer

from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.progress import stage_bar
from nasbed.terminal.report_options import Formats, OtherTables, Out, TopPercent, check_report


def transfer(
    out: Out,
    tables: OtherTables = None,
    top_percent: TopPercent = 10.0,
    format: Formats = ["svg", "png"],  # noqa: B006
) -> None:
    """Measure whether architectures that are good on one dataset are good on another: all pairs of tables.

    Without tables, those of NAS-Bench-Unseen, which come with the package.

    Example: nasbed study transfer --out transfer

    Example: nasbed study transfer nb201/cifar10 nb201/cifar100 nb201-chesseract-v1.0 --out transfer
    """
    on_interrupt(lambda: NOTHING_KEPT)
    check_report(out, format)

    from nasbed.benchmarks.catalog import load_table
    from nasbed.studies.transfer.page import transfer_summary, transfer_table, write_transfer_report
    from nasbed.studies.transfer.study import NAS_BENCH_UNSEEN, transfer_study

    rule, remedy = "transfer is measured between tables", "name one"
    with stage_bar("Studying", ("tables", "rankings", "report")) as start_stage:
        start_stage("tables")
        benchmarks = [load_table(name, rule=rule, remedy=remedy) for name in tables or NAS_BENCH_UNSEEN]
        start_stage("rankings")
        study = transfer_study(benchmarks, top_percent=top_percent)
        start_stage("report")
        write_transfer_report(study, out, formats=format)
    typer.echo(f"{transfer_table(study).text()}\n\n{transfer_summary(study)}\n\n{out / 'report.html'}")
