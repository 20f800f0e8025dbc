"""``nasbed study unseen``: tables 1 to 3 of the paper on unseen datasets, with results of yours beside them; with
``--nas``, NAS methods are run for them first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import epoch_bar, note
from nasbed.terminal.report_options import check_report
from nasbed.terminal.settings import settings_by_owner

if TYPE_CHECKING:
    from nasbed.experiments.unseen.budget import NasBudget
    from nasbed.experiments.unseen.search import Told
    from nasbed.studies.unseen.study import UnseenStudy

OWNERS = ("supernet", "bonsai")


def unseen(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULTS]...", help="Files that 'nasbed data baseline --out' or --nas has written."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A folder for report.html, figures/ and numbers.json.")
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, show_default="the most there are", help="Results of that budget alone; --nas trains it."),
    ] = None,
    format: Annotated[
        list[str], typer.Option("--format", help="How figures are saved: svg, png, pdf; may be given several times.")
    ] = ["svg", "png"],  # noqa: B006
    nas: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD,...",
            help="Run these: pc-darts, drnas, bonsai-net, rs-darts, rs-bonsai, or a method of 'nasbed oneshot list'.",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR|NAME",
            help="With --nas: a folder of the competition, called as the paper calls the dataset, or a name from "
            "'nasbed data list'; may be given several times.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--results", metavar="FILE", help="With --nas: add results here; what is there is not done again."
        ),
    ] = None,
    recipe: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By which what was found is trained from scratch.")
    ] = "unseen",
    seeds: Annotated[int, typer.Option(min=1, help="Searches of each method; of rs-… architectures by chance.")] = 1,
    train_seeds: Annotated[int, typer.Option(min=1, help="Trainings of each architecture.")] = 1,
    search_epochs: Annotated[int, typer.Option(min=1, help="Of each search.")] = 50,
    search_images: Annotated[
        int | None,
        typer.Option(min=1, show_default="all", help="Images of an epoch of a search, drawn anew each time."),
    ] = None,
    search_channels: Annotated[int, typer.Option(min=1, help="Of the first cells of what is searched.")] = 16,
    search_cells: Annotated[int, typer.Option(min=1, help="Of a supernet; Bonsai-Net searches what is trained.")] = 8,
    channels: Annotated[int, typer.Option(min=1, help="Of the first cells of what is trained.")] = 16,
    cells: Annotated[int, typer.Option(min=1, help="Of what is trained.")] = 8,
    bfloat16: Annotated[bool, typer.Option("--bfloat16", help="Search and train in bfloat16, for a GPU.")] = False,
    together: Annotated[
        bool,
        typer.Option("--together", help="Train all of a dataset's DARTS networks at once, which is faster on a GPU."),
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="OWNER.KEY=VALUE",
            help="A setting of searches: supernet.flip=true, bonsai.target=0.2, bonsai.nodes=4.",
        ),
    ] = None,
    checkpoints: Annotated[
        Path | None, typer.Option(metavar="DIR", show_default="FILE.checkpoints", help="What goes on when interrupted.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu, cuda or cuda:1.")] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="Of a CPU.")] = 1,
    processes: Annotated[
        int,
        typer.Option(
            min=1,
            help="Searches and trainings at a time, each in a process; what is trained together is not. They share a "
            "GPU well under NVIDIA's MPS.",
        ),
    ] = 1,
    json: Json = False,
) -> None:
    """Print the published accuracies on the eight unseen datasets, and those that were measured here beside them.

    With --nas, methods first search on datasets, and what they find is trained from scratch. A command that was
    interrupted goes on when it is given again. Results of other budgets are never mixed.

    Example: nasbed study unseen

    Example: nasbed study unseen results.jsonl --out unseen

    Example: nasbed study unseen --nas pc-darts,bonsai-net --data AddNIST --results results.jsonl --train-seeds 3

    Example: nasbed study unseen --nas rs-darts,rs-bonsai --data AddNIST --results results.jsonl --seeds 5
    """

    if out is not None:
        check_report(out, format)
    shown = list(results or [])
    if nas is None and (data or file):
        raise InvalidOption("--data and --results are of methods that are run; name some with --nas")
    if nas is not None:
        if not data or file is None:
            raise InvalidOption("methods are run on datasets into a file; give --data DIR and --results FILE.jsonl")
        settings = settings_by_owner(set_ or [], owner="OWNER", example="bonsai.target=0.2")
        if unknown := [owner for owner in settings if owner not in OWNERS]:
            raise InvalidOption(f"settings are of {' or '.join(OWNERS)}, got {unknown[0]!r}; change --set")
        from nasbed.networks import check_torch

        check_torch()
        from nasbed.experiments.unseen.budget import NasBudget

        budget = NasBudget.alike(
            search_epochs=search_epochs,
            search_channels=search_channels,
            search_cells=search_cells,
            search_images=search_images,
            channels=channels,
            cells=cells,
            precision="bfloat16" if bfloat16 else "float32",
            **settings,
        )
        asked: dict[str, Any] = {"epochs": epochs, "seeds": seeds, "train_seeds": train_seeds, "together": together}
        _measure(
            nas,
            data,
            file,
            recipe,
            budget,
            checkpoints or file.with_name(f"{file.name}.checkpoints"),
            device=device,
            threads=threads,
            processes=processes,
            bfloat16=bfloat16,
            **asked,
        )
        shown += [file] if file not in shown else []

    from nasbed.experiments.unseen.results import read_results
    from nasbed.studies.unseen.study import unseen_study

    study = unseen_study(read_results(shown), epochs=epochs)
    if out is not None:
        from nasbed.studies.unseen.page import write_unseen_report

        write_unseen_report(study, out, formats=format)
    if json:
        from nasbed.studies.unseen.tables import unseen_numbers

        print_json(unseen_numbers(study))
        return
    _print(study)
    if out is not None:
        typer.echo(f"\n{out / 'report.html'}")


def _print(study: UnseenStudy) -> None:
    from nasbed.studies.unseen.figures import FOUND_KEY, found_lines, found_table
    from nasbed.studies.unseen.tables import KEY, budget_lines, outcome, paper_lines, unseen_tables

    for title, table in unseen_tables(study).items():
        typer.echo(f"{title}\n{table.text()}\n")
    typer.echo(KEY)
    found = found_table(study)
    against = [] if found is None else ["Found against chance", found.text(), "", FOUND_KEY, *found_lines(study)]
    for lines in (outcome(study), budget_lines(study), against, paper_lines(study)):
        if lines:
            typer.echo("\n" + "\n".join(lines))
    for line in study.notes:
        typer.echo(f"not shown: {line}", err=True)


def _measure(
    nas: str,
    data: list[str],
    file: Path,
    recipe: str,
    budget: NasBudget,
    checkpoints: Path,
    *,
    device: str,
    threads: int,
    processes: int,
    bfloat16: bool,
    **asked: Any,
) -> None:
    """Run what is not in the file yet."""
    from nasbed.datasets.opening import open_dataset
    from nasbed.experiments.unseen.results import check_results_file
    from nasbed.experiments.unseen.runs import NasPlan, measure
    from nasbed.training import load_recipe
    from nasbed.training.devices import chosen_device, threads_used

    how, where = load_recipe(recipe), chosen_device(device)
    how = replace(how, precision="bfloat16") if bfloat16 else how
    plan = NasPlan(tuple(name.strip() for name in nas.split(",") if name.strip()), how, budget, **asked)
    check_results_file(file)
    images = [open_dataset(name) for name in data]
    on_interrupt(lambda: f"the same command goes on from {file} and {checkpoints}")
    with threads_used(threads):
        folders: dict[str, Any] = {"checkpoints": checkpoints, "searches": file.with_name(f"{file.name}.searches")}
        count = 0
        if processes > 1:
            from nasbed.core.execution import LocalEngine
            from nasbed.experiments.unseen.processes import measure_ahead

            engine = LocalEngine(processes)
            count += measure_ahead(
                data, plan, file, **folders, engine=engine, device=str(where), threads=threads, bar=_tasks
            )
        count += measure(images, plan, file, **folders, device=where, bar=_bar)
    added = f"{count} result{' was' if count == 1 else 's were'} added to {file}"
    note(added if count else f"all that is asked for is in {file} already")


@contextmanager
def _bar(title: str, epochs: int, called: str = "epoch") -> Iterator[Told]:
    note(title)
    with epoch_bar(epochs, called=called) as told:
        yield told


_tasks = partial(_bar, called="done")
