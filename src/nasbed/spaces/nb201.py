"""The NAS-Bench-201 search space (the topology space of NATS-Bench)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import ParseError, shorten
from nasbed.spaces.base import Batch, Codes
from nasbed.spaces.edge_cell import EDGES, EdgeCellSpace, edge_path_encoding
from nasbed.spaces.edge_functions import representatives
from nasbed.spaces.facts import CellGraph, NamedPart, Operations
from nasbed.spaces.image_size import Image, halved, plain, sides
from nasbed.spaces.native_text import NativeTextSpace
from nasbed.spaces.skeleton_checks import check_at_least_one

OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
NONE, SKIP, CONV1, CONV3, POOL = range(5)
_STRING = re.compile(r"\|([^|~]+)~0\|\+\|([^|~]+)~0\|([^|~]+)~1\|\+\|([^|~]+)~0\|([^|~]+)~1\|([^|~]+)~2\|")


@dataclass(frozen=True, slots=True)
class NB201Skeleton:
    """The network around the cell: a 3x3 stem, three stages of equal cells, a residual block that halves the
    resolution, upwards, and doubles the channels between stages, a classifier. ``image`` is height and width, or the
    side of a square."""

    channels: int = 16
    cells_per_stage: int = 5
    image: Image = 32
    classes: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "image", plain(self.image))
        check_at_least_one(self, "channels", "cells_per_stage", "classes")

    @property
    def stages(self) -> tuple[tuple[int, int], ...]:
        """(channels, pixels) of each stage."""
        first = sides(self.image)
        stages = (first, halved(first), halved(halved(first)))
        return tuple((self.channels << stage, height * width) for stage, (height, width) in enumerate(stages))


USUAL = NB201Skeleton()
PUBLISHED_SKELETONS = {
    "cifar10": USUAL,
    "cifar100": NB201Skeleton(classes=100),
    "imagenet16-120": NB201Skeleton(classes=120, image=16),
}


def has_no_pooling(arch: Architecture) -> bool:
    """Whether a cell is one of the micro space of TransNAS-Bench-101 as well: 4 096 of 15 625 are."""
    return POOL not in arch.code


PARTS = {"no-pooling": NamedPart(":no-pooling", has_no_pooling, size=4_096)}


class NB201(NativeTextSpace, EdgeCellSpace):
    """A cell of four nodes in which each of the six edges carries one of five operations.

    ``code[i]`` is the operation on ``EDGES[i]``. The native form is the published string
    ``|nor_conv_3x3~0|+|none~0|skip_connect~1|+|…|``. Cells that compute the same function are kept apart, as in the
    published table.
    """

    name = "nb201"
    title = "NAS-Bench-201: four nodes, five operations on six edges"
    citation = "Dong & Yang, NAS-Bench-201: Extending the Scope of Reproducible NAS, ICLR 2020, arXiv:2001.00326"
    encodings = ("onehot", "path", "config")
    cell_title = "NAS-Bench-201 cell"
    choices = (OPERATIONS,) * len(EDGES)
    skeleton = NB201Skeleton
    published_skeletons = PUBLISHED_SKELETONS
    operations = Operations(tuple(range(len(EDGES))), OPERATIONS, ("skip_connect", "avg_pool_3x3"))
    cell_graph = CellGraph(("cell",), EDGES, OPERATIONS)
    parts = PARTS

    def format(self, arch: Architecture) -> str:
        nodes: dict[int, str] = {}
        for (source, target), op in zip(EDGES, arch.code, strict=True):
            nodes[target] = nodes.get(target, "|") + f"{OPERATIONS[op]}~{source}|"
        return "+".join(nodes.values())

    def parse(self, text: str) -> Architecture:
        match = _STRING.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise ParseError(f"an nb201 cell reads |op~0|+|op~0|op~1|+|op~0|op~1|op~2|, got {shorten(text)}")
        return self.from_options(match.groups())

    # --- costs -------------------------------------------------------------------------------------------------------

    def parameters(self, archs: Batch, skeleton: NB201Skeleton | None = None) -> NDArray[np.int64]:
        """Trainable parameters, as published."""
        skeleton = skeleton or USUAL
        ones, threes, _ = self._operation_counts(archs)
        total = np.zeros(len(ones), dtype=np.int64)
        for channels, _pixels in skeleton.stages:
            cell = (ones + 9 * threes) * channels**2 + (ones + threes) * 2 * channels
            total += skeleton.cells_per_stage * cell
        weights, normalised, _ = _fixed_parts(skeleton)
        return total + weights + 2 * normalised + skeleton.classes

    def multiply_adds(self, archs: Batch, skeleton: NB201Skeleton | None = None) -> NDArray[np.int64]:
        """Multiply-adds of one forward pass: convolutions and the classifier; pooling, ReLU and normalisation not
        counted."""
        skeleton = skeleton or USUAL
        ones, threes, _ = self._operation_counts(archs)
        total = np.full(len(ones), _fixed_parts(skeleton)[2], dtype=np.int64)
        for channels, pixels in skeleton.stages:
            total += skeleton.cells_per_stage * pixels * (ones + 9 * threes) * channels**2
        return total

    def published_flops(self, archs: Batch) -> NDArray[np.int64]:
        """The ``flops`` of the published CIFAR-10 tables, which are not plain multiply-adds.

        To the convolutions they add 3 for each output element of a convolution edge (ReLU 1, batch normalisation 2) and
        9 for each of an average-pooling edge. The activations of the fixed parts add 160 832.
        """
        skeleton = USUAL
        ones, threes, pools = self._operation_counts(archs)
        elements = skeleton.cells_per_stage * sum(channels * pixels for channels, pixels in skeleton.stages)
        return self.multiply_adds(archs) + elements * (3 * (ones + threes) + 9 * pools) + 160_832

    def _operation_counts(self, archs: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """How many 1x1 convolutions, 3x3 convolutions and poolings each cell has."""
        codes = self.codes(archs)
        ones, threes, pools = ((codes == op).sum(axis=1) for op in (CONV1, CONV3, POOL))
        return ones, threes, pools

    def costs(self, archs: Batch, skeleton: NB201Skeleton | None = None) -> NDArray[np.int64]:
        fixed, by_operation = _cost_table(skeleton or USUAL)
        costs: NDArray[np.int64] = by_operation[self.codes(archs)].sum(axis=1) + fixed
        return costs

    def properties(self, archs: Batch) -> dict[str, NDArray[Any]]:
        return {
            "parameters": self.parameters(archs),
            "multiply_adds": self.multiply_adds(archs),
            "published_flops": self.published_flops(archs),
        }

    def function_codes(self, archs: Batch) -> Codes:
        """There are 4 954 different functions among the 15 625 cells."""
        return representatives(self.codes(archs), OPERATIONS)

    # --- features ---------------------------------------------------------------------------------------

    def _encode_path(self, codes: Codes) -> NDArray[np.float32]:
        return edge_path_encoding(codes, len(OPERATIONS) - 1)


def _fixed_parts(skeleton: NB201Skeleton) -> tuple[int, int, int]:
    """Weights, normalised channels and multiply-adds of stem, residual blocks and classifier (its bias left out)."""
    (first, pixels), *later = skeleton.stages
    weights, normalised, multiply_adds = 27 * first, first, 27 * first * pixels
    for channels, pixels in later:
        block = 9 * channels * channels // 2 + 9 * channels**2 + channels * channels // 2
        weights += block
        normalised += 2 * channels
        multiply_adds += block * pixels
    last = skeleton.stages[-1][0]
    classifier = last * skeleton.classes
    return weights + classifier, normalised + last, multiply_adds + classifier


@lru_cache(maxsize=32)
def _cost_table(skeleton: NB201Skeleton) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Parameters and multiply-adds of a network without operations, and what one edge adds by its operation."""
    space, one_edge = NB201(), np.zeros((len(OPERATIONS), len(EDGES)), dtype=np.int64)
    one_edge[:, 0] = range(len(OPERATIONS))
    costs = np.stack([space.parameters(one_edge, skeleton), space.multiply_adds(one_edge, skeleton)], axis=1)
    return costs[NONE], costs - costs[NONE]
