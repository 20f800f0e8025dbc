"""``nasbed study landscape``: the statistics of NAS-Bench-101's section 3 for a table."""

from __future__ import annotations

from typing import Annotated

import typer

from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import print_fields
from nasbed.terminal.progress import stage_bar
from nasbed.terminal.report_options import Figures, Formats, Out, report_formats


def landscape(
    benchmark: Annotated[
        str, typer.Argument(metavar="BENCHMARK", help="An id from 'nasbed list benchmarks', or a folder.")
    ],
    out: Out,
    metric: Annotated[
        str | None, typer.Option(show_default="the metric that a search would optimise", help="The metric to study.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the random walks.")] = 0,
    walk_steps: Annotated[int, typer.Option(min=65, help="The number of steps of a random walk.")] = 2000,
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Describe a table as NAS-Bench-101's section 3 does: distributions, noise, costs, operations, shapes, locality.

    Example: nasbed study landscape nb201/cifar10 --out landscape
    """
    on_interrupt(lambda: NOTHING_KEPT)
    formats = report_formats(out, figures, format)

    import numpy as np

    from nasbed.benchmarks import load
    from nasbed.studies.landscape.page import landscape_facts, write_landscape_report
    from nasbed.studies.landscape.study import STAGES, landscape_study

    loaded_benchmark = load(benchmark)
    with stage_bar(f"Studying {loaded_benchmark.name}", (*STAGES, "report")) as start_stage:
        rng = np.random.default_rng(seed)
        study = landscape_study(loaded_benchmark, rng, metric=metric, walk_steps=walk_steps, progress=start_stage)
        start_stage("report")
        write_landscape_report(study, out, formats=formats)
    print_fields({name: fact for part in landscape_facts(study).values() for name, fact in part.items()})
    typer.echo(f"\n{out / 'report.html'}")
