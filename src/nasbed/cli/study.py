"""``nasbed study …``: every registered study as a command."""

from __future__ import annotations

import typer

from nasbed.studies import STUDIES

app = typer.Typer(help="Study a table as a paper did: statistics, figures, a report.", no_args_is_help=True)
for name in STUDIES:
    app.command(name)(STUDIES.get(name))
