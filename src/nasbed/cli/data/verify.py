"""``nasbed data verify``: check a dataset of a challenge against what was promised of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.terminal.output import Json, print_json, print_table
from nasbed.terminal.progress import row_bars

CommitmentFile = Annotated[Path, typer.Argument(metavar="FILE", help="The commitment.json of the dataset.")]
DATA_HELP = "The dataset's folder: its files are compared."
REVEAL_HELP = "The reveal.json: recipe, seed and salt are compared."
REMAKE_HELP = "Make the dataset again by the recipe, and compare its bytes."
SOURCE_HELP = "The source data to make it again from."


def verify(
    commitment: CommitmentFile,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help=DATA_HELP)] = None,
    reveal: Annotated[Path | None, typer.Option(metavar="FILE", help=REVEAL_HELP)] = None,
    remake: Annotated[bool, typer.Option("--remake", help=REMAKE_HELP)] = False,
    source: Annotated[Path | None, typer.Option(metavar="DIR|FILE", help=SOURCE_HELP)] = None,
    json: Json = False,
) -> None:
    """Check that a dataset of a challenge is the one that its commitment promised.

    Before the challenge, contestants check their files with --data. Afterwards, --reveal checks the recipe and the test
    labels, and --remake shows that this recipe gives these bytes. Exits with status 1 if anything differs.

    Example: nasbed data verify commitment.json --data tovaki

    Example: nasbed data verify commitment.json --data tovaki --reveal reveal.json --remake --source books/
    """
    from nasbed.datasets.unseen.commitment import Commitment, DatasetRecipe, check_files, check_recipe, check_remade

    if data is None and reveal is None:
        raise InvalidOption("a commitment is compared with something: name --data, --reveal or both")
    if (remake or source is not None) and reveal is None:
        raise InvalidOption("a dataset is made again by its recipe; name it with --reveal")
    if data is not None and not data.is_dir():
        raise BadFile(f"a dataset is a folder, {data} is not a folder; check the path")
    promised = Commitment.from_file(commitment)
    recipe = None if reveal is None else DatasetRecipe.from_file(reveal)
    checks = [] if data is None else check_files(promised, data, None if recipe is None else recipe.salt)
    if recipe is not None and reveal is not None:
        checks.append(check_recipe(promised, reveal))
        if remake or source is not None:
            with row_bars() as report_progress:
                checks += check_remade(promised, recipe, source, report_progress)
    counts = Counter(check.outcome for check in checks)
    failures = counts["FAILS"]
    if json:
        print_json({"name": promised.name, "failures": failures, "checks": [asdict(check) for check in checks]})
    else:
        print_table(("what", "outcome", "SHA-256"), [(check.about, check.outcome, check.text) for check in checks])
        summary = f"{counts['holds']} hold, {failures} fail, {counts['not checked']} not checked"
        typer.echo(f"\n{promised.name}: {summary}")
    if failures:
        raise typer.Exit(1)
