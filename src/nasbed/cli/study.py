"""``nasbed study …``: the statistics and figures of a paper, for a table of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nasbed.cli.interruption import NOTHING_KEPT, on_interrupt, runs_kept
from nasbed.cli.output import print_fields, print_table
from nasbed.cli.progress import run_bars, stage_bar
from nasbed.cli.report_options import check_report

app = typer.Typer(help="Study a table as a paper did: statistics, figures, a report.", no_args_is_help=True)

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder for report.html, figures/ and numbers.json.")]
Formats = Annotated[
    list[str], typer.Option("--format", help="How figures are saved: svg, png, pdf; may be given several times.")
]
Searched = Annotated[
    str, typer.Argument(metavar="[BENCHMARK]", help="An id from 'nasbed list benchmarks', or a folder.")
]
Budget = Annotated[str, typer.Option(help="Of each run: evaluations (500ev) or simulated seconds (1e6s).")]
Processes = Annotated[int | None, typer.Option(min=1, show_default="all cores", help="Real processes to use.")]
NAS_HPO_TABLES = ("fcnet/protein", "fcnet/naval", "fcnet/slice", "fcnet/parkinsons")


@app.command()
def landscape(
    benchmark: Annotated[
        str, typer.Argument(metavar="BENCHMARK", help="An id from 'nasbed list benchmarks', or a folder.")
    ],
    out: Out,
    metric: Annotated[
        str | None, typer.Option(show_default="what a search would optimise", help="The metric to study.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the random walks.")] = 0,
    walk_steps: Annotated[int, typer.Option(min=65, help="How long random walks are.")] = 2000,
    format: Formats = ["svg", "png"],  # noqa: B006
) -> None:
    """Describe a table as NAS-Bench-101's section 3 does: distributions, noise, costs, operations, shapes, locality.

    Example: nasbed study landscape nb201/cifar10 --out landscape
    """
    on_interrupt(lambda: NOTHING_KEPT)
    check_report(out, format)

    import numpy as np

    from nasbed.benchmarks import load
    from nasbed.evaluation.studies.landscape import STAGES, landscape_study
    from nasbed.reports.landscape import landscape_facts, write_landscape_report

    found = load(benchmark)
    with stage_bar(f"Studying {found.name}", (*STAGES, "report")) as tell:
        rng = np.random.default_rng(seed)
        study = landscape_study(found, rng, metric=metric, walk_steps=walk_steps, progress=tell)
        tell("report")
        write_landscape_report(study, out, formats=format)
    print_fields({name: fact for part in landscape_facts(study).values() for name, fact in part.items()})
    typer.echo(f"\n{out / 'report.html'}")


@app.command("nas-hpo")
def nas_hpo(out: Out, format: Formats = ["svg", "png"]) -> None:  # noqa: B006
    """Compare tuning each architecture with one setting for all, on NAS-HPO-Bench (NAS-Bench-101, section 5.1).

    Example: nasbed study nas-hpo --out nas-hpo
    """
    on_interrupt(lambda: NOTHING_KEPT)
    check_report(out, format)

    from nasbed.benchmarks import load
    from nasbed.evaluation.studies.nas_hpo import PUBLISHED, nas_hpo_study
    from nasbed.reports.nas_hpo import nas_hpo_facts, nearest_definition, write_nas_hpo_report

    results = []
    with stage_bar("Studying", (*NAS_HPO_TABLES, "report")) as tell:
        for name in NAS_HPO_TABLES:
            tell(name)
            results += nas_hpo_study(load(name))
        tell("report")
        write_nas_hpo_report(results, out, formats=format)
    print_fields(nas_hpo_facts(results))
    closest = nearest_definition(results)
    typer.echo(f"\npublished for protein: {PUBLISHED}; nearest: {closest.definition}, {closest.transfer.spearman:.4f}")
    typer.echo(str(out / "report.html"))


@app.command()
def generalisation(
    out: Out,
    benchmark: Searched = "nb201/cifar10",
    seeds: Annotated[int, typer.Option(min=2, help="How many runs of each variant, with seeds 0, 1, 2 …")] = 100,
    budget: Budget = "5e5s",
    processes: Processes = None,
    format: Formats = ["svg", "png"],  # noqa: B006
) -> None:
    """Compare searches in a part of a space with searches in the whole of it (NAS-Bench-101, section 4.2).

    Example: nasbed study generalisation nb201/cifar10 --out generalisation
    """
    on_interrupt(lambda: runs_kept(out))
    check_report(out, format)

    from nasbed.evaluation.studies.generalisation import generalisation_study, variants
    from nasbed.experiments.engines import LocalEngine
    from nasbed.reports.generalisation import (
        generalisation_facts,
        generalisation_table,
        write_generalisation_report,
    )

    total = len(variants()) * seeds
    with run_bars({"small": total, "full": total}) as told:
        study = generalisation_study(
            benchmark, seeds=seeds, budget=budget, out=out, engine=LocalEngine(processes), progress=told
        )
    write_generalisation_report(study, out, formats=format)
    print_table(*generalisation_table(study))
    typer.echo()
    print_fields(generalisation_facts(study))
    typer.echo(f"\n{out / 'report.html'}")


@app.command()
def methods(
    out: Out,
    benchmark: Searched = "nb201/cifar10",
    optimizers: Annotated[
        str, typer.Option(show_default="all", help="Ids with commas, see 'nasbed list optimizers'.")
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, help="How many runs of each method, with seeds 0, 1, 2 …")] = 10,
    budget: Budget = "300ev",
    processes: Processes = None,
    timeout: Annotated[float | None, typer.Option(min=1, help="Give up a run after so many real seconds.")] = None,
    format: Formats = ["svg", "png"],  # noqa: B006
) -> None:
    """Show every search method on one page: a figure beside random search, what it does, its settings.

    Example: nasbed study methods nb201/cifar10 --out methods
    """
    on_interrupt(lambda: runs_kept(out))
    check_report(out, format)

    from nasbed.evaluation.studies.methods import methods_study
    from nasbed.experiments.engines import LocalEngine
    from nasbed.optimizers import OPTIMIZERS
    from nasbed.reports.methods import method_line, write_methods_report

    names = [name.strip() for name in optimizers.split(",") if name.strip()]
    for name in names:
        OPTIMIZERS.get(name)
    with run_bars(dict.fromkeys(["rs", *(names or OPTIMIZERS)], seeds)) as bar:

        def told(method: str, seed: int, error: str) -> None:
            bar(method)
            if error:
                typer.echo(f"{method}, seed {seed}: {error}", err=True)

        study = methods_study(
            benchmark,
            seeds=seeds,
            budget=budget,
            out=out,
            names=names,
            engine=LocalEngine(processes),
            timeout_s=timeout,
            progress=told,
        )
    write_methods_report(study, out, formats=format)
    print_table(("method", "what", "final regret", "own time a run"), [method_line(each) for each in study.methods])
    for remark in (remark for each in study.methods for remark in each.remarks):
        typer.echo(remark.text)
    for name, reason in study.left_out.items():
        typer.echo(f"left out: {name}: {reason}", err=True)
    typer.echo(f"\n{out / 'report.html'}")


@app.command("local-search")
def local_search(
    out: Out,
    benchmark: Searched = "nb201/cifar10",
    optimizers: Annotated[
        str, typer.Option(help="What it is compared with: ids with commas, see 'nasbed list optimizers'.")
    ] = "rs,re,bananas",
    seeds: Annotated[int, typer.Option(min=2, help="How many runs of each method, with seeds 0, 1, 2 …")] = 20,
    budget: Budget = "1500ev",
    early: Annotated[float, typer.Option(help="The share of the budget that counts as early.")] = 0.1,
    processes: Processes = None,
    format: Formats = ["svg", "png"],  # noqa: B006
) -> None:
    """Compare local search with other methods early and late in long runs (Surrogate NAS Benchmarks, section 4).

    Example: nasbed study local-search mine.snb --optimizers rs,re,bananas --budget 1500ev --out local-search
    """
    on_interrupt(lambda: runs_kept(out))
    check_report(out, format)

    from nasbed.evaluation.studies.local_search import SUBJECT, local_search_study
    from nasbed.experiments.compare import optimizer_class, short_name
    from nasbed.experiments.engines import LocalEngine
    from nasbed.reports.local_search import moments_table, outcome, write_local_search_report

    names = [name.strip() for name in optimizers.split(",") if name.strip()]
    for name in names:
        optimizer_class(name)
    with run_bars(dict.fromkeys([SUBJECT, *map(short_name, names)], seeds)) as bar:

        def told(method: str, seed: int, error: str) -> None:
            bar(method)
            if error:
                typer.echo(f"{method}, seed {seed}: {error}", err=True)

        study = local_search_study(
            benchmark,
            rivals=names,
            seeds=seeds,
            budget=budget,
            early=early,
            out=out,
            engine=LocalEngine(processes),
            progress=told,
        )
    write_local_search_report(study, out, formats=format)
    typer.echo(moments_table(study).text())
    for remark in study.remarks:
        typer.echo(remark.text)
    typer.echo(f"\n{outcome(study)}\n\n{out / 'report.html'}")
