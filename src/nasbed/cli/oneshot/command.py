"""``nasbed oneshot``: search a space for an architecture by a one-shot method, on any dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nasbed.terminal.output import Json, print_json
from nasbed.terminal.report_options import SearchPreset
from nasbed.terminal.training_options import Device, Threads

LIST = "list"


def oneshot(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="The method, or 'list' to print all methods.")],
    space: Annotated[
        str | None,
        typer.Option(show_default="darts", help="The space: darts or nb201. bonsai-net has its own."),
    ] = None,
    dataset: Annotated[
        str, typer.Option(metavar="NAME|DIR", help="A name from 'nasbed data list', or a folder of the competition.")
    ] = "digits",
    epochs: Annotated[
        int | None, typer.Option(min=1, show_default="50, bonsai-net: 10", help="The number of epochs of the search.")
    ] = None,
    channels: Annotated[
        int | None,
        typer.Option(min=1, show_default="16, bonsai-net: 8", help="The number of channels of the first cells."),
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(min=1, show_default="8, nb201: 5", help="The number of cells; in nb201, per stage."),
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, show_default="64", help="The batch size in each half of the images.")
    ] = None,
    epoch_images: Annotated[
        int | None, typer.Option(min=1, show_default="all", help="The number of images per epoch, from each half.")
    ] = None,
    preset: SearchPreset = "",
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of the weights, the parameters and the order of the images.")
    ] = 0,
    device: Device = "auto",
    precision: Annotated[str | None, typer.Option(show_default="float32", help="float32 or bfloat16.")] = None,
    threads: Threads = 1,
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
        typer.Option(help="Stop early: skips (two skip connections in the normal cell) or eigenvalue (it rises fast)."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(
            metavar="RECIPE",
            help="Train the result from scratch by this recipe, from 'nasbed list recipes', or by 'preset', the "
            "training of the --preset.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            show_default="searches/METHOD-SPACE-DATASET-SEED",
            help="The folder of the search.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Search for an architecture on a dataset by a one-shot method. A supernet that holds every architecture of a space
    is trained, and an architecture is read from it. Needs torch.

    darts: every edge mixes all its operations by learnt weights.

    darts2: darts with second-order gradients, several times slower.

    gdas: each step samples one operation per edge.

    pc-darts: only part of the channels goes through the operations, and edges have weights too.

    drnas: mixing weights are drawn from Dirichlet distributions that are learnt, in two stages.

    random-ws: random architectures share weights, and the best of many samples wins.

    bonsai-net: a network with every operation is trained and pruned at the same time, in a space of its own.

    The folder gets the record of the search, its table with the architecture of every epoch, and the cells drawn. A
    search that was interrupted resumes with the same command, to the same end.

    Example: nasbed oneshot pc-darts --dataset digits --epochs 10 --channels 8 --cells 3 --epoch-images 256

    Example: nasbed oneshot gdas --space nb201 --dataset cifar10 --set supernet.flip=true --train small-nb201

    Example: nasbed oneshot darts --dataset addnist --stop eigenvalue --device cuda --precision bfloat16

    Example: nasbed oneshot pc-darts --dataset cifar10 --preset paper --device cuda --train preset

    Example: nasbed oneshot bonsai-net --dataset digits --set cells=nr --set learning_rate=0.1 --train small
    """
    from nasbed.networks import check_torch

    check_torch()
    from nasbed.cli.oneshot.output import plain_search, print_methods, print_search

    if method == LIST:
        print_methods(json=json)
        return
    from nasbed.cli.oneshot.request import SearchRequest, check_refused, read_preset, read_settings
    from nasbed.cli.oneshot.search import (
        check_recipe,
        chosen_recipe,
        finished_search,
        resumable,
        run_search,
        train_architecture,
    )
    from nasbed.datasets.opening import open_dataset
    from nasbed.oneshot import METHODS
    from nasbed.training.devices import chosen_device

    kind = METHODS.get(method)
    check_refused(method, kind, {"--space": space, "--cells": cells, "--stop": stop})
    options: dict[str, Any] = {"epochs": epochs, "channels": channels, "batch": batch, "precision": precision}
    options |= {"epoch_images": epoch_images, "cells": cells}
    options = {name: value for name, value in options.items() if value is not None}
    torch_device = chosen_device(device)
    images = open_dataset(dataset)
    base = read_preset(preset, method, images.name, space)
    settings, method_options = read_settings(method, kind, options, set_ or [], stop, base)
    name = kind.searched_space(space, settings)
    recipe = None if train is None else kind.training_recipe(chosen_recipe(train, base), settings)
    if recipe is not None:
        check_recipe(name, images, recipe)
    parts = (method, name, images.name, str(seed)) if kind.chooses_space else (method, images.name, str(seed))
    folder = out or Path("searches") / "-".join(parts)
    request = SearchRequest(method, kind, name, images, seed, settings, method_options, stop, torch_device, folder)
    with resumable(folder, threads):
        record = finished_search(request) or run_search(request, quiet=json)
        outcome = None
        if recipe is not None and record.searched.architecture is not None:
            outcome = train_architecture(record.searched.architecture, request, recipe)
    described = {} if base is None else {"name": base.name, "changed": base.changed(settings, None)}
    if json:
        print_json(plain_search(record, folder) | {"trained": outcome, "preset": described})
    else:
        print_search(record, kind.wording(name, settings), folder, outcome, described)
