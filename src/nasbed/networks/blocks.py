"""Layers that the networks of several spaces share. Convolutions have no bias and keep the resolution unless strided;
then it is halved, upwards."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nasbed.core.errors import InvalidOption
from nasbed.spaces.edge_cell import EDGES


def conv_bn(c_in: int, c_out: int, kernel: int, *, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution, batch normalisation.

    Args:
        c_in, c_out: Channels of the input and of the output.
        kernel, stride, groups: Of the convolution.
    """
    return nn.Sequential(*conv_bn_layers(c_in, c_out, kernel, stride=stride, groups=groups))


def conv_bn_relu(c_in: int, c_out: int, kernel: int, *, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution, batch normalisation, ReLU: the order of NAS-Bench-101 and FBNet.

    Args:
        c_in, c_out, kernel, stride, groups: As of :func:`conv_bn`.
    """
    return nn.Sequential(*conv_bn_layers(c_in, c_out, kernel, stride=stride, groups=groups), nn.ReLU())


def relu_conv_bn(c_in: int, c_out: int, kernel: int, *, stride: int = 1) -> nn.Sequential:
    """ReLU, convolution, batch normalisation: the order of DARTS and NAS-Bench-201."""
    return nn.Sequential(nn.ReLU(), *conv_bn_layers(c_in, c_out, kernel, stride=stride))


def conv_bn_layers(
    c_in: int, c_out: int, kernel: int, *, stride: int = 1, groups: int = 1
) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
    """The layers of :func:`conv_bn`, to unpack into a longer row.

    Args:
        c_in, c_out, kernel, stride, groups: As there.
    """
    conv = nn.Conv2d(c_in, c_out, kernel, stride, padding=kernel // 2, groups=groups, bias=False)
    return conv, nn.BatchNorm2d(c_out)


def classifier(channels: int, classes: int) -> nn.Sequential:
    """Global average pooling and a linear layer with bias."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def applied(x: Tensor, *modules: nn.Module) -> Tensor:
    """The output of the last module, each taking the output of the one before."""
    for module in modules:
        x = module(x)
    return x


class FactorizedReduce(nn.Module):
    """A skip connection that halves the resolution: ReLU, two strided 1x1 convolutions to half the channels each, the
    second one looking one pixel further down and right, batch normalisation."""

    def __init__(self, c_in: int, c_out: int) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.even = nn.Conv2d(c_in, c_out // 2, 1, stride=2, bias=False)
        self.odd = nn.Conv2d(c_in, c_out - c_out // 2, 1, stride=2, bias=False)
        self.norm = nn.BatchNorm2d(c_out)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(x)
        height, width = x.shape[2:]
        moved = nn.functional.pad(x, (0, width % 2, 0, height % 2))[:, :, 1:, 1:]
        reduced: Tensor = self.norm(torch.cat([self.even(x), self.odd(moved)], dim=1))
        return reduced


class DropPath(nn.Module):
    """While training, sets each sample to zero with some probability and scales the others up so that the mean stays;
    otherwise nothing. Draws from torch's own generator.

    On a GPU the probability lies in the device's memory, so a recorded step follows where it changes.
    """

    def __init__(self, probability: float = 0.0) -> None:
        super().__init__()
        self.probability = 0.0
        self._share: Tensor | None = None
        self.set(probability)

    def set(self, probability: float) -> bool:
        """Change the probability; returns whether a recorded step remains valid, as it does unless dropping begins or
        ends."""
        if not 0 <= probability < 1:
            raise InvalidOption(f"a path is dropped with a probability of 0 to below 1, got {probability}")
        is_valid = (self.probability > 0) == (probability > 0)
        self.probability = float(probability)
        if self._share is not None:
            self._share.fill_(1 - self.probability)
        return is_valid

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.probability:
            return x
        if x.device.type != "cpu":
            return self._dropped(x)
        share = 1 - self.probability
        return x * (x.new_empty(len(x), 1, 1, 1).bernoulli_(share) / share)

    def _dropped(self, x: Tensor) -> Tensor:
        """With the share that is kept read from a tensor on the device."""
        if self._share is None or self._share.device != x.device:
            self._share = torch.full((), 1 - self.probability, device=x.device)
        kept = torch.bernoulli(self._share.expand(len(x), 1, 1, 1)) / self._share
        return x * kept.to(x.dtype)

    def extra_repr(self) -> str:
        return f"probability={self.probability}"


def set_drop_path(network: nn.Module, probability: float) -> bool:
    """Set the probability of every :class:`DropPath` of a network; returns whether a recorded step remains valid."""
    are_valid = [module.set(probability) for module in network.modules() if isinstance(module, DropPath)]
    return all(are_valid)


class EdgeCell(nn.Module):
    """The cell of NAS-Bench-201 and TransNAS-Bench-101: four nodes, each the sum of what the edges into it carry. An
    edge without an operation (none) carries zeros, and a node with no others is zeros."""

    def __init__(self, operations: Sequence[nn.Module | None], *, channels: int, stride: int = 1) -> None:
        super().__init__()
        self.channels, self.stride = channels, stride
        self.edges = nn.ModuleDict(
            {
                f"{source}-{target}": operation
                for (source, target), operation in zip(EDGES, operations, strict=True)
                if operation is not None
            }
        )

    def forward(self, x: Tensor) -> Tensor:
        nodes = [x]
        for target in (1, 2, 3):
            names = [(source, f"{source}-{target}") for source in range(target)]
            terms = [self.edges[name](nodes[source]) for source, name in names if name in self.edges]
            nodes.append(added(terms) if terms else self._zeros(x))
        return nodes[-1]

    def _zeros(self, x: Tensor) -> Tensor:
        height, width = (-(-side // self.stride) for side in x.shape[2:])
        return x.new_zeros(len(x), self.channels, height, width)


def added(terms: Sequence[Tensor]) -> Tensor:
    """The sum of one tensor or more."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
