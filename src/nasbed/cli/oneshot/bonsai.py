"""``nasbed oneshot bonsai-net``: a search that prunes a network, in a space of its own."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import torch
import typer

from nasbed.cli.oneshot.command import SUPERNET, Asked
from nasbed.cli.oneshot.output import OWN_OPTIONS, bonsai_defaults, trained_said
from nasbed.cli.oneshot.search import (
    CELLS,
    CHECKPOINT,
    RECORD,
    check_method,
    check_same,
    device_said,
    goes_on,
    kept_training,
    line_beside_bar,
)
from nasbed.core.errors import InvalidOption, nearest
from nasbed.datasets.dataset import Dataset
from nasbed.datasets.opening import open_dataset
from nasbed.drawing.cells import save_cells
from nasbed.oneshot.bonsai import BonsaiArchitecture, BonsaiEpoch, BonsaiSettings, search, untrained
from nasbed.oneshot.bonsai.record import BonsaiRecord, read_bonsai_record, write_bonsai_record
from nasbed.oneshot.bonsai.settings import METHOD
from nasbed.oneshot.bonsai.wording import cell_lines, changes, diagrams
from nasbed.oneshot.record import versions_used
from nasbed.terminal.output import print_fields, print_json, readable
from nasbed.terminal.progress import LINE_S, epoch_bar, note
from nasbed.terminal.settings import settings_by_key
from nasbed.training import load_recipe
from nasbed.training.building import recipe_skeleton
from nasbed.training.devices import chosen_device
from nasbed.training.loop import train_network
from nasbed.training.outcome import Trained
from nasbed.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Wanted:
    """The search that is asked for, and where it goes."""

    images: Dataset
    seed: int
    settings: BonsaiSettings
    folder: Path


def bonsai(asked: Asked) -> None:
    """Search, train what was found if asked to, and print it."""
    where, settings = chosen_device(asked.device), _settings(asked)
    recipe = None if asked.train is None else load_recipe(asked.train)
    if recipe is not None:
        recipe_skeleton(METHOD, recipe)  # raises where the recipe has settings for what stands around other cells
    images = open_dataset(asked.dataset)
    folder = asked.out or Path("searches") / f"{METHOD}-{images.name}-{asked.seed}"
    wanted = Wanted(images, asked.seed, settings, folder)
    with goes_on(folder, asked.threads):
        record = _finished(wanted) or _searched(wanted, where, quiet=asked.json)
        outcome = None
        if recipe is not None and record.searched.architecture is not None:
            training = partial(_train, record.searched.architecture, wanted)
            outcome = kept_training(training, recipe, seed=asked.seed, device=where, folder=folder)
    if asked.json:
        print_json(_plain(record, folder) | {"trained": outcome})
    else:
        _print(record, folder, outcome)


def _settings(asked: Asked) -> BonsaiSettings:
    known = bonsai_defaults()
    more: dict[str, Any] = {}
    for key, value in settings_by_key(asked.texts).items():
        if key in OWN_OPTIONS:
            raise InvalidOption(f"{key} has an option of its own; give --{key.replace('_', '-')}")
        if key.startswith(SUPERNET):
            raise InvalidOption(
                f"the settings of {METHOD} stand alone, got {key!r}; give --set {key.removeprefix(SUPERNET)}=…"
            )
        if key not in known:
            raise InvalidOption(f"{METHOD} has no setting {key!r}; {nearest(key, known)}")
        more[key] = tuple(value) if isinstance(value, list) else value
    return BonsaiSettings(**asked.given, **more)


def _finished(wanted: Wanted) -> BonsaiRecord | None:
    """The record of the same search, if it is there; that of another search is refused."""
    path = wanted.folder / RECORD
    if not path.exists():
        return None
    check_method(wanted.folder, METHOD)
    found = read_bonsai_record(path)
    pairs = {
        "dataset": (f"{found.dataset} {found.dataset_hash}", f"{wanted.images.name} {wanted.images.hash}"),
        "seed": (found.seed, wanted.seed),
    }
    check_same(wanted.folder, pairs, found.settings.plain(), wanted.settings.plain())
    note(f"the search in {wanted.folder} has ended already; nothing was searched")
    return found


def _searched(wanted: Wanted, device: torch.device, *, quiet: bool) -> BonsaiRecord:
    """Search, and write all that there is to keep; the record comes last, since it says that the search has ended."""
    checkpoint = wanted.folder / CHECKPOINT
    if checkpoint.exists():
        note(f"going on from {checkpoint}")
    with epoch_bar(wanted.settings.epochs) as told:
        found = search(
            wanted.images,
            wanted.settings,
            seed=wanted.seed,
            device=device,
            checkpoint=checkpoint,
            progress=_teller(wanted.settings, told, quiet=quiet),
        )
    record = BonsaiRecord(
        dataset=wanted.images.name,
        dataset_hash=wanted.images.hash,
        seed=wanted.seed,
        settings=wanted.settings,
        device=device_said(device),
        versions=versions_used(),
        searched=found,
    )
    wanted.folder.mkdir(parents=True, exist_ok=True)
    if found.architecture is not None:
        save_cells(diagrams(found.architecture), wanted.folder / CELLS)
    write_bonsai_record(record, wanted.folder / RECORD)
    return record


def _train(arch: BonsaiArchitecture, wanted: Wanted, recipe: Recipe, *, seed: int, **more: Any) -> Trained:
    channels = wanted.settings.channels
    network = untrained(arch, wanted.images, channels=channels, seed=seed)
    called = f"{METHOD} of {channels} channels {arch.to_json()}"
    return train_network(network, wanted.images, recipe, seed=seed, called=called, **more)


# --- what is printed -------------------------------------------------------------------------------------------------


def _teller(
    settings: BonsaiSettings, told: Callable[[int, str], None], *, quiet: bool
) -> Callable[[BonsaiEpoch], None]:
    """Moves the bar, and prints a line when something else is kept; a line now and then where there is no bar."""
    watched, whole = sys.stderr.isatty(), settings.frame().full()
    before: BonsaiArchitecture | None = None
    last = monotonic()

    def tell(end: BonsaiEpoch) -> None:
        nonlocal before, last
        kept = f"{end.operations} of {whole.kept} operations"
        told(end.epoch, f"{_figures(end)}  {kept}")
        if end.architecture != before:
            how = f" ({changes(before, end.architecture)})" if before is not None else ""
            line = f"epoch {end.epoch}: keeps {kept}, {readable(end.parameters)} parameters{how}"
            line_beside_bar(line, err=quiet)
        before = end.architecture
        if not watched and monotonic() - last > LINE_S:
            note(f"epoch {end.epoch}: {_figures(end)}")
            last = monotonic()

    return tell


def _figures(end: BonsaiEpoch) -> str:
    accuracy = "" if end.validation_accuracy is None else f"accuracy {end.validation_accuracy:.1f} %  "
    return f"{accuracy}loss {end.train_loss:.3f}  compression {end.compression_loss:.3f}"


def _plain(record: BonsaiRecord, folder: Path) -> dict[str, Any]:
    """What a search found; the architectures of its epochs are in the record."""
    found = record.searched
    return {
        "method": METHOD,
        "dataset": record.dataset,
        "seed": record.seed,
        "settings": record.settings.plain(),
        "device": record.device,
        "status": found.status,
        "reason": found.reason,
        "architecture": None if found.architecture is None else found.architecture.plain(),
        "search_time_s": found.search_time_s,
        "epochs": [
            {name: value for name, value in each.packed().items() if name != "architecture"} for each in found.epochs
        ],
        "out": str(folder),
    }


def _print(record: BonsaiRecord, folder: Path, outcome: dict[str, Any] | None) -> None:
    found, whole = record.searched, record.settings.frame().full()
    shown: dict[str, object] = {
        "method": METHOD,
        "dataset": record.dataset,
        "seed": record.seed,
        "device": record.device,
        "status": found.status + (f": {found.reason}" if found.reason else ""),
        "epochs": len(found.epochs),
        "search time": f"{found.search_time_s:.1f} s",
    }
    if found.architecture is not None:
        end = found.epochs[-1]
        shown["operations"] = f"{end.operations} kept of {whole.kept}, {whole.kept - end.present} removed for good"
        shown["size"] = f"{found.architecture.size:.2f} of all, target {record.settings.target:g}"
        shown["parameters"] = end.parameters
        if end.validation_accuracy is not None:
            shown["search accuracy"] = f"{end.validation_accuracy:.2f} %, by the weights of the search"
    if outcome is not None:
        shown |= trained_said(outcome)
    typer.echo()
    print_fields(shown)
    if found.architecture is not None:
        typer.echo()
        typer.echo("\n".join(cell_lines(found.architecture)))
        typer.echo(f"\nThe cells are drawn in {folder / CELLS}")
    typer.echo(f"The architecture as JSON, and every epoch: {shlex.quote(str(folder / RECORD))}")
