"""The FBNet space: 22 layers in a row, each one of nine blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import ParseError, shorten
from nasbed.spaces.base import Batch
from nasbed.spaces.choice import ChoiceSpace
from nasbed.spaces.facts import Operations
from nasbed.spaces.fbnet.costs import BLOCKS, CIFAR100, LAYERS, FBNetSkeleton, cost_table
from nasbed.spaces.graph import Diagram, Graphs, Node, chain_graphs, chain_links

_PAPER_SPELLING = {"k3_e1g2": "k3_e1_g2", "k5_e1g2": "k5_e1_g2"}


class FBNet(ChoiceSpace):
    """``code[i]`` is the block of layer ``i + 1``: kernel size ``k``, expansion ``e``, groups ``g``, or ``skip``.

    A ``skip`` is the identity, except where the shape changes: there it is a 1x1 convolution. Codes that differ only in
    where the identities stand within a stage are the same network; they are kept apart, as the papers count them.

    >>> space = FBNet()
    >>> arch = space.parse(", ".join(["k3_e1"] * 21 + ["k5_e1g2"]))
    >>> space.format(arch)[-14:]
    'k3_e1,k5_e1_g2'
    >>> space.parameters([arch]).tolist(), space.multiply_adds([arch]).tolist()
    ([1124308], [30580352])
    """

    name = "fbnet"
    title = "FBNet: 22 layers, nine blocks for each"
    citation = (
        "Wu, Dai, Zhang et al., FBNet: Hardware-Aware Efficient ConvNet Design via Differentiable Neural Architecture "
        "Search, CVPR 2019, arXiv:1812.03443"
    )
    choice_names = tuple(f"block_{layer}" for layer in range(1, LAYERS + 1))
    choices = (tuple(BLOCKS),) * LAYERS
    skeleton = FBNetSkeleton
    operations = Operations(tuple(range(LAYERS)), tuple(BLOCKS), ("skip",))

    def properties(self, archs: Batch) -> dict[str, NDArray[Any]]:
        return {"parameters": self.parameters(archs), "multiply_adds": self.multiply_adds(archs)}

    # --- text and foreign forms --------------------------------------------------------------------------------------

    def format(self, arch: Architecture) -> str:
        """The block names, joined by commas."""
        return ",".join(self.to_options(arch))

    def parse(self, text: str) -> Architecture:
        """Reads 22 block names separated by commas; ``k3_e1g2`` and ``k5_e1g2`` are understood as well."""
        if not isinstance(text, str):
            raise ParseError(f"{self.name} text is a str, got {type(text).__name__} {shorten(text)}; use from_native")
        blocks = [block.strip() for block in text.split(",")]
        if len(blocks) != LAYERS:
            raise ParseError(
                f"{self.name} text is {LAYERS} block names separated by commas, got {len(blocks)} in {shorten(text)}; "
                f"use {', '.join(BLOCKS)}"
            )
        return self._from_blocks(blocks)

    def to_native(self, arch: Architecture) -> list[int]:
        """The list of block indices that HW-NAS-Bench calls ``op_idx_list``."""
        return list(arch.code)

    def from_native(self, obj: Any) -> Architecture:
        """Reads a list, tuple, array or tensor of 22 block indices or names."""
        items = obj.tolist() if hasattr(obj, "tolist") else obj
        if not isinstance(items, list | tuple) or len(items) != LAYERS:
            raise ParseError(
                f"a native {self.name} architecture is a list of {LAYERS} block indices or names, "
                f"got {type(obj).__name__} {shorten(obj)}; use parse for text"
            )
        return self._from_blocks(items)

    def _from_blocks(self, blocks: list[Any] | tuple[Any, ...]) -> Architecture:
        return self.from_options([_PAPER_SPELLING.get(b, b) if isinstance(b, str) else b for b in blocks])

    # --- what a network costs ----------------------------------------------------------------------------------------

    def parameters(self, archs: Batch, skeleton: FBNetSkeleton = CIFAR100) -> NDArray[np.int64]:
        """The trainable parameters of each network, ``[n]``, with two a channel for batch normalisation."""
        table, codes = cost_table(skeleton), self.codes(archs)
        total: NDArray[np.int64] = table.parameters[np.arange(LAYERS), codes].sum(axis=1) + table.fixed_parameters
        return total

    def multiply_adds(self, archs: Batch, skeleton: FBNetSkeleton = CIFAR100) -> NDArray[np.int64]:
        """The multiply-adds of each network on one image, ``[n]``: those of the convolutions and of the linear layer.

        Bias additions, batch normalisation, activations, residual additions and pooling are not counted.
        """
        table, codes = cost_table(skeleton), self.codes(archs)
        total: NDArray[np.int64] = table.multiply_adds[np.arange(LAYERS), codes].sum(axis=1) + table.fixed_multiply_adds
        return total

    def costs(self, archs: Batch, skeleton: FBNetSkeleton | None = None) -> NDArray[np.int64]:
        network, codes = skeleton or CIFAR100, self.codes(archs)
        return np.stack([self.parameters(codes, network), self.multiply_adds(codes, network)], axis=1)

    # --- graphs and diagrams -----------------------------------------------------------------------------------------

    def graphs(self, archs: Batch) -> Graphs:
        """Chains of 24 nodes: the input, the blocks, the output. A block's label is its index."""
        return chain_graphs(self.codes(archs), self.choices[0])

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """One picture, a row a stage."""
        places = [(column, row) for row, count in enumerate(CIFAR100.stage_layers) for column in range(1, count + 1)]
        blocks = [
            Node(label, block, at=place)
            for label, block, place in zip(self.choice_names, self.to_options(arch), places, strict=True)
        ]
        column, row = places[-1]
        nodes = (
            Node("input", "input", "input", at=(0, 0)),
            *blocks,
            Node("output", "output", "output", at=(column + 1, row)),
        )
        return (Diagram("FBNet network", nodes, chain_links(nodes)),)
