"""What a network is made of: shapes, parameters and multiply-adds, part by part."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks import USUAL, build
from nasbed.networks.shapes import shapes_only
from nasbed.spaces.image_size import Image, sides


@dataclass(frozen=True, slots=True)
class LayerSummary:
    """A layer or cell. ``shape`` is that of its output for one image, empty if the pass did not reach it."""

    name: str
    kind: str
    shape: tuple[int, ...]
    parameters: int
    multiply_adds: int


@dataclass(frozen=True, slots=True)
class NetworkSummary:
    """The parts in the order in which they are defined, and the totals of the whole network."""

    parts: tuple[LayerSummary, ...]
    parameters: int
    multiply_adds: int


def summary(network: nn.Module, *, image: Image = 32, channels_in: int = 3) -> NetworkSummary:
    """The summary of any network that takes images. Multiply-adds are those of convolutions and linear layers on one
    image, in the mode the network is in: an auxiliary classifier counts while training. The network itself is not run
    or changed; a copy without weights is."""
    network = _weightless(network)
    shapes: dict[nn.Module, tuple[int, ...]] = {}
    multiply_adds: dict[nn.Module, int] = {}

    def note_shape(module: nn.Module, inputs: Any, output: Any) -> None:
        shapes[module] = tuple(output.shape[1:]) if isinstance(output, Tensor) else ()

    def count(module: nn.Module, inputs: Any, output: Tensor) -> None:
        multiply_adds[module] = multiply_adds.get(module, 0) + _multiply_adds(module, output)

    parts = list(_parts(network))
    hooks = [module.register_forward_hook(note_shape) for _, module in parts]
    hooks += [module.register_forward_hook(count) for module in network.modules() if _counts(module)]
    try:
        with shapes_only(), torch.no_grad():  # two images: batch normalisation in training mode refuses a single pixel
            network(torch.empty(2, channels_in, *sides(image), dtype=_dtype(network)))
    finally:
        for hook in hooks:
            hook.remove()
    return NetworkSummary(
        parts=tuple(
            LayerSummary(
                name,
                type(module).__name__,
                shapes.get(module, ()),
                _parameters(module),
                sum(multiply_adds.get(inner, 0) for inner in module.modules()),
            )
            for name, module in parts
        ),
        parameters=_parameters(network),
        multiply_adds=sum(multiply_adds.values()),
    )


def architecture_summary(
    arch: Architecture,
    *,
    classes: int | None = None,
    channels_in: int | None = None,
    image: Image | None = None,
    skeleton: Any = None,
) -> NetworkSummary:
    """The summary of the network that :func:`nasbed.networks.build` makes of these arguments, without its weights.

    Args:
        arch, classes, channels_in, image, skeleton: As there.

    >>> from nasbed.spaces import space
    >>> empty = architecture_summary(space("nb201").from_options(["none"] * 6))
    >>> empty.parameters, empty.multiply_adds
    (73306, 7783040)
    """
    with shapes_only():
        network = build(arch, classes=classes, channels_in=channels_in, image=image, skeleton=skeleton)
    return summary(
        network,
        image=getattr(skeleton, "image", USUAL["image"]) if image is None else image,
        channels_in=getattr(skeleton, "image_channels", USUAL["image_channels"])
        if channels_in is None
        else channels_in,
    )


def _weightless(network: nn.Module) -> nn.Module:
    if all(tensor.is_meta for tensor in chain(network.parameters(), network.buffers())):
        return network
    return copy.deepcopy(network).to("meta")


def _parts(network: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The children of a network; a list of modules counts as its members."""
    for name, child in network.named_children():
        if isinstance(child, nn.ModuleList):
            yield from ((f"{name}.{index}", member) for index, member in enumerate(child))
        else:
            yield name, child


def _counts(module: nn.Module) -> bool:
    return isinstance(module, nn.Conv2d | nn.Linear)


def _multiply_adds(module: nn.Module, output: Tensor) -> int:
    if isinstance(module, nn.Conv2d):
        height, width = module.kernel_size
        per_output = module.in_channels // module.groups * height * width
    else:
        assert isinstance(module, nn.Linear)
        per_output = module.in_features
    return output.numel() // len(output) * per_output


def _parameters(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def _dtype(network: nn.Module) -> torch.dtype:
    return next((parameter.dtype for parameter in network.parameters()), torch.float32)
