"""``nasbed challenge run``: a submission on unseen datasets, in a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.cli.challenge.options import ZeroKind
from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import note
from nasbed.terminal.report_options import check_folder

if TYPE_CHECKING:
    from nasbed.challenge.isolation import Isolation
    from nasbed.challenge.results import SubmissionResult

DEFAULT_TIMEOUT_S = 3600.0

Timeout = Annotated[
    float | None,
    typer.Option(
        min=1, show_default="3600, or --total-time", help="Time limit per dataset, in seconds from its start."
    ),
]
TotalTime = Annotated[
    float | None, typer.Option(min=1, show_default="none", help="Time limit of all datasets together, in seconds.")
]


@former_options({"--time": "--timeout"})
def run(
    context: typer.Context,
    submission: Annotated[Path, typer.Argument(help="A folder or .zip with data_processor.py, nas.py and trainer.py.")],
    datasets: Annotated[
        list[Path], typer.Option(help="One or more folders with train_x.npy … test_y.npy and metadata.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for SUBMISSION/DATASET/result.json.")],
    timeout: Timeout = None,
    total_time: TotalTime = None,
    memory: Annotated[float, typer.Option(min=0.0625, help="Memory limit of all its processes together, in GiB.")] = 8,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The random seed of the submission.")] = 0,
    device: Annotated[str, typer.Option(help="The device of its Trainer: cpu, cuda or cuda:1.")] = "cpu",
    isolation: Annotated[
        str, typer.Option(help="auto (the safest that works on this machine), or one of: namespaces, user, none.")
    ] = "auto",
    zero: ZeroKind = "measured",
    disguise: Annotated[
        str, typer.Option(help="full (a codename, shuffled images and class numbers) or none (all as in the files).")
    ] = "full",
    json: Json = False,
) -> None:
    """Run a submission on datasets within limits of time and memory, and score it. Finished datasets are skipped.

    A submission that crashes, hangs or returns nonsense scores -10 on that dataset, and the next one follows. Test
    labels are hidden from it as far as the system allows; the isolation is printed and recorded.

    With --total-time, each dataset gets what those before it left, as in the competition (86400 s for three).

    It learns neither which dataset it works on nor the accuracy that scores 0. The key is the organiser's: key.json
    beside each result, and organiser.key in the folder of --out, from which all codenames and orders are drawn.

    Example: nasbed challenge run examples/submission --datasets addnist language --out runs --timeout 600

    Example: nasbed challenge run team-7.zip --datasets data/* --out runs --total-time 86400
    """
    import re

    from nasbed.challenge.isolation import ABOUT
    from nasbed.challenge.limits import GIB, Limits
    from nasbed.challenge.runner import ChallengeSettings, run_challenge

    if not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise InvalidOption(f"a device is cpu, cuda or cuda:1, got {device!r}")
    check_folder(out, "results go")
    notes: list[str] = []

    def report_result(result: SubmissionResult) -> None:
        if not json:
            typer.echo(_line(result))

    on_interrupt(lambda: "the same command continues with the datasets that have no result")
    with _time_bar(submission.name) as bar:

        def report_start(dataset: str, time_s: float, applied: Isolation) -> None:
            if not notes:
                notes.extend((f"isolation: {applied.kind}: {ABOUT[applied.kind]}", *applied.notes))
                for line in notes:
                    note(line)
            bar(dataset, time_s, 0.0)

        time_s = timeout or total_time or DEFAULT_TIMEOUT_S
        results = run_challenge(
            submission,
            [*datasets, *map(Path, context.args)],
            out,
            ChallengeSettings(
                limits=Limits(time_s=time_s, memory_bytes=int(memory * GIB)),
                total_time_s=total_time,
                seed=seed,
                device=device,
                zero=zero,
                disguise=disguise,
            ),
            isolation=isolation,
            on_start=report_start,
            tick=lambda seconds: bar("", None, seconds),
            on_result=report_result,
        )
    if zero == "paper":
        note("score 0 is the figure in each dataset's metadata, not measured on its bytes: see 'challenge baseline'")
    if json:
        print_json([asdict(result) for result in results])
    else:
        total = sum(result.score for result in results)
        typer.echo(f"total {total:.3f} on {len(results)} dataset{'s' if len(results) > 1 else ''}")


def _line(result: SubmissionResult) -> str:
    head = f"{result.dataset}: score {result.score:.3f}"
    if result.raw is None:
        return f"{head}, failed ({result.ended}): {result.reason}"
    zero = f"score 0 is {result.benchmark:.2f} %, {result.zero}"
    return f"{head}, accuracy {result.raw:.2f} % ({zero}), {result.seconds:.1f} s"


@contextmanager
def _time_bar(title: str) -> Iterator[Callable[[str, float | None, float], None]]:
    """A bar of the time of a dataset; the yielded function names a new dataset and its time, or sets the elapsed
    seconds."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def report_time(dataset: str, time_s: float | None, seconds: float) -> None:
            if dataset:
                bar.reset(task, total=time_s, description=f"{title} on {dataset}")
            bar.update(task, completed=seconds)

        yield report_time
