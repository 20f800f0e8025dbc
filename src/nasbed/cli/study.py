"""``nasbed study …``: every registered study as a command."""

from __future__ import annotations

import typer

from nasbed.studies import STUDIES

app = typer.Typer(help="Study a table as a paper did: statistics, figures, a report.", no_args_is_help=True)
VALIDATION = "validation"
"""The study that is a command of its own, ``nasbed validate``."""
for name in STUDIES:
    if name != VALIDATION:
        app.command(name)(STUDIES.get(name))
