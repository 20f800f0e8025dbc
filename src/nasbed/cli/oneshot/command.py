"""``nasbed oneshot``: search a space for an architecture with a supernet, on any dataset."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.core.errors import InvalidOption, UnknownName, nearest, shorten
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.settings import settings_by_key

if TYPE_CHECKING:
    from nasbed.oneshot import SearchSettings

LIST = "list"
SUPERNET = "supernet."
"""What the settings of the supernet and its training begin with, beside those of the method."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command was given, of what every method understands; ``given`` has the settings that have options of
    their own, as far as they were given."""

    given: dict[str, Any]
    texts: list[str]
    dataset: str
    seed: int
    device: str
    threads: int
    train: str | None
    out: Path | None
    json: bool


def oneshot(
    method: Annotated[
        str, typer.Argument(metavar="METHOD", help="One of the methods above; or list, for all of them.")
    ],
    space: Annotated[
        str | None, typer.Option(show_default="darts", help="darts or nb201; bonsai-net has its own.")
    ] = None,
    dataset: Annotated[
        str, typer.Option(metavar="NAME|DIR", help="A name from 'nasbed data list', or a folder of the competition.")
    ] = "digits",
    epochs: Annotated[
        int | None, typer.Option(min=1, show_default="50, bonsai-net: 10", help="Of the supernet.")
    ] = None,
    channels: Annotated[
        int | None, typer.Option(min=1, show_default="16, bonsai-net: 8", help="Of its first cells.")
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(min=1, show_default="8, nb201: 5", help="How many; in nb201 of each of the three stages."),
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Images of a step, of each half.")] = 64,
    epoch_images: Annotated[
        int | None, typer.Option(min=1, show_default="all", help="Images of an epoch, of each half.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the weights, the parameters and the order of images.")] = 0,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu, cuda or cuda:1.")] = "auto",
    precision: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
    threads: Annotated[int, typer.Option(min=1, help="Of a CPU.")] = 1,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the method, from 'nasbed oneshot list', or supernet.KEY=VALUE, such as "
            "supernet.flip=true, supernet.crop_padding=4 or supernet.learning_rate=0.1.",
        ),
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(help="End before it goes wrong: skips (two in the normal cell) or eigenvalue (it rises fast)."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(metavar="RECIPE", help="Train what was found from scratch; a name from 'nasbed list recipes'."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", show_default="searches/METHOD-SPACE-DATASET-SEED", help="Where to."),
    ] = None,
    json: Json = False,
) -> None:
    """Search for an architecture on a dataset of yours: one network that holds every architecture of a space is
    trained, and an architecture is read from it. Needs torch.

    darts: every edge mixes all its operations by weights that are learnt.

    darts2: the same by second-order gradients, several times slower.

    gdas: one operation an edge and step, sampled.

    pc-darts: a part of the channels goes through the operations, and edges have weights too.

    drnas: mixing weights are drawn from Dirichlet distributions that are learnt, in two stages.

    random-ws: random architectures share weights, and the best of many is taken.

    bonsai-net: a network with every operation is trained and pruned at once, in a space of its own.

    The folder gets the record of the search, its table with the architecture of every epoch (not of bonsai-net), and
    the cells drawn. A search that was interrupted goes on with the same command, to the same end.

    Example: nasbed oneshot pc-darts --dataset digits --epochs 10 --channels 8 --cells 3 --epoch-images 256

    Example: nasbed oneshot gdas --space nb201 --dataset cifar10 --set supernet.flip=true --train small-nb201

    Example: nasbed oneshot darts --dataset addnist --stop eigenvalue --device cuda --precision bfloat16

    Example: nasbed oneshot bonsai-net --dataset digits --set cells=nr --set learning_rate=0.1 --train small
    """
    from nasbed.networks import check_torch

    check_torch()
    from nasbed.cli.oneshot.output import print_methods

    if method == LIST:
        print_methods(json=json)
        return
    from nasbed.oneshot.bonsai.settings import METHOD as BONSAI

    given: dict[str, Any] = {"epochs": epochs, "channels": channels, "batch": batch}
    given |= {"epoch_images": epoch_images, "precision": precision}
    given = {name: value for name, value in given.items() if value is not None}
    asked = Asked(given, set_ or [], dataset, seed, device, threads, train, out, json)
    if method == BONSAI:
        from nasbed.cli.oneshot.bonsai import bonsai

        for name, value, why in (
            ("--space", space, "has a space of its own; leave it out"),
            ("--cells", cells, "has cells of two kinds, n and r; say which with --set cells=nrn"),
            ("--stop", stop, "goes on through all of its epochs; leave it out"),
        ):
            if value is not None:
                raise InvalidOption(f"{name} is not for {BONSAI}, which {why}")
        bonsai(asked)
    else:
        _supernet(method, asked, space=space or "darts", cells=cells, stop=stop)


def _supernet(method: str, asked: Asked, *, space: str, cells: int | None, stop: str | None) -> None:
    """Search with a supernet, by a method that has an architecture of a registered space in the end."""
    from nasbed.cli.oneshot.output import plain, print_search
    from nasbed.cli.oneshot.search import Wanted, check_recipe, finished, goes_on, searched, trained
    from nasbed.datasets.opening import open_dataset
    from nasbed.oneshot import METHODS, SEARCHED_SPACES
    from nasbed.oneshot.bonsai.settings import METHOD as BONSAI
    from nasbed.training import load_recipe
    from nasbed.training.devices import chosen_device

    if method not in METHODS:
        raise UnknownName(f"no {METHODS.kind} is called {method!r}; {nearest(method, (*METHODS, BONSAI))}")
    kind, where, where_to = METHODS.get(method), chosen_device(asked.device), SEARCHED_SPACES.get(space)
    settings, options = _settings(kind, {**asked.given, "cells": cells}, asked.texts, stop)
    recipe = None if asked.train is None else load_recipe(asked.train)
    images = open_dataset(asked.dataset)
    if recipe is not None:
        check_recipe(space, images, recipe)
    folder = asked.out or Path("searches") / f"{method}-{space}-{images.name}-{asked.seed}"
    wanted = Wanted(method, where_to, images, asked.seed, settings, options, stop, folder)
    with goes_on(folder, asked.threads):
        record = finished(wanted) or searched(wanted, where, quiet=asked.json)
        outcome = None
        if recipe is not None and record.searched.architecture is not None:
            outcome = trained(record.searched.architecture, wanted, recipe, device=where)
    if asked.json:
        print_json(plain(record, folder) | {"trained": outcome})
    else:
        print_search(record, where_to, folder, outcome)


def _settings(
    method: type, given: dict[str, Any], texts: list[str], stop: str | None
) -> tuple[SearchSettings, dict[str, Any]]:
    """The settings of the supernet and the options of the method."""
    from nasbed.oneshot import STOPPING_RULES, SearchSettings

    known = {field.name for field in fields(SearchSettings)}
    options: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for key, value in settings_by_key(texts).items():
        name = key.removeprefix(SUPERNET)
        if name == key:
            options[key] = value
        elif name in given:
            raise InvalidOption(f"{key} has an option of its own; give --{name.replace('_', '-')}")
        elif name not in known:
            raise InvalidOption(f"a supernet has no setting {name!r}; {nearest(name, known - set(given))}")
        else:
            more[name] = tuple(value) if isinstance(value, list) else value
    _check_options(method, options)
    if stop is not None and stop not in STOPPING_RULES:
        raise InvalidOption(f"a search is stopped by {' or '.join(STOPPING_RULES)}, got {stop!r}; choose one of them")
    if stop == "eigenvalue" and not more.setdefault("eigenvalue_images", given["batch"]):
        raise InvalidOption("--stop eigenvalue needs eigenvalues; leave supernet.eigenvalue_images=0 out")
    try:
        return SearchSettings(**given, **more), options
    except TypeError as error:
        raise InvalidOption(
            f"the supernet cannot be set like this: {error}; change what begins with {SUPERNET}"
        ) from None


def _check_options(method: type, options: dict[str, Any]) -> None:
    """Raise unless the method has such options, of the kind that their defaults are."""
    from nasbed.cli.oneshot.output import method_defaults

    defaults = method_defaults(method)
    for name, value in options.items():
        if name not in defaults:
            raise InvalidOption(f"the method has no setting {name!r}; {nearest(name, defaults)}")
        if not _fits(value, defaults[name]):
            raise InvalidOption(f"the setting {name} is like {defaults[name]!r}, got {shorten(value)}; change it")


def _fits(value: Any, default: Any) -> bool:
    """Whether a value is of the kind of a default; a whole number may be left out, where it limits something."""
    if default is None or isinstance(default, list | tuple):
        return default is None or isinstance(value, list)
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, int):
        return value is None or isinstance(value, int)
    return isinstance(value, int | float) if isinstance(default, float) else isinstance(value, type(default))
