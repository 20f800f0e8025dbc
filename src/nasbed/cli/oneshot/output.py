"""The output of ``nasbed oneshot``: a finished search, and the available methods."""

from __future__ import annotations

import json as json_
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from nasbed.cli.oneshot.request import set_defaults
from nasbed.cli.oneshot.search import CELLS, RECORD, RESULTS
from nasbed.experiments.unseen.preset_text import preset_text
from nasbed.oneshot import METHODS
from nasbed.oneshot.record import SearchRecord
from nasbed.oneshot.search_text import SearchWording
from nasbed.spaces import space as named_space
from nasbed.terminal.output import print_fields, print_json, print_table


def plain_search(record: SearchRecord, folder: Path) -> dict[str, Any]:
    """A search as JSON has it, without its parameters, which are in the record."""
    searched, form = record.searched, named_space(record.space).format
    return {
        "method": record.method,
        "space": record.space,
        "dataset": record.dataset,
        "seed": record.seed,
        "settings": record.settings.plain(),
        "options": dict(record.options),
        "device": record.device,
        "status": searched.status,
        "reason": searched.reason,
        "architecture": None if searched.architecture is None else form(searched.architecture),
        "search_time_s": searched.search_time_s,
        "epochs": [
            {
                "epoch": epoch.epoch,
                "architecture": form(epoch.architecture),
                "supernet_accuracy": epoch.validation_accuracy,
                "supernet_loss": epoch.train_loss,
                "skips": dict(epoch.skips),
                "eigenvalue": epoch.eigenvalue,
                "search_time_s": epoch.search_time_s,
                **epoch.figures,
            }
            for epoch in searched.epochs
        ],
        "out": str(folder),
    }


def print_search(
    record: SearchRecord,
    wording: SearchWording,
    folder: Path,
    outcome: dict[str, Any] | None,
    preset: Mapping[str, Any],
) -> None:
    """Print a finished search.

    Args:
        record: The search.
        wording: How searches of this kind are described.
        folder: Where it is stored.
        outcome: How the result was trained, if it was.
        preset: The preset of the settings, and what it has where they differ; empty without one.
    """
    searched = record.searched
    fields: dict[str, object] = {
        "method": record.method,
        "space": record.space,
        "dataset": record.dataset,
        "seed": record.seed,
        "device": record.device,
        "status": searched.status + (f": {searched.reason}" if searched.reason else ""),
        "epochs": len(searched.epochs),
        "architectures": f"{len({epoch.architecture for epoch in searched.epochs})} different",
        "search time": f"{searched.search_time_s:.1f} s",
    }
    if text := preset_text(preset, search_epochs=record.settings.epochs, epochs=0):
        fields["settings"] = text
    if searched.architecture is not None:
        fields |= wording.summary(searched)
    if outcome is not None:
        fields |= _training_fields(outcome)
    typer.echo()
    print_fields(fields)
    if searched.architecture is not None:
        typer.echo()
        typer.echo("\n".join(wording.cell_lines(searched.architecture)))
        typer.echo(f"\nThe cells are drawn in {folder / CELLS}")
    if searched.epochs:
        typer.echo(f"Every epoch: nasbed results info {shlex.quote(str(folder / RESULTS))}, or {folder / RECORD}")


def _training_fields(outcome: dict[str, Any]) -> dict[str, object]:
    fields: dict[str, object] = {
        "trained by": f"{outcome['recipe']}, {outcome['epochs']} epoch{'s' if outcome['epochs'] > 1 else ''}, "
        f"seed {outcome['seed']}: {outcome['status']}" + (f", {outcome['reason']}" if outcome["reason"] else "")
    }
    for name in ("validation", "test"):
        if outcome[f"{name}_accuracy"] is not None:
            fields[f"{name} accuracy"] = f"{outcome[f'{name}_accuracy']:.2f} %"
    return fields


def print_methods(*, json: bool) -> None:
    """The methods with their descriptions, settings and defaults."""
    methods = []
    for name in METHODS:
        kind = METHODS.get(name)
        title = " ".join((sys.modules[kind.__module__].__doc__ or "").split("\n\n")[0].split())
        methods.append((name, title, set_defaults(kind)))
    if json:
        print_json([{"name": name, "what": title, "settings": defaults} for name, title, defaults in methods])
        return
    rows = [
        (name, title, ", ".join(f"{key}={json_.dumps(value)}" for key, value in defaults.items()))
        for name, title, defaults in methods
    ]
    print_table(("name", "what", "settings, for --set"), rows)
