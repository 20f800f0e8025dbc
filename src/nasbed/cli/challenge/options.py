"""An option of several commands of ``nasbed challenge``."""

from __future__ import annotations

from typing import Annotated

import typer

ZeroKind = Annotated[
    str,
    typer.Option(
        "--zero",
        help="The accuracy that scores 0: measured (a baseline on the same bytes, by 'challenge baseline') or paper "
        "(the figure in the metadata, for other bytes).",
    ),
]
