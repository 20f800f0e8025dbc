"""``nasbed study unseen``: tables 1 to 3 of the paper on unseen datasets, with results of yours beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nasbed.cli.output import Json, print_json
from nasbed.cli.report_options import check_report


def unseen(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULTS]...", help="Files that 'nasbed data baseline --out' has written."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A folder for report.html, figures/ and numbers.json.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, show_default="the most there are", help="Results of that budget alone.")
    ] = None,
    format: Annotated[
        list[str], typer.Option("--format", help="How figures are saved: svg, png, pdf; may be given several times.")
    ] = ["svg", "png"],  # noqa: B006
    json: Json = False,
) -> None:
    """Print the published accuracies on the eight unseen datasets, and those that were measured here beside them.

    Example: nasbed study unseen

    Example: nasbed study unseen results.jsonl --out unseen
    """

    if out is not None:
        check_report(out, format)

    from nasbed.evaluation.studies.unseen import unseen_study
    from nasbed.evaluation.studies.unseen_results import read_results
    from nasbed.reports.unseen_tables import KEY, outcome, paper_lines, unseen_numbers, unseen_tables

    study = unseen_study(read_results(results or []), epochs=epochs)
    if out is not None:
        from nasbed.reports.unseen import write_unseen_report

        write_unseen_report(study, out, formats=format)
    if json:
        print_json(unseen_numbers(study))
        return
    for title, table in unseen_tables(study).items():
        typer.echo(f"{title}\n{table.text()}\n")
    typer.echo(f"{KEY}\n\n" + "\n".join([*outcome(study), "", *paper_lines(study)]))
    for line in study.notes:
        typer.echo(f"not shown: {line}", err=True)
    if out is not None:
        typer.echo(f"\n{out / 'report.html'}")
