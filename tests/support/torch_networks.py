"""The networks of NAS-Bench-101, NAS-Bench-201 and DARTS in torch, as plainly as can be: the outside word on costs.

Written from the papers, apart from the package. Parameters are what torch counts; multiply-adds are read off the tensors
that pass through the convolutions and linear layers (an empty batch: real shapes, no arithmetic).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn


@contextmanager
def without_initial_weights() -> Iterator[None]:
    """Networks with shapes only."""
    with pytest.MonkeyPatch.context() as patch:
        for layer in (nn.Conv2d, nn.Linear, nn.BatchNorm2d):
            patch.setattr(layer, "reset_parameters", lambda self: None)
        yield


def costs(network: nn.Module, image: int, channels: int = 3) -> tuple[int, int]:
    """Parameters, and multiply-adds of one image."""
    multiply_adds = 0

    def count(module: nn.Module, inputs: Any, output: Tensor) -> None:
        nonlocal multiply_adds
        if isinstance(module, nn.Conv2d):
            multiply_adds += output.shape[1:].numel() * module.weight[0].numel()
        elif isinstance(module, nn.Linear):
            multiply_adds += module.weight.numel()

    hooks = [module.register_forward_hook(count) for module in network.modules()]
    with torch.inference_mode():
        network.eval()(torch.empty(0, channels, image, image))
    for hook in hooks:
        hook.remove()
    return sum(parameter.numel() for parameter in network.parameters()), multiply_adds


def conv_bn(c_in: int, c_out: int, kernel: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, kernel, stride, padding=kernel // 2, bias=False), nn.BatchNorm2d(c_out), nn.ReLU()
    )


class NB101Cell(nn.Module):
    """Section 2.3: outputs are concatenated, everything else is added, the input is projected."""

    def __init__(self, matrix: list[list[int]], ops: list[str], c_in: int, c_out: int) -> None:
        super().__init__()
        self.matrix, last = matrix, len(matrix) - 1
        feeding = [v for v in range(1, last) if matrix[v][last]]
        self.channels = [0] * (last + 1)
        for rank, vertex in enumerate(feeding):
            self.channels[vertex] = c_out // len(feeding) + (rank < c_out % len(feeding))
        for vertex in range(last - 1, 0, -1):
            if vertex not in feeding:
                self.channels[vertex] = max(self.channels[t] for t in range(vertex + 1, last) if matrix[vertex][t])
        self.channels[last] = c_out
        self.project = nn.ModuleDict(
            {str(v): conv_bn(c_in, self.channels[v], 1) for v in range(1, last + 1) if matrix[0][v]}
        )
        self.ops = nn.ModuleDict()
        for vertex in range(1, last):
            width = self.channels[vertex]
            kind = ops[vertex]
            self.ops[str(vertex)] = (
                nn.MaxPool2d(3, 1, 1) if kind == "maxpool3x3" else conv_bn(width, width, 3 if "3x3" in kind else 1)
            )

    def forward(self, x: Tensor) -> Tensor:
        last = len(self.matrix) - 1
        tensors = [x]
        for vertex in range(1, last):
            terms = [tensors[s][:, : self.channels[vertex]] for s in range(1, vertex) if self.matrix[s][vertex]]
            if self.matrix[0][vertex]:
                terms.append(self.project[str(vertex)](x))
            tensors.append(self.ops[str(vertex)](sum(terms)))
        outputs = [tensors[s] for s in range(1, last) if self.matrix[s][last]]
        result = torch.cat(outputs, dim=1) if outputs else None
        if self.matrix[0][last]:
            skip: Tensor = self.project[str(last)](x)
            result = skip if result is None else result + skip
        assert result is not None
        return result


class NB101(nn.Module):
    def __init__(self, matrix: list[list[int]], ops: list[str], channels: int, stacks: int, cells: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [conv_bn(3, channels, 3)]
        c_in = channels
        for stack in range(stacks):
            if stack:
                layers.append(nn.MaxPool2d(2))
                channels *= 2
            for _ in range(cells):
                layers.append(NB101Cell(matrix, ops, c_in, channels))
                c_in = channels
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, 10)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.classifier(self.features(x).mean((2, 3)))
        return output


class NB201Cell(nn.Module):
    def __init__(self, ops: Sequence[str], channels: int) -> None:
        super().__init__()
        self.edges = nn.ModuleList(
            {
                "none": nn.Identity(),
                "skip_connect": nn.Identity(),
                "nor_conv_1x1": conv_bn(channels, channels, 1),
                "nor_conv_3x3": conv_bn(channels, channels, 3),
                "avg_pool_3x3": nn.AvgPool2d(3, 1, 1, count_include_pad=False),
            }[op]
            for op in ops
        )
        self.ops = ops

    def forward(self, x: Tensor) -> Tensor:
        nodes = [x]
        edge = 0
        for node in range(1, 4):
            total = torch.zeros_like(x)
            for source in range(node):
                if self.ops[edge] != "none":
                    total = total + self.edges[edge](nodes[source])
                edge += 1
            nodes.append(total)
        return nodes[-1]


class Residual(nn.Module):
    def __init__(self, c_in: int, c_out: int) -> None:
        super().__init__()
        self.body = nn.Sequential(conv_bn(c_in, c_out, 3, 2), conv_bn(c_out, c_out, 3))
        self.shortcut = nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(c_in, c_out, 1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.body(x) + self.shortcut(x)
        return output


class NB201(nn.Module):
    def __init__(self, ops: Sequence[str], channels: int, cells: int, classes: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)]
        for stage in range(3):
            if stage:
                layers.append(Residual(channels, 2 * channels))
                channels *= 2
            layers += [NB201Cell(ops, channels) for _ in range(cells)]
        self.features = nn.Sequential(*layers, nn.BatchNorm2d(channels), nn.ReLU())
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.classifier(self.features(x).mean((2, 3)))
        return output


class FactorizedReduce(nn.Module):
    def __init__(self, c_in: int, c_out: int) -> None:
        super().__init__()
        self.halves = nn.ModuleList(nn.Conv2d(c_in, c_out // 2, 1, stride=2, bias=False) for _ in range(2))
        self.norm = nn.BatchNorm2d(c_out)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(x)
        output: Tensor = self.norm(torch.cat([self.halves[0](x), self.halves[1](x[:, :, 1:, 1:])], dim=1))
        return output


def depthwise(channels: int, kernel: int, stride: int, dilation: int) -> list[nn.Module]:
    padding = dilation * (kernel - 1) // 2
    return [
        nn.ReLU(),
        nn.Conv2d(channels, channels, kernel, stride, padding, dilation, groups=channels, bias=False),
        nn.Conv2d(channels, channels, 1, bias=False),
        nn.BatchNorm2d(channels),
    ]


def darts_operation(name: str, channels: int, stride: int) -> nn.Module:
    kernel = int(name[-1]) if name[-1].isdigit() else 0
    if name.startswith("sep"):
        return nn.Sequential(*depthwise(channels, kernel, stride, 1), *depthwise(channels, kernel, 1, 1))
    if name.startswith("dil"):
        return nn.Sequential(*depthwise(channels, kernel, stride, 2))
    if name == "max_pool_3x3":
        return nn.MaxPool2d(3, stride, 1)
    if name == "avg_pool_3x3":
        return nn.AvgPool2d(3, stride, 1, count_include_pad=False)
    return nn.Identity() if stride == 1 else FactorizedReduce(channels, channels)


class DartsCell(nn.Module):
    def __init__(
        self,
        pairs: Sequence[tuple[str, int]],
        c_before: int,
        c_last: int,
        channels: int,
        reduces: bool,
        reduced_before: bool,
    ) -> None:
        super().__init__()
        self.before = FactorizedReduce(c_before, channels) if reduced_before else conv_bn(c_before, channels, 1)
        self.last = conv_bn(c_last, channels, 1)
        self.sources = [source for _, source in pairs]
        self.operations = nn.ModuleList(
            darts_operation(op, channels, 2 if reduces and source < 2 else 1) for op, source in pairs
        )

    def forward(self, before: Tensor, last: Tensor) -> Tensor:
        nodes = [self.before(before), self.last(last)]
        for first in range(0, 8, 2):
            nodes.append(sum(self.operations[e](nodes[self.sources[e]]) for e in (first, first + 1)))
        return torch.cat(nodes[2:], dim=1)


class Darts(nn.Module):
    def __init__(self, genotype: Any, channels: int, cells: int, auxiliary: bool, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 3 * channels, 3, padding=1, bias=False), nn.BatchNorm2d(3 * channels))
        c_before = c_last = 3 * channels
        self.cells = nn.ModuleList()
        self.auxiliary_after = 2 * cells // 3 if auxiliary else -1
        reduced = False
        for position in range(cells):
            reduces = position in (cells // 3, 2 * cells // 3)
            channels *= 2 if reduces else 1
            pairs = genotype.reduce if reduces else genotype.normal
            self.cells.append(DartsCell(pairs, c_before, c_last, channels, reduces, reduced))
            reduced, c_before, c_last = reduces, c_last, 4 * channels
            if position == self.auxiliary_after:
                self.head = nn.Sequential(
                    nn.ReLU(),
                    nn.AvgPool2d(5, stride=3, padding=0, count_include_pad=False),
                    nn.Conv2d(c_last, 128, 1, bias=False),
                    nn.BatchNorm2d(128),
                    nn.ReLU(),
                    nn.Conv2d(128, 768, 2, bias=False),
                    nn.BatchNorm2d(768),
                    nn.ReLU(),
                    nn.Flatten(),
                    nn.Linear(768, classes),
                )
        self.classifier = nn.Linear(c_last, classes)

    def forward(self, x: Tensor) -> Tensor:
        before = last = self.stem(x)
        for position, cell in enumerate(self.cells):
            before, last = last, cell(before, last)
            if position == self.auxiliary_after:
                self.head(last)
        output: Tensor = self.classifier(last.mean((2, 3)))
        return output
