"""``nasbed release``: from journals to tables and surrogate benchmarks with a version."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import readable
from nasbed.terminal.progress import note
from nasbed.terminal.report_options import check_folder

if TYPE_CHECKING:
    from nasbed.experiments.release import ReleasedPart

FIGURES = {
    "R²": "r2",
    "Kendall": "kendall",
    "sKT": "sparse_kendall",
    "MAE": "mae",
    "coverage": "coverage",
    "KL": "kl",
    "R² others": "others_r2",
    "sKT others": "others_sparse_kendall",
}


def release(
    plan: Annotated[
        Path, typer.Argument(metavar="RELEASE.TOML", help="The plan of the release; docs/datasheet.md shows one.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder, with the layout of NASBED_HOME.")],
    journals: Annotated[
        Path | None,
        typer.Option(
            "--journals", "-j", metavar="DIR", show_default="next to the plan", help="The folder of the journals."
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, show_default="all cores", help="Number of members fitted in parallel.")
    ] = None,
) -> None:
    """Make a release: export the journals, fit every surrogate on all data and on random search alone, and write the
    tables and artefacts under one version. Prints their quality as Markdown. The same input gives the same bytes.

    Example: nasbed release campaigns/release.toml --journals journals --out src/nasbed/embedded
    """
    from nasbed.experiments import release as releasing

    check_folder(out, "a release goes")
    on_interrupt(lambda: NOTHING_KEPT)
    surrogates = releasing.release(
        releasing.ReleasePlan.read(plan),
        plan.parent if journals is None else journals,
        out,
        processes=processes or os.cpu_count() or 1,
        on_progress=lambda name: note(f"making {name}"),
    )
    columns = ("name", "rows", "bytes", "fit [s]", *FIGURES)
    for line in (columns, ["---"] * len(columns), *map(_row, surrogates)):
        typer.echo(f"| {' | '.join(line)} |")
    typer.echo(f"\nWritten: {out}\nTry it:  NASBED_HOME={out} nasbed list benchmarks")


def _row(surrogate: ReleasedPart) -> list[str]:
    figures = [surrogate.figures.get(key) for key in FIGURES.values()]
    fit_s = "" if surrogate.fit_s is None else f"{surrogate.fit_s:.0f}"
    return [
        f"`{surrogate.name}`",
        readable(surrogate.rows),
        readable(surrogate.bytes),
        fit_s,
        *("" if value is None else f"{value:.3f}" for value in figures),
    ]
