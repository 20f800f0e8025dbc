"""The search behind ``nasbed oneshot``: found finished, gone on with or begun, told of, and kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
import typer

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.files import complete_file
from nasbed.core.locks import locked
from nasbed.datasets.dataset import Dataset
from nasbed.drawing.cells import save_cells
from nasbed.oneshot import STOPPING_RULES, SearchEpoch, SearchSettings, search
from nasbed.oneshot.export import export_search
from nasbed.oneshot.record import SearchRecord, read_record, versions_used, write_record
from nasbed.oneshot.spaces.base import SearchedSpace
from nasbed.oneshot.wording import changes, skips_said
from nasbed.spaces import space as named_space
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.progress import LINE_S, epoch_bar, note
from nasbed.training.building import recipe_network
from nasbed.training.devices import threads_used
from nasbed.training.loop import check_drop_path, train
from nasbed.training.outcome import Trained
from nasbed.training.recipe import Recipe

RECORD, CHECKPOINT, CELLS, RESULTS, TRAINED = "search.json", "search.ckpt", "cells.svg", "results", "trained.json"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The search that is asked for, and where it goes."""

    method: str
    space: SearchedSpace
    images: Dataset
    seed: int
    settings: SearchSettings
    options: dict[str, Any]
    stop: str | None
    folder: Path


def check_recipe(space: str, images: Dataset, recipe: Recipe) -> None:
    """Raise, before anything is searched, where what is found could not be trained by a recipe."""
    network = recipe_network(named_space(space).sample(np.random.default_rng(0)), images, recipe)
    check_drop_path(network, recipe)


def finished(wanted: Wanted) -> SearchRecord | None:
    """The record of the same search, if it is there and has ended; that of another search is refused."""
    path = wanted.folder / RECORD
    if not path.exists():
        return None
    check_method(wanted.folder, wanted.method)
    found = read_record(path)
    pairs: dict[str, tuple[Any, Any]] = {
        "space": (found.space, wanted.space.name),
        "dataset": (f"{found.dataset} {found.dataset_hash}", f"{wanted.images.name} {wanted.images.hash}"),
        "seed": (found.seed, wanted.seed),
        "options": (found.options, json.loads(json.dumps(wanted.options))),
    }
    check_same(wanted.folder, pairs, found.settings.plain(), wanted.settings.plain())
    if found.searched.status == "stopped":
        rule = None if wanted.stop is None else STOPPING_RULES[wanted.stop]
        if rule is None or rule(found.searched.epochs) is None:
            return None  # stopped by a rule that is not asked for now
    note(f"the search in {wanted.folder} has ended already; nothing was searched")
    return found


def check_method(folder: Path, method: str) -> None:
    """Raise if a folder has the record of a search by another method: records of some methods are of another kind."""
    try:
        data = json.loads((folder / RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    found = data.get("method") if isinstance(data, dict) else None
    if isinstance(found, str):
        check_same(folder, {"method": (found, method)}, {}, {})


def check_same(folder: Path, pairs: dict[str, tuple[Any, Any]], before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise unless what was searched and what is asked for, of everything a pair, and the settings are equal."""
    for name, (old, new) in (pairs | {name: (before[name], now[name]) for name in before}).items():
        if old != new:
            raise InvalidOption(
                f"{folder} holds a search with {name} {shorten(old)}, not {shorten(new)}; name another folder with "
                "--out"
            )


def searched(wanted: Wanted, device: torch.device, *, quiet: bool) -> SearchRecord:
    """Search, and write all that there is to keep; the record comes last, since it says that the search has ended."""
    checkpoint = wanted.folder / CHECKPOINT
    if checkpoint.exists():
        note(f"going on from {checkpoint}")
    with epoch_bar(wanted.settings.epochs) as told:
        found = search(
            wanted.method,
            wanted.images,
            wanted.settings,
            space=wanted.space.name,
            options=wanted.options,
            seed=wanted.seed,
            device=device,
            checkpoint=checkpoint,
            progress=_teller(wanted.space, told, quiet=quiet),
            stop=None if wanted.stop is None else STOPPING_RULES[wanted.stop],
        )
    record = SearchRecord(
        method=wanted.method,
        space=wanted.space.name,
        dataset=wanted.images.name,
        dataset_hash=wanted.images.hash,
        seed=wanted.seed,
        settings=wanted.settings,
        options=wanted.options,
        device=device_said(device),
        versions=versions_used(),
        searched=found,
    )
    wanted.folder.mkdir(parents=True, exist_ok=True)
    if found.epochs:
        export_search(record, wanted.folder / RESULTS)
    if found.architecture is not None:
        save_cells(named_space(wanted.space.name).diagrams(found.architecture), wanted.folder / CELLS)
    write_record(record, wanted.folder / RECORD)
    return record


def _teller(space: SearchedSpace, told: Callable[[int, str], None], *, quiet: bool) -> Callable[[SearchEpoch], None]:
    """Moves the bar, and prints a line when the architecture is another; a line now and then where there is no bar."""
    watched, form = sys.stderr.isatty(), named_space(space.name).format
    before: Architecture | None = None
    last = monotonic()

    def tell(end: SearchEpoch) -> None:
        nonlocal before, last
        said = _said(end)
        told(end.epoch, said)
        if end.architecture != before:
            how = f" ({changes(before, end.architecture, space)})" if before is not None else ""
            line_beside_bar(f"epoch {end.epoch}: {form(end.architecture)}{how}", err=quiet)
        before = end.architecture
        if not watched and monotonic() - last > LINE_S:
            note(f"epoch {end.epoch}: {said}")
            last = monotonic()

    return tell


def device_said(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def line_beside_bar(text: str, *, err: bool) -> None:
    """On a terminal the bar makes room for what is printed; elsewhere it must not be met."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        print(text, file=stream)
    else:
        typer.echo(text, err=err)


def _said(end: SearchEpoch) -> str:
    eigenvalue = "" if end.eigenvalue is None else f"  eigenvalue {end.eigenvalue:.3g}"
    accuracy, skips = end.validation_accuracy, skips_said(end.skips)
    return f"accuracy {accuracy:.1f} %  loss {end.train_loss:.3f}  skips {skips}{eigenvalue}"


def trained(arch: Architecture, wanted: Wanted, recipe: Recipe, *, device: torch.device) -> dict[str, Any]:
    """Train what was found from its first weights; the same command goes on with that too."""
    return kept_training(
        partial(train, arch, wanted.images), recipe, seed=wanted.seed, device=device, folder=wanted.folder
    )


def kept_training(
    training: Callable[..., Trained], recipe: Recipe, *, seed: int, device: torch.device, folder: Path
) -> dict[str, Any]:
    """Run a training that takes a recipe and what :func:`train` takes by name, and write what came of it."""
    epochs = recipe.budget(None)
    with epoch_bar(epochs) as told:
        found = training(
            recipe,
            seed=seed,
            device=device,
            checkpoint=folder / f"train-{recipe.name}.ckpt",
            progress=lambda end: told(end.done, f"loss {end.loss:.3f}"),
        )
    about = {"recipe": recipe.name, "epochs": epochs, "seed": seed, "device": str(device)}
    outcome = about | asdict(found)
    with complete_file(folder / TRAINED) as draft:
        draft.write_text(json.dumps(outcome, indent=1) + "\n")
    return outcome


@contextmanager
def goes_on(folder: Path, threads: int) -> Iterator[None]:
    """Work on so many threads, one process in a folder at a time; when interrupted, say that the same command goes on.
    Folders in which nothing came to be are not left behind."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    on_interrupt(lambda: f"the same command goes on from {folder}" if folder.exists() else NOTHING_KEPT)
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
            for each in made:
                each.rmdir()
