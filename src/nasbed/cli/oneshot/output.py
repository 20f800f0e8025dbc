"""What ``nasbed oneshot`` prints: a search that ended, and the methods there are."""

from __future__ import annotations

import inspect
import json as json_
import shlex
import sys
from pathlib import Path
from typing import Any

import typer

from nasbed.cli.oneshot.search import CELLS, RECORD, RESULTS
from nasbed.oneshot import METHODS, bonsai
from nasbed.oneshot.bonsai.settings import METHOD as BONSAI
from nasbed.oneshot.record import SearchRecord
from nasbed.oneshot.spaces.base import SearchedSpace
from nasbed.oneshot.wording import cell_lines, skips_said
from nasbed.spaces import space as named_space
from nasbed.terminal.output import print_fields, print_json, print_table

OWN_OPTIONS = frozenset({"epochs", "channels", "batch", "epoch_images", "precision"})
"""Settings of all methods that are given by options, not by ``--set``."""


def plain(record: SearchRecord, folder: Path) -> dict[str, Any]:
    """What a search found, without its parameters, which are in the record."""
    found, form = record.searched, named_space(record.space).format
    return {
        "method": record.method,
        "space": record.space,
        "dataset": record.dataset,
        "seed": record.seed,
        "settings": record.settings.plain(),
        "options": dict(record.options),
        "device": record.device,
        "status": found.status,
        "reason": found.reason,
        "architecture": None if found.architecture is None else form(found.architecture),
        "search_time_s": found.search_time_s,
        "epochs": [
            {
                "epoch": each.epoch,
                "architecture": form(each.architecture),
                "supernet_accuracy": each.validation_accuracy,
                "supernet_loss": each.train_loss,
                "skips": dict(each.skips),
                "eigenvalue": each.eigenvalue,
                "search_time_s": each.search_time_s,
            }
            for each in found.epochs
        ],
        "out": str(folder),
    }


def print_search(record: SearchRecord, space: SearchedSpace, folder: Path, outcome: dict[str, Any] | None) -> None:
    found = record.searched
    shown: dict[str, object] = {
        "method": record.method,
        "space": record.space,
        "dataset": record.dataset,
        "seed": record.seed,
        "device": record.device,
        "status": found.status + (f": {found.reason}" if found.reason else ""),
        "epochs": len(found.epochs),
        "architectures": f"{len({each.architecture for each in found.epochs})} different",
        "search time": f"{found.search_time_s:.1f} s",
    }
    if found.architecture is not None:
        end = next(each for each in reversed(found.epochs) if each.architecture == found.architecture)
        shown["supernet accuracy"] = f"{end.validation_accuracy:.2f} %, not that of the architecture"
        shown["skip connections"] = skips_said(end.skips)
        shown["architecture"] = named_space(record.space).format(found.architecture)
    if outcome is not None:
        shown |= trained_said(outcome)
    typer.echo()
    print_fields(shown)
    if found.architecture is not None:
        typer.echo()
        typer.echo("\n".join(cell_lines(found.architecture, space)))
        typer.echo(f"\nThe cells are drawn in {folder / CELLS}")
    if found.epochs:
        typer.echo(f"Every epoch: nasbed results info {shlex.quote(str(folder / RESULTS))}, or {folder / RECORD}")


def trained_said(outcome: dict[str, Any]) -> dict[str, object]:
    shown: dict[str, object] = {
        "trained by": f"{outcome['recipe']}, {outcome['epochs']} epoch{'s' if outcome['epochs'] > 1 else ''}, "
        f"seed {outcome['seed']}: {outcome['status']}" + (f", {outcome['reason']}" if outcome["reason"] else "")
    }
    for name in ("validation", "test"):
        if outcome[f"{name}_accuracy"] is not None:
            shown[f"{name} accuracy"] = f"{outcome[f'{name}_accuracy']:.2f} %"
    return shown


def print_methods(*, json: bool) -> None:
    """The methods, what each is, and its settings with their defaults."""
    found = []
    for name in METHODS:
        kind = METHODS.get(name)
        what = " ".join((sys.modules[kind.__module__].__doc__ or "").split("\n\n")[0].split())
        found.append((name, what, method_defaults(kind)))
    found.append((BONSAI, (bonsai.__doc__ or "").split("\n\n")[0], bonsai_defaults()))
    found.sort(key=lambda each: each[0])
    if json:
        print_json([{"name": name, "what": what, "settings": defaults} for name, what, defaults in found])
        return
    rows = [
        (name, what, ", ".join(f"{key}={json_.dumps(value)}" for key, value in defaults.items()))
        for name, what, defaults in found
    ]
    print_table(("name", "what", "settings, for --set"), rows)


def bonsai_defaults() -> dict[str, Any]:
    """What Bonsai-Net takes as settings, but for those that have options of their own."""
    plain = bonsai.BonsaiSettings().plain()
    return {name: plain[name] for name in plain if name not in OWN_OPTIONS}


def method_defaults(kind: type) -> dict[str, Any]:
    """What a method takes as keywords: its own, and those of its base classes where it passes others on."""
    found: dict[str, Any] = {}
    for owner in kind.__mro__:
        if "__init__" not in vars(owner):
            continue
        taken = inspect.signature(vars(owner)["__init__"]).parameters.values()
        for each in taken:
            if each.kind is each.KEYWORD_ONLY and each.default is not each.empty and each.name != "seed":
                found.setdefault(each.name, each.default)
        if not any(each.kind is each.VAR_KEYWORD for each in taken):
            break
    return found
