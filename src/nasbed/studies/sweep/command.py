"""``nasbed study sweep``: a grid over the settings of one method."""

from __future__ import annotations

from typing import Annotated

import typer

from nasbed.terminal import report_options as options
from nasbed.terminal.interruption import on_interrupt, runs_kept
from nasbed.terminal.method_options import EngineName, chosen_engine
from nasbed.terminal.progress import counted_bars, note
from nasbed.terminal.settings import Vary, settings_by_key, varied_settings


def sweep(
    out: options.Out,
    optimizer: Annotated[
        str, typer.Option(help="The method: an id from 'nasbed list optimizers', or your own as file.py:ClassName.")
    ],
    vary: Vary,
    benchmark: options.Searched = options.DEFAULT_BENCHMARK,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting that stays the same; may be given several times."),
    ] = None,
    preset: options.MethodPreset = "",
    seeds: Annotated[int, typer.Option(min=2, help="The number of runs of each setting, with seeds 0, 1, 2 …")] = 20,
    budget: options.Budget = "300ev",
    processes: options.Processes = None,
    engine: EngineName = "local",
    figures: options.Figures = False,
    format: options.Formats = None,
) -> None:
    """Run a method with every combination of some settings, and say which differ from the default.

    Runs are stored as by 'nasbed run', one folder per combination in DIR/runs; the same command resumes where it
    stopped. Combinations that the method refuses are listed and left out.

    Example: nasbed study sweep --optimizer re --vary population_size=10,50,100 --vary sample_size=2,10 --out sweep
    """
    on_interrupt(lambda: runs_kept(out))
    formats = options.report_formats(out, figures, format)

    from nasbed.benchmarks import load
    from nasbed.studies.sweep.page import outcome, settings_table, sweep_lines, write_sweep_report
    from nasbed.studies.sweep.study import sweep_plan, sweep_study

    varied, fixed = varied_settings(vary), settings_by_key(settings or [])
    plan = sweep_plan(load(benchmark), optimizer, varied, name=benchmark, budget=budget, preset=preset, settings=fixed)
    note(f"{len(plan.variants)} settings with {seeds} seeds on {benchmark}, {budget} each")
    with counted_bars() as bars:
        tasks = {variant.folder: bars.add_task(variant.name, total=seeds) for variant in plan.variants}
        study = sweep_study(
            benchmark,
            optimizer,
            varied,
            seeds=seeds,
            budget=budget,
            out=out,
            preset=preset,
            settings=fixed,
            engine=chosen_engine(engine, processes),
            progress=lambda folder, seed, error: bars.advance(tasks[folder]),
        )
    write_sweep_report(study, out, formats=formats)
    typer.echo(settings_table(study).text())
    for line in sweep_lines(study):
        typer.echo(line)
    typer.echo(f"\n{outcome(study)}\n\n{out / 'report.html'}")
