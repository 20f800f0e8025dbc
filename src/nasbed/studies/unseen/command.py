"""``nasbed study unseen``: tables 1 to 3 of the paper on unseen datasets beside your own results.

With ``--nas`` the command first runs NAS methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import OccasionalNotes, epoch_bar, note
from nasbed.terminal.report_options import Figures, Formats, OptionalOut, SearchPreset, report_formats
from nasbed.terminal.settings import settings_by_owner
from nasbed.terminal.training_options import PrecisionName, chosen_precision

if TYPE_CHECKING:
    from nasbed.experiments.unseen.runs import NasPlan
    from nasbed.studies.unseen.study import UnseenStudy
NasMethods = Annotated[
    str | None,
    typer.Option(
        metavar="METHOD,...",
        help="Run these: pc-darts, drnas, bonsai-net, rs-darts, rs-bonsai, or any method of 'nasbed oneshot list'.",
    ),
]
RESULTS = typer.Argument(
    metavar="[RESULTS]...",
    help="Your own results: files written by 'nasbed data baseline --out' or by --nas. They replace those that come "
    "with nasbed for the same dataset and model.",
)
RECIPE = typer.Option(
    metavar="NAME|FILE",
    show_default="unseen, or the preset's",
    help="The recipe that trains found architectures from scratch.",
)


def _size(default: str, description: str) -> Any:
    """An option that is a whole number, 1 or more; a preset may have another default."""
    return typer.Option(min=1, show_default=f"{default}, or the preset's", help=description)


@former_options({"--data": "--datasets", "--bfloat16": "--precision bfloat16"})
def unseen(
    results: Annotated[list[Path] | None, RESULTS] = None,
    only_mine: Annotated[
        bool, typer.Option("--only-mine", help="Omit the measurements that come with nasbed.")
    ] = False,
    out: OptionalOut = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="the most available",
            help="Show only results with this many epochs; with --nas, train this many.",
        ),
    ] = None,
    figures: Figures = False,
    format: Formats = None,
    nas: NasMethods = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR|NAME",
            help="With --nas: a folder in the competition's format, named as in the paper, or a name from "
            "'nasbed data list'; may be given several times.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--results", metavar="FILE", help="With --nas: add results to this file; existing results are not repeated."
        ),
    ] = None,
    preset: SearchPreset = "",
    recipe: Annotated[str | None, RECIPE] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Searches per method; for rs-…, random architectures.")] = 1,
    train_seeds: Annotated[int, typer.Option(min=1, help="Trainings per architecture.")] = 1,
    search_epochs: Annotated[int | None, _size("50", "Epochs per search.")] = None,
    search_images: Annotated[int | None, _size("all", "Images per epoch of a search, redrawn each epoch.")] = None,
    search_channels: Annotated[int | None, _size("16", "Channels of the first cells in a search.")] = None,
    search_cells: Annotated[int | None, _size("8", "Cells of a supernet; Bonsai-Net searches what is trained.")] = None,
    channels: Annotated[int | None, _size("16", "Channels of the first cells in a training.")] = None,
    cells: Annotated[int | None, _size("8", "Cells of the network that is trained.")] = None,
    precision: PrecisionName = None,
    together: Annotated[
        bool,
        typer.Option("--together", help="Train all networks of a space at once, except Bonsai-Net's; faster on a GPU."),
    ] = False,
    learning_curve: Annotated[
        bool,
        typer.Option("--learning-curve", help="Also measure the validation accuracy after every epoch of a training."),
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="OWNER.KEY=VALUE",
            help="A setting of searches, such as supernet.flip=true, bonsai.target=0.2 or bonsai.nodes=4.",
        ),
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", show_default="FILE.checkpoints", help="Checkpoints, from which an interrupted run resumes."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu, cuda or cuda:1.")] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="CPU threads per process.")] = 1,
    processes: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of parallel searches and trainings, except those trained with --together. They "
            "share a GPU well under NVIDIA's MPS.",
        ),
    ] = 1,
    json: Json = False,
) -> None:
    """Print the published accuracies on the eight unseen datasets beside measured ones: those that come with nasbed,
    and your own.

    With --nas, methods first search on datasets, and the architectures found are trained from scratch. Repeat an
    interrupted command to resume it. Results of different budgets are never mixed. --preset paper takes each method's
    search and training from its own paper; options given beside it win, and results say what they changed.

    Example: nasbed study unseen

    Example: nasbed study unseen results.jsonl --only-mine --out unseen

    Example: nasbed study unseen --nas pc-darts,bonsai-net --datasets AddNIST --results results.jsonl --train-seeds 3

    Example: nasbed study unseen --nas pc-darts --preset paper --search-epochs 10 --datasets AddNIST --results r.jsonl

    Example: nasbed study unseen --nas rs-darts,rs-bonsai --datasets AddNIST --results results.jsonl --seeds 5
    """

    formats = () if out is None else report_formats(out, figures, format)
    files = list(results or [])
    if nas is None and (datasets or file or preset or learning_curve):
        raise InvalidOption(
            "--datasets, --results, --preset and --learning-curve need methods to run; name some with --nas"
        )
    if nas is not None:
        if not datasets or file is None:
            raise InvalidOption(
                "--nas needs datasets and a file for results; add --datasets DIR and --results FILE.jsonl"
            )
        settings = settings_by_owner(set_ or [], owner="OWNER", example="bonsai.target=0.2")
        from nasbed.networks import check_torch

        check_torch()
        from nasbed.experiments.unseen.budget import NasBudget
        from nasbed.experiments.unseen.presets import PresetChoice
        from nasbed.experiments.unseen.runs import NasPlan
        from nasbed.training import load_recipe

        sizes: dict[str, Any] = {
            "search_epochs": search_epochs,
            "search_images": search_images,
            "search_channels": search_channels,
            "search_cells": search_cells,
            "channels": channels,
            "cells": cells,
            "precision": None if precision is None else chosen_precision(precision, "float32"),
        }
        sizes = {name: value for name, value in sizes.items() if value is not None}
        opened_recipe = load_recipe(recipe or "unseen")
        opened_recipe = replace(opened_recipe, precision=sizes.get("precision", opened_recipe.precision))
        choice = PresetChoice(preset, settings, opened_recipe if recipe else None, **sizes) if preset else None
        plan = NasPlan(
            tuple(name.strip() for name in nas.split(",") if name.strip()),
            opened_recipe,
            NasBudget.alike(**(sizes | settings)),
            epochs,
            seeds=seeds,
            train_seeds=train_seeds,
            together=together,
            preset=choice,
            learning_curve=learning_curve,
        )
        folder = checkpoints or file.with_name(f"{file.name}.checkpoints")
        _measure(plan, datasets, file, folder, device=device, threads=threads, processes=processes)
        files += [file] if file not in files else []

    from nasbed.experiments.unseen.results import read_results, shipped_results
    from nasbed.studies.unseen.study import unseen_study

    study = unseen_study(read_results(files), shipped=[] if only_mine else shipped_results(), epochs=epochs)
    if out is not None:
        from nasbed.studies.unseen.page import write_unseen_report

        write_unseen_report(study, out, formats=formats)
    if json:
        from nasbed.studies.unseen.tables import unseen_numbers

        print_json(unseen_numbers(study))
        return
    _print(study)
    if out is not None:
        typer.echo(f"\n{out / 'report.html'}")


def _print(study: UnseenStudy) -> None:
    from nasbed.studies.unseen.tables import (
        FOUND_KEY,
        KEY,
        budget_lines,
        far_lines,
        found_lines,
        found_table,
        outcome,
        paper_lines,
        unseen_tables,
    )

    for title, table in unseen_tables(study).items():
        typer.echo(f"{title}\n{table.text()}\n")
    typer.echo(KEY)
    table_found = found_table(study)
    comparison = []
    if table_found is not None:
        comparison = ["Found versus random architectures", table_found.text(), "", FOUND_KEY, *found_lines(study)]
    for lines in (outcome(study), far_lines(study), budget_lines(study), comparison, paper_lines(study)):
        if lines:
            typer.echo("\n" + "\n".join(lines))
    for line in study.notes:
        typer.echo(f"not shown: {line}", err=True)


def _measure(
    plan: NasPlan, data: list[str], file: Path, checkpoints: Path, *, device: str, threads: int, processes: int
) -> None:
    """Run the part of a plan that has no result in the file yet.

    Args:
        plan: The methods, and how they are trained.
        data: The datasets, by name or folder.
        file: The file that results are added to.
        checkpoints: The folder of interrupted searches and trainings.
        device: Where to search and train.
        threads: CPU threads per process.
        processes: The number of parallel searches and trainings.
    """
    from nasbed.datasets.opening import open_dataset
    from nasbed.experiments.unseen.results import check_results_file
    from nasbed.experiments.unseen.runs import measure
    from nasbed.training.devices import chosen_device, threads_used

    torch_device = chosen_device(device)
    check_results_file(file)
    images = [open_dataset(name) for name in data]
    on_interrupt(lambda: f"the same command resumes from {file} and {checkpoints}")
    with threads_used(threads):
        folders: dict[str, Any] = {"checkpoints": checkpoints, "searches": file.with_name(f"{file.name}.searches")}
        count = 0
        if processes > 1:
            from nasbed.core.execution import LocalEngine
            from nasbed.experiments.unseen.processes import measure_ahead

            engine = LocalEngine(processes)
            count += measure_ahead(
                data,
                plan,
                file,
                **folders,
                engine=engine,
                device=str(torch_device),
                threads=threads,
                bar=_tasks,
                on_epoch=OccasionalNotes(),
            )
        count += measure(images, plan, file, **folders, device=torch_device, bar=_bar)
    added = f"{count} result{' was' if count == 1 else 's were'} added to {file}"
    note(added if count else f"{file} has all results already")


@contextmanager
def _bar(title: str, epochs: int, called: str = "epoch") -> Iterator[Callable[[int, str], None]]:
    note(title)
    with epoch_bar(epochs, called=called) as on_epoch:
        yield on_epoch


_tasks = partial(_bar, called="done")
