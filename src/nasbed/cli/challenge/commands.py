"""``nasbed challenge …``: run a competition on unseen datasets."""

from __future__ import annotations

import typer

from nasbed.cli.challenge.baseline import baseline
from nasbed.cli.challenge.run import run
from nasbed.cli.challenge.score import score

app = typer.Typer(help="Run untrusted submissions on unseen datasets, in a sandbox.", no_args_is_help=True)
app.command(context_settings={"allow_extra_args": True})(run)
app.command()(score)
app.command()(baseline)
