"""``nasbed run``: let methods search on a benchmark, and see who wins."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.cli.output import print_table
from nasbed.cli.report import write_report
from nasbed.core.errors import InvalidOption

if TYPE_CHECKING:
    from nasbed.experiments.engines import Engine
    from nasbed.experiments.runs import Runs


def run(
    benchmark: Annotated[
        str, typer.Argument(metavar="[BENCHMARK]", help="An id from 'nasbed list benchmarks', or a folder.")
    ] = "nb201/cifar10",
    optimizers: Annotated[
        str, typer.Option(help="Ids with commas, see 'nasbed list optimizers'; your own as file.py:ClassName.")
    ] = "rs,re,ls",
    seeds: Annotated[int, typer.Option(min=1, help="How many runs of each method, with seeds 0, 1, 2 …")] = 20,
    budget: Annotated[
        str, typer.Option(help="Of each run: evaluations (500ev) or simulated seconds (1e6s).")
    ] = "300ev",
    workers: Annotated[int, typer.Option(min=1, help="Parallel evaluations on the simulated clock.")] = 1,
    processes: Annotated[
        int | None, typer.Option(min=1, show_default="all cores", help="Real processes to use.")
    ] = None,
    engine: Annotated[str, typer.Option(help="Where runs are carried out: local, serial or ray.")] = "local",
    timeout: Annotated[float | None, typer.Option(min=1, help="Give up a run after so many real seconds.")] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where runs are kept; an interrupted run goes on there.")
    ] = Path("runs"),
) -> None:
    """Run search methods with many seeds and print who found what. Runs that are there already are not run again.

    Example: nasbed run nb201/cifar10 --optimizers rs,re,ls --seeds 50 --budget 1e6s --out my-runs
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from nasbed.experiments.compare import compare, short_name
    from nasbed.optimizers import OPTIMIZERS

    methods = [name.strip() for name in optimizers.split(",") if name.strip()]
    if not methods:
        raise InvalidOption(
            f"a comparison needs at least one method, got {optimizers!r}; known: {', '.join(OPTIMIZERS)}"
        )
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks = {short_name(method): bars.add_task(short_name(method), total=seeds) for method in methods}

        def told(method: str, seed: int, error: str) -> None:
            bars.advance(tasks[short_name(method)])
            if error:
                typer.echo(f"{short_name(method)}, seed {seed}: {error}", err=True)

        runs = compare(
            benchmark,
            methods,
            seeds=seeds,
            budget=budget,
            out=out,
            workers=workers,
            engine=_engine(engine, processes),
            timeout_s=timeout,
            command=shlex.join(["nasbed", *sys.argv[1:]]),
            progress=told,
        )
    print_table(*_summary(runs))
    typer.echo(f"runs in {out}, report in {write_report([out], out)}")


def _engine(name: str, processes: int | None) -> Engine:
    from nasbed.experiments.engines import LocalEngine, SerialEngine

    if name == "local":
        return LocalEngine(processes)
    if name == "serial":
        return SerialEngine()
    if name == "ray":
        from nasbed.experiments.ray_engine import RayEngine

        return RayEngine()
    raise InvalidOption(f"an engine is local, serial or ray, got {name!r}; choose one of them")


def _summary(runs: Runs) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Best validation value of each method: mean, lowest and highest over seeds."""
    import numpy as np

    sign = 1 if runs.setup.objective.direction == "maximize" else -1
    rows: list[tuple[object, ...]] = []
    for method in runs.methods:
        best = [sign * np.nanmax(sign * run.value) for run in runs.of(method) if len(run) and not run.error]
        failed = sum(1 for run in runs.of(method) if run.error)
        if best:
            rows.append((method, len(best), failed, f"{np.mean(best):.3f}", f"{min(best):.3f}", f"{max(best):.3f}"))
        else:
            rows.append((method, 0, failed, "", "", ""))
    key = runs.setup.objective.key
    return ("method", "seeds", "failed", f"mean best {key}", "lowest", "highest"), rows
