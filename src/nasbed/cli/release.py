"""``nasbed release``: from journals to tables and surrogate benchmarks with a version."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption
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
        Path,
        typer.Argument(metavar="RELEASE.TOML", help="The plan; docs/datasheets/darts.md shows one."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR|FILE.tar.gz",
            help="A new folder, with the layout of NASBED_HOME, or one file, which 'nasbed fetch' installs.",
        ),
    ],
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

    Example: nasbed release release.toml --out my-benchmarks-v1.0.tar.gz
    """
    from nasbed.experiments import release as releasing
    from nasbed.experiments.release_archive import SUFFIX, write_archive

    is_archive = out.name.endswith(SUFFIX)
    check_folder(out.parent if is_archive else out, "a release goes")
    if is_archive and out.exists():
        raise InvalidOption(f"a release never changes, {out} exists; remove it or name another")
    folder = out.with_name(f".{secrets.token_hex(8)}.partial") if is_archive else out
    on_interrupt(lambda: NOTHING_KEPT)
    try:
        surrogates = releasing.release(
            releasing.ReleasePlan.read(plan),
            plan.parent if journals is None else journals,
            folder,
            processes=processes or os.cpu_count() or 1,
            on_progress=lambda name: note(f"making {name}"),
        )
        sha256 = write_archive(folder, out) if is_archive else ""
    finally:
        if is_archive:
            shutil.rmtree(folder, ignore_errors=True)
    columns = ("name", "rows", "bytes", "fit [s]", *FIGURES)
    for line in (columns, ["---"] * len(columns), *map(_row, surrogates)):
        typer.echo(f"| {' | '.join(line)} |")
    if is_archive:
        typer.echo(f"\nWritten: {out}\nSHA-256: {sha256}\nInstall: nasbed fetch {out} --sha256 {sha256}")
    else:
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
