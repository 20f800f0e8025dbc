"""Differentiable pruners: gates that are open or closed, and yet pass a gradient on to what decides it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nasbed.spaces.bonsai.frame import SIZES, Frame

TEETH = 1e5
"""How many teeth the sawtooth has between 0 and 1."""


def sawtooth(weights: Tensor, teeth: float = TEETH) -> Tensor:
    """(teeth · w - ⌊teeth · w⌋) / teeth: nowhere above 1 / teeth, with slope 1 nearly everywhere."""
    return torch.remainder(weights, 1 / teeth)


def gate(weights: Tensor) -> Tensor:
    """1 where a weight is above 0, else 0, with the gradient of the sawtooth.

    The paper adds the sawtooth itself, which vanishes as its teeth grow in number. Here it is subtracted again without
    its gradient, so that a gate is exactly open or closed.
    """
    soft = sawtooth(weights)
    return (weights > 0).to(weights.dtype) + (soft - soft.detach())


class Pruners(nn.Module):
    """A pruner for everything that can be kept, in the order of the frame's flags, and for how much of each of the last
    ``interval`` epochs its gate was open."""

    removed: Tensor
    opened: Tensor
    shares: Tensor
    epochs: Tensor

    def __init__(self, frame: Frame, *, start: float, bound: float, interval: int) -> None:
        super().__init__()
        self.start, self.bound = start, bound
        self.weights = nn.Parameter(torch.full((frame.count,), start))
        self.register_buffer("removed", torch.zeros(frame.count, dtype=torch.bool))
        self.register_buffer("opened", torch.zeros(frame.count))
        self.register_buffer("shares", torch.zeros(interval, frame.count))
        self.register_buffer("epochs", torch.zeros((), dtype=torch.int64))

    def forward(self) -> Tensor:
        """The gates; that of what is removed stays closed and has no gradient."""
        return gate(self.weights).masked_fill(self.removed, 0.0)

    @torch.no_grad()
    def observe(self, gates: Tensor) -> None:
        """Count which gates are open in a step."""
        self.opened += gates

    @torch.no_grad()
    def clamp(self) -> None:
        """Keep the weights where a few steps open or close them."""
        self.weights.clamp_(-self.bound, self.bound)

    @torch.no_grad()
    def end_epoch(self, steps: int) -> None:
        """Note the shares of an epoch's steps."""
        self.shares.copy_(torch.cat([self.shares[1:], self.opened[None] / steps]))
        self.opened.zero_()
        self.epochs += 1

    def withered(self, least: float) -> list[int]:
        """What has been open in less than such a share of the last ``interval`` epochs, the least first; nothing before
        there were so many."""
        if int(self.epochs) < len(self.shares):
            return []
        shares, weights = self.shares.double().mean(dim=0).tolist(), self.weights.tolist()
        removed = self.removed.tolist()
        withered = [flag for flag, share in enumerate(shares) if share < least and not removed[flag]]
        return sorted(withered, key=lambda flag: (shares[flag], weights[flag], flag))

    def open(self) -> list[bool]:
        """Which gates are open now."""
        flags: list[bool] = ((self.weights > 0) & ~self.removed).tolist()
        return flags

    @torch.no_grad()
    def reopen(self) -> None:
        """Open every gate of what is not removed, as at first."""
        self.weights.fill_(self.start)


class Compression(nn.Module):
    """The compression loss: how far the open gates of each cell are from what they shall take."""

    operations: Tensor
    inputs: Tensor
    one_input: Tensor

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        cells = len(frame.cells)
        operations, inputs = torch.zeros(cells, frame.count), torch.zeros(cells, frame.count)
        for cell in range(cells):
            for edge in range(len(frame.edges)):
                _fill(operations[cell], frame.operations(cell, edge), SIZES)
            _fill(inputs[cell], frame.inputs(cell), [1] * (cell + 1))
        self.register_buffer("operations", operations / operations.sum(dim=1, keepdim=True))
        self.register_buffer("inputs", inputs / inputs.sum(dim=1, keepdim=True))
        self.register_buffer("one_input", inputs.sum(dim=1).reciprocal())

    def forward(self, gates: Tensor, aim: float) -> tuple[Tensor, Tensor]:
        """The Euclidean distance, over the cells, of the share of size that is open from the aim, and of the share of
        inputs from one input alone."""
        return torch.linalg.vector_norm(self.operations @ gates - aim), torch.linalg.vector_norm(
            self.inputs @ gates - self.one_input
        )


def _fill(row: Tensor, flags: range, values: Sequence[int]) -> None:
    row[flags.start : flags.stop] = torch.tensor(values, dtype=row.dtype)
