"""What a space needs to be searched in one shot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.mixing import Mixing
from nasbed.spaces import space as registered_space
from nasbed.spaces.facts import CellGraph

Strengths = NDArray[Any]
"""How strong each candidate is, ``[kinds, edges, candidates]``, 0 or more."""
Selected = tuple[tuple[int | None, ...], ...]


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
    """A network that computes every architecture of a space. The weights of the mixing are not its parameters."""

    def forward(self, x: Tensor, mixing: Mixing) -> Tensor:
        """The logits."""
        raise NotImplementedError

    def mixed(self, position: int) -> nn.ModuleList:
        """The edges of the cell at a position."""
        raise NotImplementedError


class SearchedSpace(ABC):
    """A space with a supernet, and how an architecture is read from the strengths of its candidates."""

    name: str

    def cells(self, *, with_none: bool) -> CellGraph:
        """The cells as the space declares them, with a candidate that carries nothing if asked for or if the space has
        it."""
        graph = registered_space(self.name).cell_graph
        if graph is None:
            raise InvalidOption(f"a space with a supernet declares its cell_graph, {self.name} has none; declare it")
        return graph.with_none() if with_none else graph

    @abstractmethod
    def supernet(self, size: SupernetSize, cells: CellGraph, layout: Layout) -> Supernet:
        """A supernet with torch's own initial weights."""

    @abstractmethod
    def skeleton(self, size: SupernetSize) -> Any:
        """What stands around the cells, for ``networks.build``."""

    @abstractmethod
    def strongest(self, strengths: Strengths, cells: CellGraph) -> Architecture:
        """The architecture that keeps the strongest operations."""

    @abstractmethod
    def selected(self, arch: Architecture, cells: CellGraph) -> Selected:
        """Which candidate each edge of an architecture has, None for an edge that it lacks."""

    def skips(self, arch: Architecture) -> dict[str, int]:
        """How many skip connections each kind of cell has."""
        cells = self.cells(with_none=False)
        skip = cells.operations.index("skip_connect")
        return {kind: row.count(skip) for kind, row in zip(cells.kinds, self.selected(arch, cells), strict=True)}

    def one_hot(
        self,
        arch: Architecture,
        cells: CellGraph,
        *,
        device: torch.device | Literal["cpu"] = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> Mixing:
        """The mixing at which a supernet computes just this architecture, and nothing else."""
        selected = self.selected(arch, cells)
        weights = torch.zeros(cells.shape, dtype=dtype)
        for kind, row in enumerate(selected):
            for edge, op in enumerate(row):
                if op is not None:
                    weights[kind, edge, op] = 1.0
        return Mixing(weights.to(device, non_blocking=True), selected=selected)
