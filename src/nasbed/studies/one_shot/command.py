"""``nasbed study one-shot``: one-shot searches over their epochs, with a benchmark's predictions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import note, share_bar
from nasbed.terminal.report_options import Figures, Formats, OptionalOut, Processes, report_formats

if TYPE_CHECKING:
    from nasbed.benchmarks.base import Benchmark
    from nasbed.studies.one_shot.judges import Judge


def one_shot(
    searches: Annotated[
        list[Path],
        typer.Argument(
            metavar="SEARCH...", help="A search.json that 'nasbed oneshot' wrote, or a folder that contains some."
        ),
    ],
    benchmark: Annotated[
        str | None,
        typer.Option(
            metavar="ID|PATH",
            show_default="the embedded surrogate of their space",
            help="Predicts the mean accuracy of each epoch's architecture.",
        ),
    ] = None,
    leave_out: Annotated[
        bool,
        typer.Option(
            help="Judge each method by a surrogate that is fitted again without the architectures that the method "
            "contributed to the table. Each fit is made once and kept under NASBED_HOME."
        ),
    ] = True,
    table: Annotated[
        str | None,
        typer.Option(metavar="ID|PATH", help="The table of the surrogate, if it is not the one that it names."),
    ] = None,
    processes: Processes = None,
    stop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            show_default="all",
            help="A stopping rule to compare: skips, eigenvalue; may be given several times.",
        ),
    ] = None,
    random: Annotated[int, typer.Option(min=2, help="The number of random architectures to compare with.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of all random draws.")] = 0,
    out: OptionalOut = None,
    figures: Figures = False,
    format: Formats = None,
    json: Json = False,
) -> None:
    """Compare one-shot searches with a benchmark: does the predicted accuracy fall while the supernet's rises?

    A surrogate that has seen the architectures of a method is fitted again without them to judge its searches. Also
    shows when stopping rules would have ended a search, and with what.

    Example: nasbed study one-shot searches/ --out watched

    Example: nasbed study one-shot darts-0 darts-1/search.json --benchmark nb201/cifar10 --stop skips --out watched
    """
    on_interrupt(lambda: NOTHING_KEPT)
    formats = () if out is None else report_formats(out, figures, format)

    import numpy as np

    from nasbed.benchmarks import load
    from nasbed.oneshot.stopping import STOPPING_RULES
    from nasbed.studies.one_shot.records import embedded_surrogate, read_searches
    from nasbed.studies.one_shot.study import check_searches, one_shot_study
    from nasbed.studies.one_shot.tables import method_table, one_shot_numbers
    from nasbed.studies.one_shot.words import RULE, judge_lines, outcome

    records = read_searches(searches)
    opened_benchmark = load(benchmark or embedded_surrogate(records[0].space))
    check_searches(records, opened_benchmark, stop or [])
    judges = _judges(opened_benchmark, [record.method for record in records], table, processes) if leave_out else None
    study = one_shot_study(
        records,
        opened_benchmark,
        judges=judges,
        rules=stop or list(STOPPING_RULES),
        random=random,
        rng=np.random.default_rng(seed),
    )
    if out is not None:
        from nasbed.studies.one_shot.page import write_one_shot_report

        write_one_shot_report(study, out, formats=formats)
    if json:
        print_json(one_shot_numbers(study))
        return
    typer.echo(method_table(study).text())
    typer.echo("\n" + "\n".join([*judge_lines(study), *outcome(study), RULE]))
    for name, reason in study.left_out.items():
        typer.echo(f"left out: {name}: {reason}", err=True)
    if out is not None:
        typer.echo(f"\n{out / 'report.html'}")


def _judges(benchmark: Benchmark, methods: Sequence[str], table: str | None, processes: int | None) -> dict[str, Judge]:
    """The judges of the methods, with a bar while they are fitted and a line for each fit."""
    from nasbed.benchmarks.catalog import load_table
    from nasbed.studies.one_shot.judges import judges_without_data

    results = None
    if table is not None:
        results = load_table(table, rule="a surrogate is fitted on a table", remedy="name one").results
    names = list(dict.fromkeys(methods))
    with share_bar("Fitting judges") as report_share:

        def on_fit(method: str, share: float) -> None:
            if not share:
                note(f"fitting the judge of {method}, without its data; the fit is kept for the next study")
            report_share((names.index(method) + share) / len(names))

        return judges_without_data(
            benchmark, names, table=results, processes=processes or os.cpu_count() or 1, on_fit=on_fit
        )
