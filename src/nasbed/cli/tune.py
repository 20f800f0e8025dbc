"""``nasbed tune``: better settings for a surrogate model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import print_fields, print_table
from nasbed.terminal.progress import counted_bars, note
from nasbed.terminal.report_options import Fidelity, MetricKey, Processes, check_folder
from nasbed.terminal.settings import settings_by_key

if TYPE_CHECKING:
    from nasbed.experiments.tuning import Score, TuningResult
    from nasbed.experiments.tuning.journal import TuningTrial
    from nasbed.results import Results
    from nasbed.surrogates.table_split import TableSplit

Table = Annotated[
    str, typer.Argument(metavar="RESULTS", help="A folder of results, or the id of a table, such as nb201/cifar10.")
]
Model = Annotated[str, typer.Option(help="The model, from 'nasbed list surrogates'.")]
Optimizers = Annotated[
    str | None,
    typer.Option(show_default="all", help="Use only evaluations of these search methods: comma-separated ids."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the model; may be given several times."),
]
AtLeast = Annotated[
    float | None,
    typer.Option(help="Leave out architectures with an evaluation worse than this: 50 leaves out those that diverged."),
]
Seed = Annotated[
    int, typer.Option(min=0, help="The seed of the split into train, validation and test, and of the models.")
]
ScoreName = Annotated[str, typer.Option("--score", help="The score to tune for: skt (sparse Kendall tau) or r2.")]
TRAIN_TIME = "train_time_s"
"""Tuning for it tunes the runtime model."""
Timeout = Annotated[float | None, typer.Option(min=1, help="Wall-clock timeout per trial, in seconds.")]


@former_options({"--methods": "--optimizers"})
def tune(
    table: Table,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder of the trials; an interrupted command resumes there.")
    ],
    model: Annotated[
        str | None,
        typer.Option(show_default="xgb; lgb for train_time_s", help="The model, from 'nasbed list surrogates'."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="The number of fits, one of them with the default settings.")] = 50,
    score: ScoreName = "skt",
    metric: MetricKey = None,
    fidelity: Fidelity = None,
    optimizers: Optimizers = None,
    at_least: AtLeast = None,
    settings: Set = None,
    seed: Seed = 0,
    processes: Processes = None,
    timeout: Timeout = None,
) -> None:
    """Tune a surrogate model by BOHB: fit on 80 % of a table, score on 10 %, judge the best on the last 10 %.

    An interrupted tuning resumes with the same command. Raise --trials to continue a finished one.

    With --metric train_time_s it tunes the runtime model, which runs a surrogate's simulated clock. It learns the
    logarithm of the seconds.

    Example: nasbed tune nb201/cifar10 --model xgb --trials 50 --out tuned-xgb
    """
    from nasbed.benchmarks.catalog import load_results
    from nasbed.experiments.tuning import BEST
    from nasbed.reports.tuning import tuning_rows, write_tuning_report
    from nasbed.surrogates.runtime import RUNTIME_MODEL

    on_interrupt(lambda: trials_kept(out))
    is_runtime = metric == TRAIN_TIME
    model = model or (RUNTIME_MODEL if is_runtime else "xgb")
    check_model(model)
    check_folder(out, "trials go")
    results = load_results(table)
    fixed = settings_by_key(settings or [])
    check_settings(model, results, fixed)
    split = split_of(results, None if is_runtime else metric, fidelity, optimizers, seed, at_least)
    split = split.timed() if is_runtime else split
    tuned = run_tuning(split, model, trials, out, score, fixed, seed=seed, processes=processes, timeout=timeout)
    fit_command = ["nasbed", "fit", table]
    fit_command += ["--runtime-settings"] if is_runtime else ["--model", model, "--settings"]
    fit_command.append(str(out / BEST))
    options = {
        "--metric": None if is_runtime else metric,
        "--fidelity": fidelity,
        "--optimizers": optimizers,
        "--at-least": at_least,
        "--seed": seed or None,
    }
    for option, value in options.items():
        fit_command += [] if value is None else [option, str(value)]
    following = shlex.join(fit_command)
    write_tuning_report(
        out / "report.html", tuned, command=shlex.join(["nasbed", *sys.argv[1:]]), next_command=following
    )
    print_table(("", "defaults, validation", "best, validation", "best, test"), tuning_rows(tuned))
    typer.echo()
    best = {name: value for name, value in tuned.best.settings.items() if tuned.best.number}
    typer.echo(f"Best is trial {tuned.best.number} of {len(tuned.trials)}" + (", with:" if best else ": the defaults."))
    if best:
        print_fields(best)
    typer.echo(f"Report: {out / 'report.html'}")
    typer.echo(f"Fit with these settings: {following}")


def trials_kept(out: Path) -> str:
    """The message of an interrupted tuning."""
    from nasbed.experiments.tuning.journal import JOURNAL

    journal = out / JOURNAL
    count = (
        sum('"ended"' in line for line in journal.read_text(encoding="utf-8").splitlines()) if journal.is_file() else 0
    )
    if not count:
        return NOTHING_KEPT
    return f"{count} trial{' is' if count == 1 else 's are'} kept in {out}; the same command resumes from there"


def run_tuning(
    split: TableSplit,
    model: str,
    trials: int,
    out: Path,
    score: str,
    settings: dict[str, Any],
    *,
    seed: int,
    processes: int | None,
    timeout: float | None,
) -> TuningResult:
    """Tune with a progress bar, and print what failed.

    Args:
        split: the parts of the table.
        model: the id of the model.
        trials: how many fits.
        out: the folder of the trials.
        score: what is maximised.
        settings: those that are not tuned.
        seed: of the proposals.
        processes: how many fits at a time.
        timeout: seconds a fit.
    """
    from nasbed.core.execution import LocalEngine
    from nasbed.experiments import tuning

    with _trial_bar(f"Tuning {model}", trials, score) as report_trial:
        tuned = tuning.tune(
            model,
            split,
            trials=trials,
            out=out,
            score=cast("Score", score),
            settings=settings,
            engine=LocalEngine(processes),
            seed=seed,
            timeout_s=timeout,
            progress=report_trial,
        )
    if tuned.setup.budget and not any(trial.values and trial.budget == tuned.best.budget for trial in tuned.trials):
        note(
            f"only the trial with default settings had the highest budget, {tuned.best.budget} {tuned.setup.budget}; "
            "raise the number of trials"
        )
    for line in tuned.notes():
        note(line)
    return tuned


@contextmanager
def _trial_bar(title: str, total: int, score: str) -> Iterator[Callable[[TuningTrial], None]]:
    best: list[float] = []
    with counted_bars() as bar:
        task = bar.add_task(title, total=total)

        def report_trial(trial: TuningTrial) -> None:
            if trial.error:
                typer.echo(f"trial {trial.number}: {trial.error}", err=True)
            else:
                best[:] = [max([*best, trial.figures[score]])]
            bar.update(task, advance=1, description=f"{title}, best {best[0]:.4f}" if best else title)

        yield report_trial


# --- what fit and tune share -----------------------------------------------------------------------------------------


def check_model(model: str) -> None:
    from nasbed.surrogates import SURROGATES

    SURROGATES.get(model)


def names_of(methods: str | None) -> list[str] | None:
    names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    if names == []:
        raise InvalidOption("--optimizers names at least one search method, got none; omit it for all")
    return names


def split_of(
    results: Results,
    metric: str | None,
    fidelity: int | None,
    methods: str | None,
    seed: int,
    at_least: float | None = None,
    *,
    all_fidelities: bool = False,
) -> TableSplit:
    """The split of a table for a command; raises unless each part has some evaluations.

    Args:
        results: the table.
        metric: what is predicted; the table's objective by default.
        fidelity: the budget; the highest by default.
        methods: the comma-separated names of the search methods whose evaluations count; all by default.
        seed: of the split.
        at_least: leaves out architectures with an evaluation that is worse.
        all_fidelities: splits trainings that were evaluated at each fidelity.
    """
    from nasbed.surrogates.table_split import TableSplit, search_metric

    which: dict[str, Any] = {"fidelity": fidelity, "at_least": at_least, "all_fidelities": all_fidelities}
    split = TableSplit.of(results, metric=search_metric(results, metric), methods=names_of(methods), seed=seed, **which)
    split.check_parts()
    return split


def check_settings(model: str, results: Results, settings: dict[str, Any]) -> None:
    """Raise before anything is fitted if the settings are wrong."""
    from nasbed.surrogates import SURROGATES

    kind = SURROGATES.get(model)
    try:
        kind(results.space, settings=settings)
    except NasbedError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        reason = next(iter(str(error).splitlines()), repr(error))
        raise InvalidOption(
            f"{model} cannot be made with these settings: {reason}; see 'nasbed list surrogates'"
        ) from None
