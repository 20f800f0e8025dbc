"""``nasbed network``: the layers of the network of an architecture."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.output import Json, print_fields, print_json, print_table, readable


@former_options({"--seed": "--sample-seed", "--channels": "--image-channels"})
def network(
    name: Annotated[str, typer.Argument(metavar="SPACE", help="A name from: nasbed list spaces")],
    arch: Annotated[
        str | None, typer.Argument(metavar="[ARCH]", help="An architecture as text; or sample one with --sample-seed.")
    ] = None,
    classes: Annotated[int, typer.Option(min=1, help="The number of classes.")] = 10,
    image_channels: Annotated[int, typer.Option(min=1, help="The number of image channels.")] = 3,
    image: Annotated[
        str, typer.Option(metavar="SIDE|HEIGHTxWIDTH", help="The image size in pixels, such as 32 or 27x18.")
    ] = "32",
    sample_seed: Annotated[
        int | None, typer.Option(min=0, help="Sample an architecture with this seed instead of ARCH.")
    ] = None,
    json: Json = False,
) -> None:
    """Print the layers and cells of a network with output shapes, parameters and multiply-adds. Needs torch.

    Example: nasbed network nb101 conv3x3:0/maxpool3x3:0,1/output:1,2 --classes 100
    """
    import numpy as np

    from nasbed.networks import check_torch
    from nasbed.spaces import space
    from nasbed.spaces.image_size import parsed, sides

    if (arch is None) == (sample_seed is None):
        raise InvalidOption("give one architecture: either its text or --sample-seed")
    check_torch()
    from nasbed.networks.summary import architecture_summary

    searched = space(name)
    architecture = searched.sample(np.random.default_rng(sample_seed)) if arch is None else searched.parse(arch)
    size = parsed(image)
    summary = architecture_summary(architecture, classes=classes, channels_in=image_channels, image=size)
    text = searched.format(architecture)
    if json:
        print_json({"space": searched.name, "architecture": text, **asdict(summary)})
        return
    print_table(
        ["part", "kind", "output", "parameters", "multiply-adds"],
        [
            (part.name, part.kind, "×".join(map(str, part.shape)) or "-", part.parameters, part.multiply_adds)
            for part in summary.parts
        ],
    )
    typer.echo()
    print_fields(
        {
            "architecture": text,
            "input": "×".join(map(str, (image_channels, *sides(size)))),
            "parameters": readable(summary.parameters),
            "multiply-adds": readable(summary.multiply_adds),
        }
    )
