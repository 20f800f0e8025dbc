"""How the planes of a network are stored: alone, or in bundles of up to eight channels side by side for each pixel.

A dense convolution reads every channel of a pixel, at places that begin anywhere: bundled, each read is aligned and
eight channels wide. A depthwise convolution reads rows of one channel, which lie together where planes are alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.training.population.program import Combine, Conv, Depthwise, NetworkProgram, Norm, Planes, Pool, read_planes

LANES = 8
_BUNDLED_KERNELS = (1, 3)

Table = NDArray[np.int64]


def lanes_of(programs: Sequence[NetworkProgram]) -> int:
    """Channels of a bundle that suit these programs: 8 for dense convolutions, 1 where some are depthwise."""
    for program in programs:
        for operation in program.operations:
            if isinstance(operation, Depthwise):
                return 1
            if isinstance(operation, Conv) and operation.kernel not in _BUNDLED_KERNELS:
                return 1
    return LANES


@dataclass(frozen=True, slots=True)
class Slots:
    """The bundles that hold a sequence of planes: for each the plane in its first lane, where in the sequence that is,
    and how many of the sequence it holds."""

    planes: Table
    first: Table
    counts: Table

    def __len__(self) -> int:
        return len(self.planes)


class Bundling:
    """Which planes of a program begin a bundle; the others follow in the lanes after them.

    Planes that are added up or pooled into each other have to agree in their lanes. So they begin bundles at the same
    places, and every read begins with a first lane.
    """

    def __init__(self, program: NetworkProgram, lanes: int) -> None:
        self.lanes = lanes
        self._slots: dict[Planes, Slots] = {}
        count = len(program.sides)
        if lanes == 1:
            self.begins = np.ones(count, dtype=bool)
            return
        self.begins = np.zeros(count, dtype=bool)
        self.begins[0] = True
        alike = []
        for sequence in _sequences(program):
            planes = np.array(sequence)
            self.begins[planes[0]] = True
            self.begins[planes[1:][np.diff(planes) != 1]] = True
        for operation in program.operations:
            if isinstance(operation, Combine):
                together = [*(term.planes for term in operation.terms), operation.outputs]
                alike.append([np.array(members) for members in together])
            elif isinstance(operation, Pool):
                alike.append([np.array(operation.inputs), np.array(operation.outputs)])
        self._settle(alike)

    def _settle(self, alike: list[list[Table]]) -> None:
        """Begin bundles until all that must agree agree, and none has more planes than lanes."""
        places = np.arange(len(self.begins))
        while True:
            previous_begins = self.begins.copy()
            for sequences in alike:
                together = np.logical_or.reduce([self.begins[planes] for planes in sequences])
                for planes in sequences:
                    self.begins[planes] |= together
            since = places - np.maximum.accumulate(np.where(self.begins, places, 0))
            self.begins |= since % self.lanes == 0
            if (previous_begins == self.begins).all():
                return

    def slots(self, planes: Planes) -> Slots:
        """The bundles of planes that are read or written in this order."""
        if planes not in self._slots:
            sequence = np.array(planes, dtype=np.int64)
            first = np.flatnonzero(self.begins[sequence])
            self._slots[planes] = Slots(sequence[first], first, np.diff(first, append=len(sequence)))
        return self._slots[planes]

    def __getstate__(self) -> dict[str, object]:
        return {"lanes": self.lanes, "begins": self.begins, "_slots": {}}


def _sequences(program: NetworkProgram) -> Iterator[Planes]:
    """All planes that are read or written together."""
    for operation in program.operations:
        if isinstance(operation, Combine):
            yield from (term.planes for term in operation.terms)
        else:
            yield read_planes(operation)
        if not isinstance(operation, Norm):
            yield operation.outputs
    yield program.head.inputs


class Packing:
    """Where the parameters of a network lie for the kernels; ``size`` is how many places there are.

    Weights of bundled convolutions come first, as ``[tap, input lane, output lane]`` with room for lanes that hold
    nothing. Everything else follows in its order.
    """

    def __init__(self, program: NetworkProgram, bundling: Bundling) -> None:
        self.program, self.bundling = program, bundling
        convs = (
            [operation for operation in program.operations if isinstance(operation, Conv)] if bundling.lanes > 1 else []
        )
        self._convs = sorted(convs, key=lambda conv: conv.weight)
        self._starts: list[int] = []
        packed = 0
        for conv in self._convs:
            self._starts.append(packed)
            packed += conv.kernel**2 * len(bundling.slots(conv.inputs)) * len(bundling.slots(conv.outputs)) * LANES**2
        self._firsts = [conv.weight for conv in self._convs]
        lengths = [len(conv.inputs) * len(conv.outputs) * conv.kernel**2 for conv in self._convs]
        self._before = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self._rest = packed
        self.size = packed + program.parameters - int(self._before[-1])

    def place(self, parameter: int) -> int:
        """The place of a parameter that is the first of its layer."""
        number = bisect_right(self._firsts, parameter)
        if number and self._firsts[number - 1] == parameter:
            return self._starts[number - 1]
        return self._rest + parameter - int(self._before[number])

    def places(self) -> Table:
        """The places of all parameters."""
        places = np.empty(self.program.parameters, dtype=np.int64)
        unplaced = np.ones(self.program.parameters, dtype=bool)
        lanes = self.bundling.lanes
        for conv, start in zip(self._convs, self._starts, strict=True):
            inputs, outputs = self.bundling.slots(conv.inputs), self.bundling.slots(conv.outputs)
            wide_in, wide_out, taps = len(inputs) * lanes, len(outputs) * lanes, conv.kernel**2
            offsets = (np.arange(taps) * wide_in + _lanes(inputs, lanes)[:, None]) * wide_out
            offsets = start + offsets + _lanes(outputs, lanes)[:, None, None]
            span = slice(conv.weight, conv.weight + offsets.size)
            places[span], unplaced[span] = offsets.reshape(-1), False
        places[unplaced] = self._rest + np.arange(unplaced.sum())
        return places


def _lanes(slots: Slots, lanes: int) -> Table:
    """The lane of each plane of a sequence, counted over its bundles."""
    within = np.arange(slots.counts.sum()) - np.repeat(slots.first, slots.counts)
    places: Table = np.repeat(np.arange(len(slots)) * lanes, slots.counts) + within
    return places
