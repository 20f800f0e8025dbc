"""Random architectures of Bonsai-Net of about a given size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.spaces.bonsai.frame import OPERATIONS, SIZES, Frame

ATTEMPTS = 1_000


def random_flags(frame: Frame, rng: np.random.Generator, *, target: float) -> tuple[bool, ...]:
    """The flags of a random architecture. Every cell keeps operations, in a random order, as long as they fit into the
    share ``target`` of the cell's size. It keeps each of its n inputs with probability 1/n, or one of them if none is
    drawn. What leads nowhere then falls away, so the size is the target at the most; what does not reach the output is
    drawn again."""
    if not 0 < target <= 1:
        raise InvalidOption(f"the target of a random architecture is a share above 0 and up to 1, got {target}")
    for _ in range(ATTEMPTS):
        flags = [False] * frame.count
        for cell in range(len(frame.cells)):
            for flag in _random_cell(frame, cell, rng, target):
                flags[flag] = True
        pruned = frame.pruned(flags)
        if any(pruned):
            return pruned
    raise InvalidOption(f"no architecture of {frame} was found with the target {target}; use a larger target")


def _random_cell(frame: Frame, cell: int, rng: np.random.Generator, target: float) -> Iterator[int]:
    inputs = frame.inputs(cell)
    sampled = [flag for flag in inputs if rng.random() < 1 / len(inputs)]
    yield from sampled or [inputs[int(rng.integers(len(inputs)))]]
    flags = [flag for edge in range(len(frame.edges)) for flag in frame.operations(cell, edge)]
    room = target * len(frame.edges) * sum(SIZES)
    for position in rng.permutation(len(flags)).tolist():
        size = SIZES[position % len(OPERATIONS)]
        if size <= room:
            room -= size
            yield flags[position]
