"""Shared options of commands that train a network, and the check of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.report_options import check_folder

RecipeName = Annotated[
    str, typer.Option(metavar="NAME|FILE", help="A name from 'nasbed list recipes', or a TOML file of your own.")
]
Epochs = Annotated[int | None, typer.Option(show_default="the largest", help="One of the recipe's budgets.")]
Device = Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu, cuda or cuda:1.")]
Threads = Annotated[
    int, typer.Option(min=1, help="The number of CPU threads; more than the default helps only large networks.")
]
CheckpointFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Save the training to this file after every epoch.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume from the checkpoint if it exists.")]


def check_checkpoint(checkpoint: Path | None, resume: bool) -> None:
    """Raise unless a training can begin, or resume, with this checkpoint."""
    if checkpoint is None:
        if resume:
            raise InvalidOption("a training is resumed from its checkpoint; name it with --checkpoint FILE")
        return
    if checkpoint.exists() and not resume:
        raise InvalidOption(f"{checkpoint} exists already; resume from it with --resume, or name another file")
    check_folder(checkpoint.parent, "a checkpoint goes", option="--checkpoint")
