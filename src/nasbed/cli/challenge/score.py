"""``nasbed challenge score``: the leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nasbed.cli.challenge.options import ZeroKind
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import note
from nasbed.terminal.report_options import check_folder


def score(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders that 'challenge run --out' wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for report.html and numbers.json.")] = Path(
        "leaderboard"
    ),
    datasets: Annotated[
        list[Path] | None, typer.Option(help="Folders of the datasets: score anew, with the --zero of their bytes.")
    ] = None,
    zero: ZeroKind = "measured",
    json: Json = False,
) -> None:
    """Rank submissions by the sum of their scores and write a page that shows them.

    Runs whose scores have different zeros on a dataset are not ranked together: name the datasets, and all are scored
    anew from their recorded accuracies.

    Example: nasbed challenge score runs --out leaderboard

    Example: nasbed challenge score runs --datasets addnist --datasets language --zero measured
    """
    check_folder(out, "a leaderboard goes")

    from nasbed.challenge.contest_data import open_contest_data
    from nasbed.challenge.leaderboard import leaderboard, rescore
    from nasbed.challenge.results import read_results
    from nasbed.reports.challenge import failure_table, leaderboard_numbers, score_table, write_leaderboard

    results = read_results(runs)
    if datasets:
        results = rescore(results, [open_contest_data(folder) for folder in datasets], zero)
    board = leaderboard(results)
    write_leaderboard(board, out)
    if json:
        print_json(leaderboard_numbers(board))
        return
    typer.echo(score_table(board).text())
    if board.failures:
        typer.echo(f"\n{failure_table(board).text()}")
    for line in board.notes:
        note(line)
    typer.echo(f"\n{out / 'report.html'}")
