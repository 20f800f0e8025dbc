"""``nasbed data check``: check a dataset in the competition's format."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nasbed.core.errors import BadFile
from nasbed.terminal.output import Json, print_json, print_table
from nasbed.terminal.progress import row_bars


def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="{train,valid,test}_{x,y}.npy and metadata.")],
    json: Json = False,
) -> None:
    """Check a dataset in the competition's format: files, shapes, labels, balance, leaks between its parts.

    Exits with status 1 if there are errors. For a dataset made by nasbed, the labels are recomputed by its rule.

    Example: nasbed data check AddNIST

    Example: nasbed data check my-dataset --json
    """
    from nasbed.datasets.unseen.checks.format_checks import check_folder

    if not folder.is_dir():
        raise BadFile(f"a dataset to check is a folder, {folder} is not a folder; check the path")
    with row_bars() as report_progress:
        findings = check_folder(folder, report_progress)
    count = {name: sum(finding.severity == name for finding in findings) for name in ("error", "warning", "note")}
    if json:
        print_json(
            {
                "folder": str(folder),
                **{f"{name}s": n for name, n in count.items()},
                "findings": [*map(asdict, findings)],
            }
        )
    else:
        print_table(
            ("severity", "about", "finding"), [(finding.severity, finding.about, finding.text) for finding in findings]
        )
        typer.echo(f"\n{folder}: {count['error']} errors, {count['warning']} warnings")
    if count["error"]:
        raise typer.Exit(1)
