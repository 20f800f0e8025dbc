"""``nasbed study fidelity``: which small training ranks like the large one, and at what cost?"""

from __future__ import annotations

from typing import Annotated

import typer

from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.progress import stage_bar
from nasbed.terminal.report_options import Figures, Formats, OtherTables, Out, TopPercent, report_formats


@former_options({"--at-least": "--min-correlation"})
def fidelity(
    reference: Annotated[
        str, typer.Argument(metavar="REFERENCE", help="The table whose highest fidelity the others should rank like.")
    ],
    out: Out,
    cheaper: OtherTables = None,
    min_correlation: Annotated[float, typer.Option(help="The rank correlation that a good training has.")] = 0.7,
    top_percent: TopPercent = 25.0,
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Find the cheapest training that ranks architectures like a reference, and better than counting parameters.

    Compared are the reference's lower fidelities and all those of the other tables.

    Example: nasbed study fidelity nb101-mini-cifar10-16-v1.0 --out fidelity

    Example: nasbed study fidelity reference-32px darts-cifar10-16 --out fidelity
    """
    on_interrupt(lambda: NOTHING_KEPT)
    formats = report_formats(out, figures, format)

    from nasbed.benchmarks.catalog import load_table
    from nasbed.studies.fidelity.page import fidelity_outcome, fidelity_table, write_fidelity_report
    from nasbed.studies.fidelity.study import fidelity_study

    rule, remedy = "trainings are compared by their tables", "name one"
    with stage_bar("Studying", ("tables", "rankings", "report")) as start_stage:
        start_stage("tables")
        target, *others = (load_table(name, rule=rule, remedy=remedy) for name in (reference, *(cheaper or ())))
        start_stage("rankings")
        study = fidelity_study(target, others, at_least=min_correlation, top_percent=top_percent)
        start_stage("report")
        write_fidelity_report(study, out, formats=formats)
    typer.echo(f"{fidelity_table(study).text()}\n\n{fidelity_outcome(study)}\n\n{out / 'report.html'}")
