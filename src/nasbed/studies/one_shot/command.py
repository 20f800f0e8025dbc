"""``nasbed study one-shot``: one-shot searches over their epochs, with a benchmark's predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.report_options import Formats, OptionalOut, check_report


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
    stop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            show_default="all",
            help="A stopping rule to compare: skips, eigenvalue; may be given several times.",
        ),
    ] = None,
    random: Annotated[int, typer.Option(min=2, help="The number of random architectures to compare with.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the random architectures.")] = 0,
    out: OptionalOut = None,
    format: Formats = ["svg", "png"],  # noqa: B006
    json: Json = False,
) -> None:
    """Compare one-shot searches with a benchmark: does the predicted accuracy fall while the supernet's rises?

    Also shows when stopping rules would have ended a search, and with what.

    Example: nasbed study one-shot searches/ --out watched

    Example: nasbed study one-shot darts-0 darts-1/search.json --benchmark nb201/cifar10 --stop skips --out watched
    """
    on_interrupt(lambda: NOTHING_KEPT)
    if out is not None:
        check_report(out, format)

    import numpy as np

    from nasbed.benchmarks import load
    from nasbed.oneshot.stopping import STOPPING_RULES
    from nasbed.studies.one_shot.records import embedded_surrogate, read_searches
    from nasbed.studies.one_shot.study import one_shot_study
    from nasbed.studies.one_shot.tables import RULE, method_table, one_shot_numbers, outcome

    records = read_searches(searches)
    study = one_shot_study(
        records,
        load(benchmark or embedded_surrogate(records[0].space)),
        rules=stop or list(STOPPING_RULES),
        random=random,
        rng=np.random.default_rng(seed),
    )
    if out is not None:
        from nasbed.studies.one_shot.page import write_one_shot_report

        write_one_shot_report(study, out, formats=format)
    if json:
        print_json(one_shot_numbers(study))
        return
    typer.echo(method_table(study).text())
    typer.echo("\n" + "\n".join([*outcome(study), RULE]))
    for name, reason in study.left_out.items():
        typer.echo(f"left out: {name}: {reason}", err=True)
    if out is not None:
        typer.echo(f"\n{out / 'report.html'}")
