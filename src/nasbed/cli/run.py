"""``nasbed run``: let methods search on a benchmark, and see who wins."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.cli.report import print_report
from nasbed.cli.settings import settings_by_owner
from nasbed.core.errors import InvalidOption

if TYPE_CHECKING:
    from nasbed.experiments.engines import Engine

DEFAULT = "rs,re,ls"


def run(
    benchmark: Annotated[
        str, typer.Argument(metavar="[BENCHMARK]", help="An id from 'nasbed list benchmarks', or a folder.")
    ] = "nb201/cifar10",
    optimizers: Annotated[
        str | None,
        typer.Option(
            show_default=DEFAULT, help="Ids with commas, see 'nasbed list optimizers'; your own as file.py:ClassName."
        ),
    ] = None,
    optimizer: Annotated[
        list[str] | None, typer.Option(metavar="ID|FILE:CLASS", help="One method; may be given several times.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="METHOD.KEY=VALUE", help="A method's setting; may be given several times."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many runs of each method, with seeds 0, 1, 2 …")] = 20,
    budget: Annotated[
        str, typer.Option(help="Of each run: evaluations (500ev) or simulated seconds (1e6s).")
    ] = "300ev",
    workers: Annotated[int, typer.Option(min=1, help="Parallel evaluations on the simulated clock.")] = 1,
    processes: Annotated[
        int | None, typer.Option(min=1, show_default="all cores", help="Real processes to use.")
    ] = None,
    engine: Annotated[str, typer.Option(help="Where runs are carried out: local, serial or ray.")] = "local",
    charge_thinking: Annotated[
        bool, typer.Option("--charge-thinking", help="Let a method's own time pass on the simulated clock too.")
    ] = False,
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

    listed = (DEFAULT if not optimizer else "") if optimizers is None else optimizers
    methods = [name.strip() for name in [*listed.split(","), *(optimizer or [])] if name.strip()]
    if not methods:
        raise InvalidOption(f"a comparison needs at least one method, got {listed!r}; known: {', '.join(OPTIMIZERS)}")
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks = {short_name(method): bars.add_task(short_name(method), total=seeds) for method in methods}

        def told(method: str, seed: int, error: str) -> None:
            bars.advance(tasks[short_name(method)])
            if error:
                typer.echo(f"{short_name(method)}, seed {seed}: {error}", err=True)

        compare(
            benchmark,
            methods,
            seeds=seeds,
            budget=budget,
            out=out,
            workers=workers,
            engine=_engine(engine, processes),
            settings=_settings(settings or []),
            charge_thinking=charge_thinking,
            timeout_s=timeout,
            command=shlex.join(["nasbed", *sys.argv[1:]]),
            progress=told,
        )
    print_report([out], out)


def _settings(texts: list[str]) -> dict[str, dict[str, Any]]:
    from nasbed.experiments.compare import short_name

    given = settings_by_owner(texts, owner="METHOD", example="re.sample_size=10")
    return {short_name(method): values for method, values in given.items()}


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
