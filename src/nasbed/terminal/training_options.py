"""Shared options of commands that train a network, and the check of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.report_options import check_folder

Precision = Literal["float32", "bfloat16"]
RecipeName = Annotated[
    str, typer.Option(metavar="NAME|FILE", help="A name from 'nasbed list recipes', or a TOML file of your own.")
]
Epochs = Annotated[int | None, typer.Option(show_default="the largest", help="One of the recipe's budgets.")]
Device = Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu, cuda or cuda:1.")]
Threads = Annotated[
    int, typer.Option(min=1, help="The number of CPU threads; more than the default helps only large networks.")
]
PrecisionName = Annotated[
    str | None,
    typer.Option(
        show_default="the recipe's", help="float32, or bfloat16 for speed on a GPU, which no paper here mentions."
    ),
]
CheckpointFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Save the training to this file after every epoch.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume from the checkpoint if it exists.")]


def chosen_precision(name: str | None, default: Precision) -> Precision:
    """The precision of a name, or the default without one."""
    by_name: dict[str | None, Precision] = {None: default, "float32": "float32", "bfloat16": "bfloat16"}
    if name not in by_name:
        raise InvalidOption(f"a precision is float32 or bfloat16, got {name!r}; choose one of them")
    return by_name[name]


def check_checkpoint(checkpoint: Path | None, resume: bool) -> None:
    """Raise unless a training can begin, or resume, with this checkpoint."""
    if checkpoint is None:
        if resume:
            raise InvalidOption("a training is resumed from its checkpoint; name it with --checkpoint FILE")
        return
    if checkpoint.exists() and not resume:
        raise InvalidOption(f"{checkpoint} exists already; resume from it with --resume, or name another file")
    check_folder(checkpoint.parent, "a checkpoint goes", option="--checkpoint")
