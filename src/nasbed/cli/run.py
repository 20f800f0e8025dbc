"""``nasbed run``: run search methods on a benchmark and compare them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.cli.report import print_report
from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import on_interrupt, runs_kept
from nasbed.terminal.method_options import (
    EngineName,
    MethodSettings,
    Optimizers,
    RunTimeout,
    chosen_engine,
    chosen_methods,
    chosen_settings,
)
from nasbed.terminal.progress import counted_bars, note
from nasbed.terminal.report_options import (
    DEFAULT_BENCHMARK,
    Budget,
    CurveCentre,
    Figures,
    Formats,
    MethodPreset,
    Processes,
    Searched,
    chosen_centre,
    report_formats,
)

if TYPE_CHECKING:
    from nasbed.experiments.guidance import Guidance

WARM_START_HELP = (
    "Also run each method from the START best of N architectures, as a zero-cost proxy scores them. "
    "By default, START is the method's own number of initial architectures. May be given several times."
)
FILTER_HELP = (
    "Also run each method with a filter: each draw and mutation is the best of M candidates by a proxy. May be given "
    "several times."
)
WarmStarts = Annotated[list[str] | None, typer.Option(metavar="PROXY:N[:START]", help=WARM_START_HELP)]
Filters = Annotated[list[str] | None, typer.Option(metavar="PROXY:M", help=FILTER_HELP)]


@former_options({"--optimizer": "--optimizers"})
def run(
    benchmark: Searched = DEFAULT_BENCHMARK,
    optimizers: Optimizers = None,
    settings: MethodSettings = None,
    preset: MethodPreset = "",
    seeds: Annotated[int, typer.Option(min=1, help="The number of runs of each method, with seeds 0, 1, 2 …")] = 20,
    budget: Budget = "300ev",
    workers: Annotated[int, typer.Option(min=1, help="Parallel evaluations on the simulated clock.")] = 1,
    processes: Processes = None,
    engine: EngineName = "local",
    warm_start: WarmStarts = None,
    filter: Filters = None,
    only_guided: Annotated[bool, typer.Option("--only-guided", help="Omit the unguided baselines.")] = False,
    scores: Annotated[
        Path | None, typer.Option(help="A file of scores; not needed for params and flops if the space counts them.")
    ] = None,
    proxy_dataset: Annotated[
        str,
        typer.Option(
            show_default=False, help="Without --scores: the dataset whose images are used to score architectures."
        ),
    ] = "",
    continue_trainings: Annotated[
        bool | None,
        typer.Option(
            "--continue-trainings/--from-scratch",
            show_default="continued where fidelities are epochs of one learning curve",
            help="Whether a higher fidelity continues an earlier training and costs the added epochs alone, or every "
            "evaluation is trained from scratch. Budgets with learning-rate schedules of their own, as "
            "NAS-Bench-101's, are separate trainings; points of one learning curve are continued.",
        ),
    ] = None,
    charge_thinking: Annotated[
        bool, typer.Option("--charge-thinking", help="Charge a method's own computing time to the simulated clock.")
    ] = False,
    timeout: RunTimeout = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder of the runs; an interrupted command resumes there.")
    ] = Path("runs"),
    centre: CurveCentre = "median",
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Run search methods with many seeds and compare their results. A stored run is kept, unless its method, its
    settings or nasbed's version has changed.

    Example: nasbed run --optimizers rs,re,ls --seeds 50 --budget 200ev --out my-runs

    Example: nasbed run nb201/cifar10 --budget 1e6s --workers 4 --out my-runs

    Example: nasbed run snb-darts-cifar10-16-lgb-v2.0 --warm-start params:1000 --out my-runs

    Example: nasbed run nb101-mini-cifar10-16-v1.0 --optimizers rs,re,rl --preset nb101 --out as-in-the-paper
    """
    from nasbed.experiments.compare import compare, run_name

    methods = chosen_methods(optimizers)
    on_interrupt(lambda: runs_kept(out))
    formats, middle = report_formats(out, figures, format), chosen_centre(centre)
    guidance = _guidance(warm_start or [], filter or [], only_guided)
    with counted_bars() as bars:
        scored = bars.add_task("scores", total=None, visible=False)
        names = [run_name(method, guide) for guide in guidance for method in methods]
        tasks = {name: bars.add_task(name, total=seeds) for name in names}
        reported: set[tuple[str, str]] = set()

        def report_run(name: str, seed: int, error: str) -> None:
            bars.advance(tasks[name])
            if error and (name, error) not in reported:  # the report names all seeds
                reported.add((name, error))
                typer.echo(f"{name}, seed {seed}: {error}{_traceback_of(out, name, seed)}", err=True)

        def report_start(needed: int) -> None:
            if needed:
                note(f"{needed} run{'' if needed == 1 else 's'} on {benchmark}, {budget} each")

        def report_scores(completed: int, total: int) -> None:
            bars.update(scored, completed=completed, total=total, visible=True)

        compare(
            benchmark,
            methods,
            seeds=seeds,
            budget=budget,
            out=out,
            workers=workers,
            engine=chosen_engine(engine, processes),
            preset=preset,
            settings=chosen_settings(settings or []),
            guidance=guidance,
            scores=scores,
            proxy_dataset=proxy_dataset,
            charge_thinking=charge_thinking,
            continue_trainings=continue_trainings,
            timeout_s=timeout,
            command=shlex.join(["nasbed", *sys.argv[1:]]),
            progress=report_run,
            scoring_progress=report_scores,
            on_note=note,
            on_start=report_start,
        )
    print_report([out], out, formats=formats, centre=middle)


def _traceback_of(out: Path, name: str, seed: int) -> str:
    from nasbed.experiments.runs import traceback_file

    path = traceback_file(out / "runs", name, seed)
    return f"; traceback: {path}" if path.is_file() else ""


def _guidance(starts: list[str], filters: list[str], only_guided: bool) -> list[Guidance | None]:
    from nasbed.experiments.guidance import Guidance

    guided = [*map(Guidance.warm_start, starts), *map(Guidance.filter, filters)]
    if only_guided and not guided:
        raise InvalidOption("--only-guided needs --warm-start or --filter, got neither; add one or omit it")
    return [*([] if only_guided else [None]), *guided]
