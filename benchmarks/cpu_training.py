"""Training on a CPU: networks as nasbed places them against networks as they are built, and depthwise gradients.

    python benchmarks/cpu_training.py [networks|supernets|layers|strided ...]

Both take turns on one core with the same weights and 64 images; the fastest of five steps counts. A step of a network
is that of SGD. One of a supernet is the gradient by its weights and by the mixing, and one of a layer is its backward
pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import nasbed
from nasbed.networks import build
from nasbed.networks.trimming import trim_convolutions
from nasbed.oneshot import SEARCHED_SPACES
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.spaces.base import SupernetSize
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.training.placement.network import place_network

BATCH, CLASSES, REPEATS = 64, 10, 5
CPU = torch.device("cpu")
NETWORKS = [("darts", 8), ("darts", 16), ("darts", 28), ("nb201", 8), ("nb201", 16), ("nb101", 16), ("fbnet", 16)]
SUPERNETS = [(1, 8), (4, 8), (1, 16), (4, 16)]
STRIDED = [(16, 28), (32, 16), (32, 32), (64, 8), (64, 16)]
LAYERS = [(kernel, dilation, side) for kernel, dilation in ((3, 1), (5, 1), (3, 2), (5, 2)) for side in (8, 28)]

Step = Callable[[], None]


def network_pairs() -> Iterator[tuple[str, Step, Step]]:
    for space, side in NETWORKS:
        arch = nasbed.space(space).sample(np.random.default_rng(0))
        skeleton = DartsSkeleton(channels=16, cells=8) if space == "darts" else None
        plain = build(arch, classes=CLASSES, channels_in=3, image=side, skeleton=skeleton)
        images = torch.randn(BATCH, 3, side, side)
        yield f"{space}, {side}x{side}", _sgd(plain, images), _sgd(place_network(deepcopy(plain), CPU), images)


def _sgd(network: nn.Module, images: Tensor) -> Step:
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(network(images), _labels()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def supernet_pairs() -> Iterator[tuple[str, Step, Step]]:
    space = SEARCHED_SPACES.get("darts")
    cells = space.cells(with_none=True)
    mixing = Mixing(torch.softmax(torch.zeros(cells.shape), dim=-1).requires_grad_())
    for partial, side in SUPERNETS:
        plain = space.supernet(SupernetSize(16, 5, (3, side, side), CLASSES), cells, Layout(partial))
        images = torch.randn(BATCH, 3, side, side)
        pair = [_gradient(supernet, images, mixing) for supernet in (plain, place_network(deepcopy(plain), CPU))]
        yield f"darts, 1/{partial} of the channels, {side}x{side}", pair[0], pair[1]


def _gradient(supernet: nn.Module, images: Tensor, mixing: Mixing) -> Step:
    def step() -> None:
        functional.cross_entropy(supernet(images, mixing), _labels()).backward()  # type: ignore[no-untyped-call]

    return step


def layer_pairs() -> Iterator[tuple[str, Step, Step]]:
    for kernel, dilation, side in LAYERS:
        layer = nn.Conv2d(16, 16, kernel, padding=dilation * (kernel // 2), dilation=dilation, groups=16, bias=False)
        maps = torch.randn(BATCH, 16, side, side, requires_grad=True)
        last = maps.detach().contiguous(memory_format=torch.channels_last).requires_grad_()
        trimmed = trim_convolutions(deepcopy(layer))
        yield f"{kernel}x{kernel}, dilation {dilation}, {side}x{side}", _backward(layer, maps), _backward(trimmed, last)


def strided_pairs() -> Iterator[tuple[str, Step, Step]]:
    """Plain layers with fewer channels crash on some machines."""
    for channels, side in STRIDED:
        layer = nn.Conv2d(channels, 2 * channels, 1, stride=2, bias=False)
        maps = torch.randn(BATCH, channels, side, side).contiguous(memory_format=torch.channels_last).requires_grad_()
        steps = [_both_passes(each, maps) for each in (layer, trim_convolutions(deepcopy(layer)))]
        yield f"{channels} channels, {side}x{side}", steps[0], steps[1]


def _both_passes(layer: nn.Module, maps: Tensor) -> Step:
    def step() -> None:
        layer(maps).sum().backward()

    return step


def _backward(layer: nn.Module, maps: Tensor) -> Step:
    output = layer(maps)
    slopes = torch.ones_like(output)
    inputs = [maps, *layer.parameters()]

    def step() -> None:
        torch.autograd.grad(output, inputs, slopes, retain_graph=True)

    return step


def _labels() -> Tensor:
    return torch.arange(BATCH) % CLASSES


def _time_s(step: Step) -> float:
    start = perf_counter()
    step()
    return perf_counter() - start


def main(*kinds: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pairs = {"networks": network_pairs, "supernets": supernet_pairs, "layers": layer_pairs, "strided": strided_pairs}
    for kind in kinds or pairs:
        for name, plain_step, placed_step in pairs[kind]():
            turns = [(_time_s(plain_step), _time_s(placed_step)) for _ in range(REPEATS)]
            plain, placed = (1e3 * min(times) for times in zip(*turns, strict=True))
            print(f"{kind}: {name}: plain {plain:.2f} ms, placed {placed:.2f} ms, {plain / placed:.2f}x", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
