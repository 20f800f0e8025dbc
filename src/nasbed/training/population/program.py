"""A network as a list of operations on planes.

A plane is one channel of one activation: its values over the images of a batch, row by row. Concatenating, cutting off
and passing on channels only names planes, so nothing is copied for it; what is left to compute are six operations.
Parameters are named by their place in the network's flattened parameters, in the order of ``named_parameters``;
normalisations by the place of their channels among all the network's.
"""

from __future__ import annotations

from dataclasses import dataclass

Planes = tuple[int, ...]

Sides = tuple[int, int]
"""Height and width."""


@dataclass(frozen=True, slots=True)
class Conv:
    """Every output plane from every input plane. A window begins ``shift`` pixels after its place, at most ``-padding``
    in the usual way of counting; ``relu`` is applied to what is read."""

    inputs: Planes
    outputs: Planes
    kernel: int
    stride: int
    shift: int
    side_in: Sides
    side_out: Sides
    weight: int
    relu: bool


@dataclass(frozen=True, slots=True)
class Depthwise:
    """Every output plane from one input plane."""

    inputs: Planes
    outputs: Planes
    kernel: int
    stride: int
    dilation: int
    side_in: Sides
    side_out: Sides
    weight: int
    relu: bool


@dataclass(frozen=True, slots=True)
class Pool:
    """The largest value of a window, or the mean of those inside the image."""

    inputs: Planes
    outputs: Planes
    largest: bool
    kernel: int
    stride: int
    padding: int
    side_in: Sides
    side_out: Sides


@dataclass(frozen=True, slots=True)
class Norm:
    """The mean and deviation of each plane over the batch; what is made of them is computed where it is used."""

    inputs: Planes
    channels: int
    weight: int
    bias: int
    epsilon: float
    momentum: float


@dataclass(frozen=True, slots=True)
class Term:
    """Planes to add up, normalised first where ``norm`` (the place of the first channel) is not negative, then with the
    negative part cut off where ``relu``."""

    planes: Planes
    norm: int = -1
    relu: bool = False


@dataclass(frozen=True, slots=True)
class Combine:
    """The sum of terms; of none it is zero."""

    terms: tuple[Term, ...]
    outputs: Planes
    side: Sides


@dataclass(frozen=True, slots=True)
class Head:
    """The mean of each plane, then a linear layer."""

    inputs: Planes
    weight: int
    bias: int
    classes: int


Operation = Conv | Depthwise | Pool | Norm | Combine


@dataclass(frozen=True, slots=True)
class NetworkProgram:
    """All of a network, each operation after what it reads. The first planes are the channels of the images; ``sides``
    has the resolution of every plane."""

    operations: tuple[Operation, ...]
    head: Head
    sides: tuple[Sides, ...]
    images: int
    parameters: int
    norm_channels: int


def read_planes(operation: Operation) -> Planes:
    """The planes that an operation reads."""
    if isinstance(operation, Combine):
        return tuple(plane for term in operation.terms for plane in term.planes)
    return operation.inputs
