"""Parameters and multiply-adds of a NAS-Bench-101 network, in closed form over a batch of cells.

Channels (section 2.3 and the published builder): the vertices that feed the output share its channels evenly, and the
remainder goes one each to the earliest. Any other interior vertex has as many as the largest it feeds. An edge from the
input is a 1x1 convolution; every convolution is followed by batch normalisation (two parameters a channel) and has no
bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.spaces.image_size import Image, plain, sides
from nasbed.spaces.nb101.canonical import compact_batch
from nasbed.spaces.nb101.cell import FIRST_BIT, MAX_VERTICES, Compact, compact
from nasbed.spaces.skeleton_checks import check_at_least_one

AREA = (9, 1, 0)
"""Weights a channel pair of each operation."""
KERNEL_AREA = np.array(AREA)


@dataclass(frozen=True, slots=True)
class NB101Skeleton:
    """The network around the cell: a 3x3 stem, stacks of equal cells with halved resolution and doubled channels
    between, a classifier. ``image`` is height and width, or the side of a square."""

    channels: int = 128
    stacks: int = 3
    cells_per_stack: int = 3
    image: Image = 32
    image_channels: int = 3
    classes: int = 10

    def __post_init__(self) -> None:
        check_at_least_one(self, "channels", "stacks", "cells_per_stack", "image_channels", "classes")
        object.__setattr__(self, "image", plain(self.image))

    def pixels(self, stack: int) -> int:
        """The pixels of the maps of a stack: both sides are halved, downwards, before each but the first."""
        height, width = sides(self.image)
        return (height >> stack) * (width >> stack)


def vertex_channels(vertices: NDArray[np.int64], edges: NDArray[np.int64], channels_out: int) -> NDArray[np.int64]:
    """The channels of every vertex ``[n, 7]`` of a batch of compact cells; 0 for the input and beyond the cell."""
    count = len(edges)
    channels = np.zeros((count, MAX_VERTICES), dtype=np.int64)
    last = vertices - 1
    into_output = (edges >> np.array(FIRST_BIT)[last]) & ~np.int64(1)
    share, remainder = np.divmod(channels_out, np.maximum(np.bitwise_count(into_output).astype(np.int64), 1))
    shared = np.zeros(count, dtype=np.int64)
    for vertex in range(1, MAX_VERTICES - 1):
        feeds_output = (into_output >> vertex & 1) * (vertex < last)
        channels[:, vertex] = feeds_output * (share + (shared < remainder))
        shared += feeds_output
    for vertex in range(MAX_VERTICES - 2, 0, -1):
        waiting = (channels[:, vertex] == 0) & (vertex < last)
        for target in range(vertex + 1, MAX_VERTICES - 1):
            fed = waiting & (target < last) & (edges >> (FIRST_BIT[target] + vertex) & 1 == 1)
            channels[:, vertex] = np.where(
                fed, np.maximum(channels[:, vertex], channels[:, target]), channels[:, vertex]
            )
    channels[np.arange(count), last] = channels_out
    return channels


def _module(
    vertices: NDArray[np.int64],
    edges: NDArray[np.int64],
    ops: NDArray[np.int64],
    channels_in: int,
    channels_out: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The convolution weights of one cell, and its normalised channels."""
    channels = vertex_channels(vertices, edges, channels_out)
    last = vertices - 1
    weights = np.zeros(len(edges), dtype=np.int64)
    normalised = np.zeros(len(edges), dtype=np.int64)
    for vertex in range(1, MAX_VERTICES):
        width = channels[:, vertex]
        projected = (edges >> FIRST_BIT[vertex] & 1) * (vertex <= last)
        weights += projected * channels_in * width
        normalised += projected * width
        if vertex < MAX_VERTICES - 1:
            area = KERNEL_AREA[ops[:, vertex - 1]] * (vertex < last)
            weights += area * width * width
            normalised += (area > 0) * width
    return weights, normalised


def network_costs(codes: NDArray[np.int64], skeleton: NB101Skeleton) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Parameters and multiply-adds of each network; the cells are taken as given, not in canonical form."""
    if len(codes) == 1:
        parameters, multiply_adds = one_network(tuple(codes[0].tolist()), skeleton)
        return np.array([parameters]), np.array([multiply_adds])
    return many_networks(codes, skeleton)


def many_networks(codes: NDArray[np.int64], skeleton: NB101Skeleton) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """:func:`network_costs` of a batch, column by column."""
    vertices, edges, ops = compact_batch(codes)
    channels = skeleton.channels
    stem = 9 * skeleton.image_channels * channels
    parameters = np.full(len(codes), stem + 2 * channels, dtype=np.int64)
    multiply_adds = np.full(len(codes), stem * skeleton.pixels(0), dtype=np.int64)
    channels_in = channels
    for stack in range(skeleton.stacks):
        if stack:
            channels *= 2
        for _ in range(skeleton.cells_per_stack):
            weights, normalised = _module(vertices, edges, ops, channels_in, channels)
            parameters += weights + 2 * normalised
            multiply_adds += weights * skeleton.pixels(stack)
            channels_in = channels
    classifier = channels * skeleton.classes
    return parameters + classifier + skeleton.classes, multiply_adds + classifier


def one_network(code: tuple[int, ...], skeleton: NB101Skeleton) -> tuple[int, int]:
    """:func:`network_costs` of a single cell in plain Python, twenty times faster than as a batch of one."""
    cell = compact(code)
    channels = skeleton.channels
    stem = 9 * skeleton.image_channels * channels
    parameters, multiply_adds = stem + 2 * channels, stem * skeleton.pixels(0)
    channels_in = channels
    for stack in range(skeleton.stacks):
        if stack:
            channels *= 2
        vertices = _channels_of_one(cell, channels)
        from_input = sum(width for width, sources in vertices if sources & 1)
        area = [AREA[op] for op in cell.ops]
        inner = sum(
            weights_per_pair * width * width for weights_per_pair, (width, _) in zip(area, vertices, strict=False)
        )
        normalised = from_input + sum(
            width for weights_per_pair, (width, _) in zip(area, vertices, strict=False) if weights_per_pair
        )
        pixels = skeleton.pixels(stack)
        for fed in (channels_in, *(channels,) * (skeleton.cells_per_stack - 1)):
            weights = inner + fed * from_input
            parameters += weights + 2 * normalised
            multiply_adds += weights * pixels
        channels_in = channels
    classifier = channels * skeleton.classes
    return parameters + classifier + skeleton.classes, multiply_adds + classifier


def _channels_of_one(cell: Compact, channels_out: int) -> list[tuple[int, int]]:
    """The channels and the sources, as bits, of each vertex after the input."""
    last = cell.vertices - 1
    sources = [cell.edges >> FIRST_BIT[vertex] & ((1 << vertex) - 1) for vertex in range(1, cell.vertices)]
    feeding = [vertex for vertex in range(1, last) if sources[-1] >> vertex & 1]
    share, remainder = divmod(channels_out, max(len(feeding), 1))
    channels = [0] * last + [channels_out]
    for place, vertex in enumerate(feeding):
        channels[vertex] = share + (place < remainder)
    for vertex in range(last - 1, 0, -1):
        if not channels[vertex]:
            targets = range(vertex + 1, last)
            channels[vertex] = max((channels[to] for to in targets if sources[to - 1] >> vertex & 1), default=0)
    return list(zip(channels[1:], sources, strict=True))
