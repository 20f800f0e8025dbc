"""``nasbed report``: the page of runs that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of 'nasbed run', of one benchmark.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", show_default="the first DIR", help="Where the page and figures go.")
    ] = None,
) -> None:
    """Write the report of one or several sets of runs: who wins, by how much, how surely.

    Example: nasbed report my-runs other-runs --out comparison
    """
    typer.echo(f"report in {write_report(folders, out or folders[0])}")


def write_report(folders: list[Path], out: Path) -> Path:
    """The report of all runs in the folders, judged by their benchmark."""
    import numpy as np

    from nasbed.benchmarks import load
    from nasbed.experiments.runs import join_runs, load_runs
    from nasbed.reports.comparison import write_comparison

    runs = join_runs([load_runs(folder) for folder in folders])
    return write_comparison(out, runs, load(runs.setup.benchmark), rng=np.random.default_rng(0))
