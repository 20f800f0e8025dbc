"""One step of small networks that use every kernel, once by the kernels and once by torch; fails if they differ.

    python kernels_against_torch.py DEVICE [quick | everything | dense | pictures | darts | fbnet | nb101 | nb201 | transnas-micro …]
    python kernels_against_torch.py cuda nb101@27x18 nb101@24x24

On a CPU the kernels run in Triton's interpreter (TRITON_INTERPRET=1), so images are few and small there. Gradients jump
where a ReLU or a maximum changes its mind, and rounding alone can make it: how far the exact gradient moves when weights
are rounded is measured, and a gradient may be off by that much.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch
from populations import SKELETONS, flat, networks, parameters
from torch import Tensor, nn
from torch.nn import functional

from nasbed import datasets
from nasbed.networks.blocks import FactorizedReduce, classifier, conv_bn, conv_bn_relu, relu_conv_bn
from nasbed.training.images import TrainingImages
from nasbed.training.population.autograd import AutogradExecutor
from nasbed.training.population.fused import FusedExecutor
from nasbed.training.population.launches import PopulationLayout
from nasbed.training.population.program import NetworkProgram
from nasbed.training.population.tracing import trace
from nasbed.training.random_streams import epoch_draws, epoch_words
from nasbed.training.recipe import Recipe

Sides = tuple[int, int]

ROUNDING, ROUNDINGS = 2e-6, 8
"""The kernels round a product in some 2e-6 of its size."""
STEADY = 1e-3
"""Gradients that do not jump are off by less, as a part of their length."""

RECIPE = Recipe(
    name="step", epochs=(1,), batch=3, learning_rate=0.1, nesterov=True, weight_decay=1e-2, gradient_clip=1.0
)


class Everything(nn.Module):
    """All kinds of operations: strides, dilations, odd sizes, cut and concatenated channels, sums, an unused branch."""

    def __init__(self, channels: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.stem = conv_bn_relu(3, channels, 3)
        self.depthwise = nn.Conv2d(
            channels, channels, kernel, padding=dilation * (kernel // 2), dilation=dilation, groups=channels, bias=False
        )
        self.norm = nn.BatchNorm2d(channels)
        self.strided = nn.Conv2d(channels, channels, 5, 2, padding=2, groups=channels, bias=False)
        self.point = conv_bn(channels, channels, 1)
        self.reduce = FactorizedReduce(channels, channels)
        self.unused = conv_bn_relu(channels, channels, 1)
        self.head = classifier(2 * channels - 1, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        self.unused(x)
        x = self.norm(self.depthwise(torch.relu(x))) + functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        x = x + functional.max_pool2d(x, 3, 1, 1)
        small = self.point(self.strided(torch.relu(x)))
        reduced = self.reduce(x) + functional.max_pool2d(x, 3, 2, 1)
        mean = functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
        halves = functional.max_pool2d(x, 2, 2, 0, ceil_mode=True) + functional.avg_pool2d(x, 2, 2, 0, ceil_mode=True)
        cut = (reduced + halves)[:, : small.shape[1] - 1]
        logits: Tensor = self.head(torch.cat([small + mean, cut], dim=1))
        return logits


class Windows(nn.Module):
    """Depthwise convolutions and means of windows, between convolutions of all channels."""

    def __init__(self, kernel: int, dilation: int) -> None:
        super().__init__()
        self.stem = conv_bn_relu(3, 2, 1)
        self.depthwise = nn.Conv2d(
            2, 2, kernel, padding=dilation * (kernel // 2), dilation=dilation, groups=2, bias=False
        )
        self.strided = nn.Conv2d(2, 2, kernel, 2, padding=kernel // 2, groups=2, bias=False)
        self.point = conv_bn(2, 2, 1)
        self.head = classifier(2, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = self.depthwise(x) + functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        logits: Tensor = self.head(self.point(self.strided(x)))
        return logits


class Dense(nn.Module):
    """Convolutions of all channels alone, so that channels are bundled: more of them than a bundle holds, fewer, cut
    off in the midst of a bundle, concatenated out of step with bundles and added to what is in step."""

    JOINED = 14
    """Channels before the classifier, whatever the cut: networks of one population have classifiers of one width."""

    def __init__(self, channels: int, cut: int) -> None:
        super().__init__()
        self.cut = cut
        self.stem = conv_bn(3, channels, 3)
        self.strided = relu_conv_bn(channels, channels + 4, 3, stride=2)
        self.reduce = FactorizedReduce(channels, channels + 4)
        self.first, self.second = relu_conv_bn(cut, cut, 3), conv_bn_relu(channels + 4, self.JOINED - cut, 1)
        self.joined = conv_bn_relu(channels + 4, self.JOINED, 1)
        self.norm = nn.BatchNorm2d(self.JOINED)
        self.unused = conv_bn_relu(channels, channels, 1)
        self.head = classifier(self.JOINED, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        self.unused(x)
        x = x + functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False) + functional.max_pool2d(x, 3, 1, 1)
        x = self.strided(x) + self.reduce(x)
        parts = torch.cat([self.first(x[:, : self.cut]), self.second(x)], dim=1)
        x = self.joined(x) + parts
        logits: Tensor = self.head(torch.relu(self.norm(x)) + x)
        return logits


def compare(device: str, networks: list[nn.Module], sides: Sides, *, batch: int = 3, steps: int = 2) -> None:
    """Fails unless losses, gradients, statistics, updates and the judgement of what was trained agree with float64."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(len(networks), batch, 3, *sides, generator=generator)
    labels = torch.randint(0, 10, (len(networks), batch), generator=generator)
    programs = [trace(network, channels=3, side=sides) for network in networks]
    weights = [flat(network) for network in networks]
    layout = PopulationLayout(programs, batch, value_bytes=4)
    packed = torch.from_numpy(layout.packed([values.numpy() for values in weights])).to(device)
    fused = FusedExecutor(layout, packed, dtype=torch.float32)
    exact = AutogradExecutor(programs, parameters(networks).double().to(device))
    images, labels = images.to(device), labels.to(device)
    losses = [
        functional.cross_entropy(
            deepcopy(network).double().to(device)(images[at].double()), labels[at], label_smoothing=0.1
        )
        for at, network in enumerate(networks)
    ]
    exact.place(images.double())
    fused.place(images)
    for step in range(steps):
        expected, actual = exact.backward(labels, smoothing=0.1), fused.backward(labels, smoothing=0.1)
        if step == 0:
            torch.testing.assert_close(expected[0], torch.stack(losses).detach())
        close(actual[0], expected[0], 1e-4)
        assert actual[1].tolist() == expected[1].tolist()
        if step == 0:
            jumps = gradient_jumps(programs, networks, images, labels, exact.gradient())
        close(fused.gradient(), exact.gradient(), jumps.clamp(STEADY, 0.1))
        close(fused.running_mean, exact.running_mean, 1e-4)
        close(fused.running_var, exact.running_var, 1e-4)
        exact.update(RECIPE, torch.tensor([0.1], dtype=torch.float64, device=device))
        fused.update(RECIPE, torch.tensor([0.1], device=device))
    close(fused.logits(training=False), exact.logits(training=False), 1e-3)


def gradient_jumps(
    programs: list[NetworkProgram], networks: list[nn.Module], images: Tensor, labels: Tensor, gradient: Tensor
) -> Tensor:
    """How far each network's gradient moves, as a part of its length, when float64 weights are rounded like float32's;
    the most of several roundings."""
    weights, generator = parameters(networks).double(), torch.Generator().manual_seed(1)
    jumps = gradient.new_zeros(len(networks))
    for _ in range(ROUNDINGS if images.device.type == "cuda" else 0):
        noise = torch.randn(weights.shape, generator=generator, dtype=weights.dtype)
        rounded = AutogradExecutor(programs, (weights * (1 + ROUNDING * noise)).to(images.device))
        rounded.place(images.double())
        rounded.backward(labels, smoothing=0.1)
        jumps = torch.maximum(jumps, (rounded.gradient() - gradient).norm(dim=-1) / gradient.norm(dim=-1))
    return jumps


def close(actual: Tensor, exact: Tensor, distance: float | Tensor) -> None:
    """Fails unless the rows of a table, a network each, are nearly those in float64: in all, and at every place unless
    they jump."""
    first = 1 if exact.dim() > 1 else 0
    actual, exact = actual.double().flatten(first), exact.flatten(first)
    apart = (actual - exact).norm(dim=-1) / exact.norm(dim=-1)
    assert (apart < distance).all(), (apart, distance)
    if isinstance(distance, Tensor):  # one jump moves a few places a long way
        actual, exact, distance = actual[distance <= STEADY], exact[distance <= STEADY], STEADY
    if len(exact):
        torch.testing.assert_close(actual, exact, rtol=1e-2, atol=distance * float(exact.abs().max()))


def everything(device: str) -> None:
    """Widths are a power of two, one less, and two less: windows are padded with none, one and two columns."""
    for sides, kinds in {(8, 8): ((3, 2), (5, 1)), (5, 7): ((3, 2),), (7, 6): ((5, 1),)}.items():
        compare(device, [Everything(2, kernel, dilation) for kernel, dilation in kinds], sides, batch=2, steps=1)


def dense(device: str) -> None:
    compare(device, [Dense(12, 5), Dense(8, 5)], (6, 5), batch=2)
    compare(device, [Dense(12, 9)], (5, 4), batch=2, steps=1)


def quick(device: str) -> None:
    """Every kernel; windows padded with none, one and two columns; windows of two kinds, networks of two sizes and two
    cuts together; a second step."""
    compare(device, [Everything(2, 3, 2)], (5, 7), batch=2, steps=1)
    compare(device, [Windows(3, 2), Windows(5, 1)], (3, 4), batch=2, steps=1)
    compare(device, [Windows(5, 1)], (3, 6), batch=2)
    compare(device, [Dense(12, 5), Dense(8, 9)], (6, 5), batch=2, steps=1)


def pictures(device: str) -> None:
    """Batches of images, cropped, mirrored and cut out, as torch's own operations cut them."""
    recipe = replace(RECIPE, batch=5, crop_padding=2, flip=True, cutout=3, epoch_images=40)
    digits = datasets.load("digits")
    images = TrainingImages(digits, recipe, device)
    for network in (nn.Sequential(conv_bn(1, 4, 3), classifier(4, 10)), Everything(2, 3, 1)):
        if isinstance(network, Everything):
            network.stem = conv_bn_relu(1, 2, 3)
        program = trace(network, channels=1, side=8)
        layout = PopulationLayout([program] * 2, 5, value_bytes=4)
        fused = FusedExecutor(layout, torch.zeros(layout.parameters, device=device), dtype=torch.float32)
        words = np.stack([epoch_words(seed, 0, len(images)) for seed in range(2)])
        draws = epoch_draws(recipe, torch.from_numpy(words).to(device), images.side)
        labels = fused.draw(images, draws, torch.tensor(10, device=device))
        drawn = fused.memory.arena[: int(fused.layout.images[-1]) + 5 * 64 * fused.layout.lanes].clone()
        expected, named = images.batch(draws, 10, 5)
        fused.place(expected)
        assert torch.equal(labels, named)
        assert drawn.abs().sum() > 0
        torch.testing.assert_close(drawn, fused.memory.arena[: len(drawn)])


def spaces(device: str, name: str, only: Sides | None = None) -> None:
    """Networks of a space at the sides of CIFAR's, Gutenberg's, Language's, AddNIST's and other images, or at one of
    these; interpreted, at small ones."""
    side = SKELETONS[name][1]
    if device == "cuda":
        for sides in [only] if only else ((side, side), (27, 18), (24, 24), (28, 28), (32, 32)):
            compare(device, networks(name, 3), sides, batch=16, steps=1)
    else:
        compare(device, networks(name, 2), (side, side + 1), batch=2, steps=1)


def main(device: str, *names: str) -> None:
    torch.manual_seed(0)
    if device == "cpu":
        from support.triton_interpreter import quicken_interpreter

        quicken_interpreter()
    checks = {"quick": quick, "everything": everything, "dense": dense, "pictures": pictures}
    for name in names or (*checks, *SKELETONS):
        space, _, sides = name.partition("@")
        if space in SKELETONS:
            height, _, width = sides.partition("x")
            spaces(device, space, (int(height), int(width)) if sides else None)
        else:
            checks[name](device)
        print(f"{name}: kernels on {device} compute what torch computes", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
