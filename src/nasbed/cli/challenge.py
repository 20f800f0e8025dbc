"""``nasbed challenge``: run a competition on unseen datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import note
from nasbed.terminal.report_options import check_folder

if TYPE_CHECKING:
    from nasbed.challenge.isolation import Isolation
    from nasbed.challenge.results import SubmissionResult

app = typer.Typer(help="Run untrusted submissions on unseen datasets, in a sandbox.", no_args_is_help=True)


@app.command(context_settings={"allow_extra_args": True})
@former_options({"--time": "--timeout"})
def run(
    context: typer.Context,
    submission: Annotated[Path, typer.Argument(help="A folder or .zip with data_processor.py, nas.py and trainer.py.")],
    datasets: Annotated[
        list[Path], typer.Option(help="One or more folders with train_x.npy … test_y.npy and metadata.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for SUBMISSION/DATASET/result.json.")],
    timeout: Annotated[
        float, typer.Option(min=1, help="Time limit per dataset, in seconds since its process started.")
    ] = 3600,
    memory: Annotated[float, typer.Option(min=0.0625, help="Memory limit of all its processes together, in GiB.")] = 8,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The random seed of the submission.")] = 0,
    device: Annotated[str, typer.Option(help="The device of its Trainer: cpu, cuda or cuda:1.")] = "cpu",
    isolation: Annotated[
        str, typer.Option(help="auto (the safest that works on this machine), or one of: namespaces, user, none.")
    ] = "auto",
    json: Json = False,
) -> None:
    """Run a submission on datasets within limits of time and memory, and score it. Finished datasets are skipped.

    A submission that crashes, hangs or returns nonsense scores -10 on that dataset, and the next one follows. Test
    labels are hidden from it as far as the system allows; the isolation is printed and recorded.

    Example: nasbed challenge run examples/submission --datasets addnist language --out runs --timeout 600
    """
    import re

    from nasbed.challenge.isolation import ABOUT
    from nasbed.challenge.limits import GIB, Limits
    from nasbed.challenge.runner import run_challenge

    if not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise InvalidOption(f"a device is cpu, cuda or cuda:1, got {device!r}")
    check_folder(out, "results go")
    notes: list[str] = []

    def report_result(result: SubmissionResult) -> None:
        if not json:
            typer.echo(_line(result))

    on_interrupt(lambda: "the same command continues with the datasets that have no result")
    with _time_bar(submission.name, timeout) as bar:

        def report_start(dataset: str, applied: Isolation) -> None:
            if not notes:
                notes.extend((f"isolation: {applied.kind}: {ABOUT[applied.kind]}", *applied.notes))
                for line in notes:
                    note(line)
            bar(dataset, 0.0)

        results = run_challenge(
            submission,
            [*datasets, *map(Path, context.args)],
            out,
            limits=Limits(time_s=timeout, memory_bytes=int(memory * GIB)),
            seed=seed,
            device=device,
            isolation=isolation,
            on_start=report_start,
            tick=lambda seconds: bar("", seconds),
            on_result=report_result,
        )
    if json:
        print_json([asdict(result) for result in results])
    else:
        total = sum(result.score for result in results)
        typer.echo(f"total {total:.3f} on {len(results)} dataset{'s' if len(results) > 1 else ''}")


def _line(result: SubmissionResult) -> str:
    head = f"{result.dataset}: score {result.score:.3f}"
    if result.raw is None:
        return f"{head}, failed ({result.ended}): {result.reason}"
    return f"{head}, accuracy {result.raw:.2f} % (benchmark {result.benchmark:.2f} %), {result.seconds:.1f} s"


@contextmanager
def _time_bar(title: str, time_s: float) -> Iterator[Callable[[str, float], None]]:
    """A bar of the time of a dataset; the yielded function names a new dataset or sets the elapsed seconds."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=time_s)

        def report_time(dataset: str, seconds: float) -> None:
            if dataset:
                bar.reset(task, description=f"{title} on {dataset}")
            bar.update(task, completed=seconds)

        yield report_time


@app.command()
def score(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders that 'challenge run --out' wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for report.html and numbers.json.")] = Path(
        "leaderboard"
    ),
    json: Json = False,
) -> None:
    """Rank submissions by the sum of their scores and write a page that shows them.

    Example: nasbed challenge score runs --out leaderboard
    """
    check_folder(out, "a leaderboard goes")

    from nasbed.challenge.leaderboard import leaderboard
    from nasbed.challenge.results import read_results
    from nasbed.reports.challenge import failure_table, leaderboard_numbers, score_table, write_leaderboard

    board = leaderboard(read_results(runs))
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
