"""Shared options of commands that train networks, and the checks of their checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
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
CheckpointFiles = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE|DIR",
        help="Save the training to this file after every epoch; with several datasets, to a folder with a file NAME.pt "
        "for each.",
    ),
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
    if checkpoint.is_dir():
        raise InvalidOption(f"the checkpoint of a training is a file, {checkpoint} is a folder; name a file in it")
    if checkpoint.exists() and not resume:
        raise InvalidOption(f"{checkpoint} exists already; resume from it with --resume, or name another")
    check_folder(checkpoint.parent, "a checkpoint goes", option="--checkpoint")


def checkpoint_files(checkpoint: Path | None, names: Sequence[str], resume: bool) -> list[Path | None]:
    """The checkpoint of each training: for one that path, for several the files ``NAME.pt`` in that folder.

    Raises unless all can begin, or resume. Those without a file begin.
    """
    files: list[Path | None]
    if len(names) == 1:
        files = [checkpoint]
    elif checkpoint is not None:
        files = [checkpoint / f"{name}.pt" for name in names]
    elif resume:
        raise InvalidOption("trainings are resumed from their checkpoints; name their folder with --checkpoint DIR")
    else:
        files = [None] * len(names)
    for file in files:
        check_checkpoint(file, resume)
    return files
