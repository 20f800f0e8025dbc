"""``nasbed fit``: a surrogate benchmark from a table of results."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.cli import tune as tuning
from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import print_table
from nasbed.terminal.progress import note, share_bar
from nasbed.terminal.report_options import Fidelity, MetricKey, ModelPreset, Processes, check_folder
from nasbed.terminal.settings import settings_by_key

if TYPE_CHECKING:
    from nasbed.results import Results
    from nasbed.surrogates.table_split import TableSplit

RuntimeSettings = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Settings of that model from 'nasbed tune --metric train_time_s': DIR/best.json."
    ),
]


@former_options({"--methods": "--optimizers"})
def fit(
    table: tuning.Table,
    model: tuning.Model = "lgb",
    ensemble: Annotated[
        int, typer.Option(min=1, help="The number of members; each is fitted without a different part of the data.")
    ] = 10,
    tune: Annotated[
        int | None, typer.Option(min=1, metavar="TRIALS", help="Tune the settings first, with this many trials.")
    ] = None,
    settings_file: Annotated[
        Path | None,
        typer.Option("--settings", metavar="FILE", help="A file of settings from 'nasbed tune': DIR/best.json."),
    ] = None,
    preset: ModelPreset = "",
    settings: tuning.Set = None,
    metric: MetricKey = None,
    fidelity: Fidelity = None,
    all_fidelities: Annotated[
        bool,
        typer.Option(
            "--all-fidelities",
            help="Fit one surrogate that answers at every budget of the table, and at every epoch of its learning "
            "curves. Its name has -mf.",
        ),
    ] = False,
    optimizers: tuning.Optimizers = None,
    at_least: tuning.AtLeast = None,
    runtime: Annotated[bool, typer.Option(help="Also fit a model of the training time.")] = True,
    runtime_method: Annotated[
        str | None,
        typer.Option(
            help="Fit the model of the training time on this method's evaluations only, if hardware differed."
        ),
    ] = None,
    runtime_settings: RuntimeSettings = None,
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="repeats|ensemble",
            show_default="repeats, where the table has enough",
            help="What queries sample: the noise of the table's repeats, the same for every surrogate of the table; or "
            "of each fit its own, from the repeats among its evaluations or, without any, from its errors.",
        ),
    ] = None,
    score: tuning.ScoreName = "skt",
    seed: tuning.Seed = 0,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact", help="Write a smaller file: trees in single precision, without the library's own format."
        ),
    ] = False,
    version: Annotated[str, typer.Option(metavar="X.Y", help="The version in the surrogate's name.")] = "1.0",
    processes: Processes = None,
    timeout: tuning.Timeout = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PATH",
            show_default="where 'nasbed run NAME' finds it",
            help="A new folder, or one file if it ends in .snb.",
        ),
    ] = None,
) -> None:
    """Make a surrogate benchmark: fit an ensemble on 90 % of a table, calibrate its noise, judge it on the rest.

    Writes the surrogate and a report page next to it.

    Example: nasbed fit nb201/cifar10 --model lgb --ensemble 10 --out surrogates/mine.snb

    Example: nasbed fit nb201/cifar10 --model gin --preset appendix-b --at-least 50

    Example: nasbed fit nb101-mini-cifar10-16-v1.0 --all-fidelities --out surrogates/all-budgets.snb
    """
    on_interrupt(lambda: NOTHING_KEPT)

    from nasbed.benchmarks.catalog import load_results
    from nasbed.experiments.tuning import load_runtime_settings, load_settings
    from nasbed.reports.fit.data import figure_rows, level_table, noise_text
    from nasbed.reports.fit.page import write_fit_report
    from nasbed.surrogates.artefact import Artefact
    from nasbed.surrogates.artefact_manifest import variant_of
    from nasbed.surrogates.making import make_surrogate, table_noise
    from nasbed.surrogates.presets import MODEL_PRESETS
    from nasbed.surrogates.runtime import RUNTIME_MODEL

    if tune is not None and settings_file is not None:
        raise InvalidOption("settings are either tuned or read from a file, got --tune and --settings; omit one")
    if preset and (tune is not None or settings_file is not None):
        other = "--tune" if tune is not None else "--settings"
        raise InvalidOption(f"settings are from a preset, or tuned, or from a file, got --preset and {other}; omit one")
    tuning.check_model(model)
    results = load_results(table)
    model_settings = settings_by_key(settings or [])
    if preset:
        model_settings = MODEL_PRESETS.get(preset).settings(model) | model_settings
    if settings_file is not None:
        model_settings = load_settings(settings_file, model) | model_settings
    tuning.check_settings(model, results, model_settings)
    clock_model, clock_settings = RUNTIME_MODEL, None
    if runtime_settings is not None:
        if not runtime:
            raise InvalidOption("settings are for a runtime model, got --no-runtime; omit one of the two")
        clock_model, clock_settings = load_runtime_settings(runtime_settings)
        tuning.check_settings(clock_model, results, clock_settings)
    chosen_methods = tuning.names_of(optimizers)
    variant = variant_of(chosen_methods, all_fidelities=all_fidelities)
    path = _new_path(out, results, model, variant, version)
    split = tuning.split_of(results, metric, fidelity, optimizers, seed, at_least, all_fidelities=all_fidelities)
    if settings_file is not None:
        _warn_of_leaks(settings_file, split)
    if runtime_settings is not None:
        _warn_of_leaks(runtime_settings, split.timed())
    table_noise(split, noise)  # raises before anything is tuned
    page = path.with_name(_stem(path) + ".html")
    trials = path.with_name(_stem(path) + "-tuning")
    on_interrupt(lambda: _interruption_note(path, None if tune is None else trials))
    if tune is not None:
        tuned = tuning.run_tuning(
            split, model, tune, trials, score, model_settings, seed=seed, processes=processes, timeout=timeout
        )
        model_settings = dict(tuned.best.settings)
    start = perf_counter()
    with share_bar(f"Fitting {ensemble} × {model}") as report_share:
        artefact = make_surrogate(
            split,
            model,
            members=ensemble,
            settings=model_settings,
            runtime=clock_model if runtime else None,
            runtime_method=runtime_method,
            runtime_settings=clock_settings,
            variant=variant,
            version=version,
            compact=compact,
            noise=noise,
            seed=seed,
            processes=min(processes or os.cpu_count() or 1, ensemble),
            progress=report_share,
        )
    fit_end = perf_counter()
    artefact.save(path)
    saved = perf_counter()
    artefact = Artefact.load(path)
    times = {"time to fit": fit_end - start, "time to load": perf_counter() - saved}
    command = shlex.join(["nasbed", *sys.argv[1:]])
    write_fit_report(page, artefact, split.test, runtime_method=runtime_method, times=times, command=command)
    print_table(("test part", ""), figure_rows(artefact.manifest, times))
    if levels := level_table(artefact.manifest):
        typer.echo(f"\n{levels.text()}")
    typer.echo(f"\nSurrogate: {artefact.name}\nWritten:   {path}\nReport:    {page}")
    typer.echo(f"Noise:     {noise_text(artefact)}")
    benchmark = artefact.name if out is None else str(path)
    typer.echo(f"Try it:    {shlex.join(['nasbed', 'run', benchmark, '--optimizers', 'rs,re,ls', '--seeds', '5'])}")


def _interruption_note(path: Path, trials: Path | None) -> str:
    """The message of an interrupted fit."""
    if path.exists():
        return f"the surrogate is complete in {path}, its report is not"
    return NOTHING_KEPT if trials is None else tuning.trials_kept(trials)


def _new_path(out: Path | None, results: Results, model: str, variant: str, version: str) -> Path:
    """The path of the surrogate. Raises before the fit if it exists."""
    from nasbed.benchmarks.places import surrogate_paths
    from nasbed.core.home import surrogates_folder
    from nasbed.surrogates.artefact import SUFFIX
    from nasbed.surrogates.artefact_manifest import artefact_name

    dataset = results.about.dataset or results.about.name.split("/")[-1]
    name = artefact_name(results.about.space, dataset, model, variant=variant, version=version)
    path = surrogate_paths().get(name, surrogates_folder() / f"{name}{SUFFIX}") if out is None else out
    if path.exists():
        raise InvalidOption(f"{path} exists, and surrogates are never overwritten; give another --out or --version")
    check_folder(path.parent, "a surrogate goes")
    return path


def _stem(path: Path) -> str:
    from nasbed.surrogates.artefact import SUFFIX

    return path.name.removesuffix(SUFFIX)


def _warn_of_leaks(file: Path, split: TableSplit) -> None:
    from nasbed.experiments.tuning.journal import read_json

    tuned_on = read_json(file).get("data_sha256")
    if tuned_on is not None and tuned_on != split.fitted_sha256:
        note(
            f"{file} was tuned on other evaluations (table, --seed, --optimizers, --metric or --fidelity differ): it "
            "may have seen the test part, so figures may be too good"
        )
