"""One step of small networks that use every kernel, once by the kernels and once by torch; fails if they differ.
Sides are a power of two, one less, and two less: windows are padded with none, one and two columns."""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.networks.blocks import FactorizedReduce, classifier, conv_bn, conv_bn_relu
from nasbed.training.population.autograd import AutogradExecutor
from nasbed.training.population.fused import FusedExecutor
from nasbed.training.population.tracing import trace

SIDES: dict[int, tuple[tuple[int, int], ...]] = {8: ((3, 2), (5, 1)), 7: ((3, 2),), 6: ((5, 1),)}
"""Of images, with the kernel and dilation of each network."""


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
        other = self.reduce(x) + functional.max_pool2d(x, 3, 2, 1)
        mean = functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
        halves = functional.max_pool2d(x, 2, 2, 0, ceil_mode=True) + functional.avg_pool2d(x, 2, 2, 0, ceil_mode=True)
        cut = (other + halves)[:, : small.shape[1] - 1]
        logits: Tensor = self.head(torch.cat([small + mean, cut], dim=1))
        return logits


def compare(device: str, side: int) -> None:
    torch.manual_seed(0)
    networks = [Everything(3, kernel, dilation) for kernel, dilation in SIDES[side]]
    count = len(networks)
    images, labels = torch.randn(count, 3, 3, side, side), torch.randint(0, 10, (count, 3))
    programs = [trace(network, channels=3, side=side) for network in networks]
    rows = [torch.cat([each.detach().flatten() for each in network.parameters()]) for network in networks]
    parameters = torch.zeros(count, max(map(len, rows)))
    for place, row in enumerate(rows):
        parameters[place, : len(row)] = row
    plain = AutogradExecutor(programs, parameters)
    alone = [
        functional.cross_entropy(net(images[at]), labels[at], label_smoothing=0.1) for at, net in enumerate(networks)
    ]
    fused = FusedExecutor(programs, parameters.to(device), batch=3, dtype=torch.float32)
    expected, found = (
        executor.losses_and_gradient(images.to(place), labels.to(place), smoothing=0.1)
        for executor, place in ((plain, "cpu"), (fused, device))
    )
    torch.testing.assert_close(expected[0], torch.stack(alone).detach())
    for one, other in zip(expected, found, strict=True):
        torch.testing.assert_close(other.cpu(), one, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(fused.running_mean.cpu(), plain.running_mean)
    torch.testing.assert_close(fused.running_var.cpu(), plain.running_var)
    judged = fused.logits(images.to(device), training=False).cpu()
    torch.testing.assert_close(judged, plain.logits(images, training=False), rtol=1e-4, atol=1e-5)


def main(device: str) -> None:
    for side in SIDES:
        compare(device, side)


if __name__ == "__main__":
    main(sys.argv[1])
