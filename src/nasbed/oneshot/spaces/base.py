"""What a space needs to be searched in one shot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.oneshot.cells import Layout, SupernetCells
from nasbed.oneshot.mixing import Mixing

Strengths = NDArray[Any]
"""How strong each candidate is, ``[kinds, edges, candidates]``, 0 or more."""
Selected = tuple[tuple[int | None, ...], ...]
Counterparts = Iterator[tuple[nn.Module, nn.Module]]


@dataclass(frozen=True, slots=True)
class SupernetSize:
    """How large a supernet is. ``cells`` is that of the space's skeleton, in nb201 of each stage, None for the usual
    number; ``shape`` is channels, height and width of an image.

    Batch normalisations have no scale and shift unless ``affine``; with ``normalised_pools`` there is one behind each
    pooling, which brings its output to the scale of the convolutions'. Neither is so in networks of the space.
    """

    channels: int
    cells: int | None
    shape: tuple[int, int, int]
    classes: int
    affine: bool = False
    normalised_pools: bool = True


class Supernet(nn.Module):
    """A network that computes every architecture of a space. The weights of the mixing are no parameters of it."""

    def forward(self, x: Tensor, mixing: Mixing) -> Tensor:
        """The logits."""
        raise NotImplementedError

    def mixed(self, position: int) -> nn.ModuleList:
        """The edges of the cell at a position."""
        raise NotImplementedError


class SearchedSpace(ABC):
    """A space with a supernet, and how an architecture is read from the strengths of its candidates."""

    name: str

    @abstractmethod
    def cells(self, *, with_none: bool) -> SupernetCells:
        """The cells with their candidates, among them one that carries nothing if asked for or if the space has it."""

    @abstractmethod
    def supernet(self, size: SupernetSize, cells: SupernetCells, layout: Layout) -> Supernet:
        """A supernet with torch's own initial weights."""

    @abstractmethod
    def skeleton(self, size: SupernetSize) -> Any:
        """What stands around the cells, for ``networks.build``."""

    @abstractmethod
    def strongest(self, strengths: Strengths, cells: SupernetCells) -> Architecture:
        """The architecture that keeps the strongest operations."""

    @abstractmethod
    def selected(self, arch: Architecture, cells: SupernetCells) -> Selected:
        """Which candidate each edge of an architecture has, None for an edge that it has not."""

    @abstractmethod
    def counterparts(
        self, network: nn.Module, supernet: Supernet, arch: Architecture, cells: SupernetCells
    ) -> Counterparts:
        """The parts of an architecture's network, each with what computes the same in the supernet."""

    def skips(self, arch: Architecture) -> dict[str, int]:
        """How many skip connections each kind of cell has."""
        cells = self.cells(with_none=False)
        skip = cells.operations.index("skip_connect")
        return {kind: row.count(skip) for kind, row in zip(cells.kinds, self.selected(arch, cells), strict=True)}

    def one_hot(
        self,
        arch: Architecture,
        cells: SupernetCells,
        *,
        device: torch.device | Literal["cpu"] = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> Mixing:
        """The mixing at which a supernet computes just this architecture, and nothing else."""
        chosen = self.selected(arch, cells)
        weights = torch.zeros(cells.shape, dtype=dtype)
        for kind, row in enumerate(chosen):
            for edge, op in enumerate(row):
                if op is not None:
                    weights[kind, edge, op] = 1.0
        return Mixing(weights.to(device, non_blocking=True), selected=chosen)
