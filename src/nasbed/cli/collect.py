"""``nasbed collect …``: evaluate many architectures, and keep every result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import Json, print_fields, print_json, print_table
from nasbed.terminal.progress import LogLines, note
from nasbed.terminal.report_options import check_folder

if TYPE_CHECKING:
    from nasbed.core.execution import Engine
    from nasbed.experiments.campaign import CampaignProgress, CampaignStatus, Trainer

MOST_PRINTED = 5
"""The number of failed trials that are printed; more are counted."""


class _RunUnlessNamed(TyperGroup):
    """``collect FILE`` is ``collect run FILE``."""

    default_command = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self.default_command, *args]
        arguments: list[str] = super().parse_args(ctx, args)
        return arguments


app = typer.Typer(
    cls=_RunUnlessNamed,
    no_args_is_help=True,
    help=(
        "Collect the data of a benchmark: methods propose architectures, a trainer or any function evaluates them.\n\n"
        "nasbed collect campaign.toml is the same as nasbed collect run campaign.toml."
    ),
)

CampaignFile = Annotated[
    Path, typer.Argument(metavar="[CAMPAIGN.TOML]", help="The campaign; docs/how-to/collecting.md explains the file.")
]

CalibrationFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Take training times from 'nasbed collect calibrate'; keep the measured beside."),
]
TaskProcesses = Annotated[
    int | None,
    typer.Option(
        min=1,
        show_default="1; for a function, all cores; ray: the whole cluster",
        help="The number of processes, each with a task at a time.",
    ),
]
PopulationSize = Annotated[
    int | None,
    typer.Option(min=1, show_default="the campaign's", help="Networks trained together; 1 for times alone."),
]
NetworkCount = Annotated[
    int | None,
    typer.Option(min=1, show_default="3 populations, at least 64", help="The number of networks to measure."),
]


@app.command()
@former_options({"--workers": "--processes"})
def run(
    campaign: CampaignFile = Path("campaign.toml"),
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal", "-j", show_default="next to the campaign, .sqlite", help="The journal that stores the results."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an existing journal.")] = False,
    engine: Annotated[
        str, typer.Option(help="The engine that runs trials: local (processes), ray (a cluster) or serial.")
    ] = "local",
    processes: TaskProcesses = None,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes", help="Continue even if the code of your function, space or method has changed."
        ),
    ] = False,
    gpus_per_task: Annotated[
        float | None, typer.Option(min=0, help="With ray: the share of a GPU that a task takes, such as 0.5.")
    ] = None,
) -> None:
    """Run a campaign. Each result is written to the journal before it counts. A campaign that was stopped or killed
    resumes with --resume, and ends with the same trials. A trainer that cannot evaluate anything here is refused before
    the first trial. The exit status is 1 if every trial failed.

    To extend a campaign, raise numbers in its file and resume: trials, seeds of a grid, evaluations of searches,
    architectures and seeds of repeats. Nothing else may change.

    Example: nasbed collect campaign.toml --processes 4
    """
    from nasbed.experiments.campaign import Campaign, campaign_status, collect, trainer_of

    planned = Campaign.read(campaign)
    path = journal or campaign.with_suffix(".sqlite")
    if path.is_file() and not resume:
        status_before = campaign_status(path)
        raise InvalidOption(
            f"{path} holds {status_before.done} of {status_before.planned} results; resume it with --resume, or "
            "name another file "
            "with --journal"
        )
    trainer = trainer_of(planned)
    runner = _engine(engine, processes, gpus_per_task, trainer)
    resume_command = shlex.join(
        ["nasbed", "collect", str(campaign), *(["--journal", str(path)] if journal else []), "--resume"]
    )
    on_interrupt(lambda: _results_kept(path, resume_command))
    with _progress_bar(planned.name) as report_progress:
        status_ = collect(
            planned, trainer, path, engine=runner, progress=report_progress, on_note=note, accept_changes=accept_changes
        )
    _print_status(status_)
    if status_.all_failed:
        note(f"all {status_.done} trials failed; fix the trainer, then start again with another --journal")
        raise typer.Exit(1)
    typer.echo(f"\nMake it a table: nasbed collect export {shlex.quote(str(path))} --out {shlex.quote(planned.name)}")


@app.command()
def status(
    journals: Annotated[list[Path], typer.Argument(metavar="JOURNAL…", help="Journals of campaigns.")],
    json: Json = False,
) -> None:
    """Print the progress of campaigns, also while they run.

    Example: nasbed collect status campaign.sqlite
    """
    from nasbed.experiments.campaign import campaign_status

    for number, path in enumerate(journals):
        state = campaign_status(path)
        if json:
            print_json(_fields(state) | {"methods": state.by_method, "reasons": state.reasons, "notes": state.notes})
            continue
        if number:
            typer.echo()
        _print_status(state)


@app.command()
def export(
    journals: Annotated[list[Path], typer.Argument(metavar="JOURNAL…", help="Journals of one kind of campaign.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The new folder of the table.")],
    name: Annotated[str | None, typer.Option(show_default="the campaign's", help="The table's name.")] = None,
    fidelity: Annotated[
        list[int] | None,
        typer.Option(show_default="all", help="Export only results at this fidelity; may be given several times."),
    ] = None,
    by_function: Annotated[
        bool, typer.Option("--by-function", help="A training answers for all architectures with the same function.")
    ] = False,
    calibration: CalibrationFile = None,
) -> None:
    """Write the results of one or several journals as a table: Parquet with a manifest, ready for nasbed fit.

    Example: nasbed collect export night-1.sqlite night-2.sqlite --out darts-digits
    """
    from nasbed.experiments.campaign import export_journals

    check_folder(out, "a table goes")
    results = export_journals(
        journals,
        out,
        name=name,
        fidelities=fidelity or None,
        by_function=by_function,
        calibration=calibration,
    )
    manifest = results.manifest
    typer.echo(f"{manifest.rows} rows, {manifest.architectures} architectures in {out}")
    typer.echo(f"Look at it: nasbed results info {shlex.quote(str(out))}")


@app.command()
def calibrate(
    source: Annotated[
        Path, typer.Argument(metavar="CAMPAIGN.TOML|JOURNAL", help="A campaign of populations, or its journal.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.json", help="The new file of the calibration.")],
    device: Annotated[str, typer.Option(help="Where to measure: cuda, cuda:NUMBER, cpu or auto.")] = "auto",
    population: PopulationSize = None,
    networks: NetworkCount = None,
) -> None:
    """Measure what the networks of a campaign cost on this device: every kind of launch is timed once, alone.

    Training times are then a function of the architecture, on which all populations agree. Name the file as the
    calibration of a campaign's trainer, or give it to 'nasbed collect export --calibration'.

    Example: nasbed collect calibrate campaign.toml --device cuda --out h200.json
    """
    from nasbed.experiments.campaign import calibrate_campaign

    if out.exists():
        raise InvalidOption(f"{out} exists, and a calibration is never overwritten; give another --out")
    check_folder(out.parent, "a calibration goes")
    on_interrupt(lambda: NOTHING_KEPT)
    calibration = calibrate_campaign(
        source, out, device=device, population=population, networks=networks, progress=_note_populations
    )
    steps, costs = zip(*calibration.step_s, strict=True)
    fields = {
        "device": calibration.device,
        "space": calibration.setting.space,
        "networks together": calibration.population,
    }
    fields |= {"kinds of launches": len(calibration.seconds), "step of a population": _milliseconds(steps)}
    print_fields(fields | {"costs of its networks": _milliseconds(costs)})
    typer.echo(f"\nRe-time a table: nasbed collect export JOURNAL --calibration {shlex.quote(str(out))} --out FOLDER")


def _note_populations(done: int, total: int) -> None:
    note(f"{done} of {total} populations measured")


def _milliseconds(seconds: Iterable[float]) -> str:
    return ", ".join(f"{1000 * value:.3g}" for value in seconds) + " ms"


def _results_kept(journal: Path, resume_command: str) -> str:
    from nasbed.experiments.campaign import campaign_status

    if not journal.is_file():
        return "nothing was started; run the same command again"
    state = campaign_status(journal)
    return f"{state.done} of {state.planned} results are in {journal}; resume with: {resume_command}"


def _engine(name: str, processes: int | None, gpus: float | None, trainer: Trainer) -> Engine:
    from nasbed.core.execution import LocalEngine, SerialEngine

    if gpus is not None and name != "ray":
        raise InvalidOption(f"--gpus-per-task is for the engine ray, got {name}; omit it")
    if name == "local":
        return LocalEngine(processes or trainer.usual_workers)
    if name == "serial":
        if trainer.timeout_s is not None:
            note("the engine serial has no timeout; a trial that hangs blocks the campaign")
        return SerialEngine()
    if name == "ray":
        from nasbed.core.execution.ray_engine import RayEngine

        return RayEngine(gpus=gpus or 0, workers=processes)
    raise InvalidOption(f"an engine is local, serial or ray, got {name!r}; choose one of them")


# --- telling ---------------------------------------------------------------------------------------------------------


@contextmanager
def _progress_bar(title: str) -> Iterator[Callable[[CampaignProgress], None]]:
    """A bar with rate, remaining time, incumbent and failures; without a terminal, a line from time to time."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task, lines = bar.add_task("proposing", total=None), LogLines(bar)
        bad = 0

        def report_progress(progress: CampaignProgress) -> None:
            nonlocal bad
            bar.update(task, completed=progress.done, total=progress.total, description=_line(progress))
            for trial, evaluation in progress.latest:
                if evaluation.reason:
                    bad += 1
                    if bad <= MOST_PRINTED:
                        note(f"trial {trial.number} {evaluation.status}: {evaluation.reason}")
                    elif bad == MOST_PRINTED + 1:
                        note("more trials failed or diverged; see: nasbed collect status")
            lines.report(f"{progress.done} of {progress.total}, {_line(progress)}")

        yield report_progress


def _line(progress: CampaignProgress) -> str:
    parts = [_rate(progress.rate * 3600)]
    if progress.eta_s is not None:
        parts.append(f"{_span(progress.eta_s)} to go")
    if progress.best is not None:
        parts.append(f"best {progress.best:.6g}")
    parts += [
        f"{count} {outcome}"
        for count, outcome in ((progress.diverged, "diverged"), (progress.failed, "failed"))
        if count
    ]
    return ", ".join(parts)


def _rate(per_hour: float) -> str:
    return f"{per_hour / 3600:.1f}/s" if per_hour >= 3600 else f"{per_hour:.0f}/h"


def _span(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _fields(state: CampaignStatus) -> dict[str, Any]:
    last = None if state.last_us is None else datetime.fromtimestamp(state.last_us / 1e6, UTC)
    return {
        "campaign": state.name,
        "space": state.space,
        "journal": str(state.path),
        "trials": state.planned,
        "ended": state.done,
        **state.by_status,
        "rounds": state.rounds,
        "made by": ", ".join(_made_by(state)),
        f"best {state.objective.key}": state.best,
        "its architecture": state.best_architecture,
        "last result": None if last is None else last.isoformat(sep=" ", timespec="seconds"),
        "per hour": None if state.per_hour is None else round(state.per_hour, 1),
        "to go": None if state.eta_s is None or state.complete else _span(state.eta_s),
    }


def _made_by(state: CampaignStatus) -> list[str]:
    """The versions of nasbed that made results, with their numbers where there are several."""
    counts = {f"nasbed {version}" if version else "no record": count for version, count in state.by_version.items()}
    return list(counts) if len(counts) < 2 else [f"{maker} ({count})" for maker, count in counts.items()]


def _print_status(state: CampaignStatus) -> None:
    print_fields({name: value for name, value in _fields(state).items() if value not in (None, "")})
    if state.by_method:
        typer.echo()
        print_table(("proposed by", "trials"), state.by_method.items())
    if state.reasons:
        typer.echo()
        reasons = list(state.reasons.items())[:10]
        print_table(("failed or diverged, because", "trials"), reasons)
    for line in state.notes:
        typer.echo(f"note: {line}")
    sys.stdout.flush()
