"""The search of ``nasbed oneshot``: loaded if it has ended, otherwise started or resumed, reported and stored."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import typer

from nasbed.cli.oneshot.request import SearchRequest
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.files import complete_file
from nasbed.core.locks import locked
from nasbed.datasets.dataset import Dataset
from nasbed.drawing.cells import save_cells
from nasbed.oneshot import STOPPING_RULES, SearchEpoch, search
from nasbed.oneshot.export import export_search
from nasbed.oneshot.presets import MethodPreset
from nasbed.oneshot.record import SearchRecord, read_record, versions_used, write_record
from nasbed.oneshot.search_text import SearchWording
from nasbed.spaces import space as named_space
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.progress import epoch_bar, note
from nasbed.training import load_recipe
from nasbed.training.devices import threads_used
from nasbed.training.loop import train
from nasbed.training.network_factory import recipe_network
from nasbed.training.recipe import Recipe
from nasbed.training.stepwise import check_drop_path

PRESET = "preset"
"""What ``--train`` calls the training of a preset."""
RECORD, CHECKPOINT, CELLS, RESULTS, TRAINED = "search.json", "search.ckpt", "cells.svg", "results", "trained.json"


def chosen_recipe(name: str, preset: MethodPreset | None) -> Recipe:
    """The recipe that ``--train`` means: one by its name or file, or the preset's training."""
    if name != PRESET:
        return load_recipe(name)
    if preset is None:
        raise InvalidOption("--train preset is the training of a preset; add --preset paper, or name a recipe")
    return preset.recipe()


def check_recipe(space: str, images: Dataset, recipe: Recipe) -> None:
    """Raise before the search if its result could not be trained by a recipe."""
    network = recipe_network(named_space(space).sample(np.random.default_rng(0)), images, recipe)
    check_drop_path(network, recipe)


def finished_search(request: SearchRequest) -> SearchRecord | None:
    """The record of the same search, if it has ended; that of another search is refused."""
    path = request.folder / RECORD
    if not path.exists():
        return None
    record = read_record(path)
    pairs: dict[str, tuple[Any, Any]] = {
        "method": (record.method, request.method),
        "space": (record.space, request.space),
        "dataset": (f"{record.dataset} {record.dataset_hash}", f"{request.images.name} {request.images.hash}"),
        "seed": (record.seed, request.seed),
        "options": (record.options, json.loads(json.dumps(request.options))),
    }
    if not request.kind.chooses_space:
        pairs.pop("space")  # the settings say it, and name what is different
    settings = request.settings.plain()
    _check_same(request.folder, pairs)
    _check_same(request.folder, {name: (old, settings[name]) for name, old in record.settings.plain().items()})
    if record.searched.status == "stopped":
        rule = None if request.stop is None else STOPPING_RULES[request.stop]
        if rule is None or rule(record.searched.epochs) is None:
            return None  # stopped by a rule that is not asked for now
    note(f"the search in {request.folder} has ended already; nothing was searched")
    return record


def _check_same(folder: Path, pairs: dict[str, tuple[Any, Any]]) -> None:
    """Raise unless the stored and the requested value of every pair are equal."""
    for name, (old, new) in pairs.items():
        if old != new:
            raise InvalidOption(
                f"{folder} holds a search with {name} {shorten(old)}, not {shorten(new)}; name another folder with "
                "--out"
            )


def run_search(request: SearchRequest, *, quiet: bool) -> SearchRecord:
    """Search, and store the results; the record comes last, since it says that the search has ended."""
    checkpoint, folder = request.folder / CHECKPOINT, request.folder
    if checkpoint.exists():
        note(f"resuming from {checkpoint}")
    wording = request.kind.wording(request.space, request.settings)
    with epoch_bar(request.settings.epochs) as move_bar:
        searched = search(
            request.method,
            request.images,
            request.settings,
            space=request.space,
            options=request.options,
            seed=request.seed,
            device=request.device,
            checkpoint=checkpoint,
            progress=_reporter(wording, move_bar, quiet=quiet),
            stop=None if request.stop is None else STOPPING_RULES[request.stop],
        )
    record = SearchRecord(
        method=request.method,
        space=request.space,
        dataset=request.images.name,
        dataset_hash=request.images.hash,
        seed=request.seed,
        settings=request.settings,
        options=request.options,
        device=_device_name(request.device),
        versions=versions_used(),
        searched=searched,
    )
    folder.mkdir(parents=True, exist_ok=True)
    if searched.epochs:
        export_search(record, folder / RESULTS)
    if searched.architecture is not None:
        save_cells(named_space(request.space).diagrams(searched.architecture), folder / CELLS)
    write_record(record, folder / RECORD)
    return record


def _reporter(
    wording: SearchWording, move_bar: Callable[[int, str], None], *, quiet: bool
) -> Callable[[SearchEpoch], None]:
    """Move the bar, and print a line when the architecture changes."""
    previous: Architecture | None = None

    def report(epoch: SearchEpoch) -> None:
        nonlocal previous
        move_bar(epoch.epoch, wording.progress(epoch))
        if epoch.architecture != previous:
            _print_beside_bar(f"epoch {epoch.epoch}: {wording.new_architecture(epoch, previous)}", err=quiet)
        previous = epoch.architecture

    return report


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def _print_beside_bar(text: str, *, err: bool) -> None:
    """On a terminal, lines are printed above the bar."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        print(text, file=stream)
    else:
        typer.echo(text, err=err)


def train_architecture(arch: Architecture, request: SearchRequest, recipe: Recipe) -> dict[str, Any]:
    """Train the architecture from scratch, and write the result; the same command resumes the training too."""
    epochs = recipe.budget(None)
    with epoch_bar(epochs) as move_bar:
        trained = train(
            arch,
            request.images,
            recipe,
            seed=request.seed,
            device=request.device,
            checkpoint=request.folder / f"train-{recipe.name}.ckpt",
            progress=lambda end: move_bar(end.done, f"loss {end.loss:.3f}"),
        )
    setup = {"recipe": recipe.name, "epochs": epochs, "seed": request.seed, "device": str(request.device)}
    outcome = setup | asdict(trained)
    with complete_file(request.folder / TRAINED) as draft:
        draft.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    return outcome


@contextmanager
def resumable(folder: Path, threads: int) -> Iterator[None]:
    """Work with this number of threads, one process in a folder at a time. An interruption prints that the same command
    resumes. Folders in which nothing was stored are removed."""
    created = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    on_interrupt(lambda: f"the same command resumes from {folder}" if folder.exists() else NOTHING_KEPT)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidOption(
            f"a search is kept in a folder, {folder} cannot be one: {error.strerror}; name another with --out"
        ) from None
    try:
        with locked(folder / "search", note, doing=f"working in {folder}, on its"), threads_used(threads):
            yield
    finally:
        with suppress(OSError):  # not empty
            for path in created:
                path.rmdir()
