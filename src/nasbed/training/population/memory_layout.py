"""Where everything of a population lies: the planes of all networks in one array, their parameters in another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nasbed.training.population.bundles import Bundling, Packing, Slots, Table, lanes_of
from nasbed.training.population.program import NetworkProgram, Planes, Sides

ALIGNMENT = 16
PARAMETER_BLOCK = 1024
"""The parameters of a network begin at a multiple of it, so that a block of that many belongs to one network."""


class PopulationMemory:
    """Bundles of planes in one array of ``size`` values, those of the images first. The parameters of network ``n``
    begin at ``offsets[n]`` of ``parameters``, in the order of its :class:`Packing`. ``lanes`` are the channels of a
    bundle, those that suit the programs by default."""

    def __init__(self, programs: Sequence[NetworkProgram], batch: int, *, lanes: int | None = None) -> None:
        self.programs, self.batch, self.size = programs, batch, 0
        self.lanes = lanes or lanes_of(programs)
        self.norms = max(program.norm_channels for program in programs)
        self.bundlings = [Bundling(program, self.lanes) for program in programs]
        self.packings = [Packing(*pair) for pair in zip(programs, self.bundlings, strict=True)]
        sizes = [-(-packing.size // PARAMETER_BLOCK) * PARAMETER_BLOCK for packing in self.packings]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.parameters = int(self.offsets[-1])
        self.places = [np.zeros(len(program.sides), dtype=np.int64) for program in programs]
        self.images = np.concatenate(
            [self.put(number, tuple(range(program.images))) for number, program in enumerate(programs)]
        )
        largest = max((side for program in programs for side in program.sides), key=lambda side: side[0] * side[1])
        self.zeros = int(self.new(1, largest)[0])

    def packed(self, weights: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        """The parameters of the networks, one after the other, from those of each in its own order."""
        packed = np.zeros(self.parameters, dtype=np.float32)
        for offset, packing, values in zip(self.offsets[:-1], self.packings, weights, strict=True):
            packed[offset + packing.places()] = values[: packing.program.parameters]
        return packed

    def new(self, count: int, side: Sides) -> Table:
        """Places of new bundles."""
        span, first = self.span(side), self.size
        self.size += count * span
        return first + span * np.arange(count)

    def span(self, side: Sides) -> int:
        """The values of a bundle."""
        return -(-self.batch * side[0] * side[1] * self.lanes // ALIGNMENT) * ALIGNMENT

    def slots(self, number: int, planes: Planes) -> Slots:
        """The bundles of planes of a network."""
        return self.bundlings[number].slots(planes)

    def put(self, number: int, planes: Planes) -> Table:
        """Give planes of a network a place, and return it."""
        slots = self.slots(number, planes)
        places = self.new(len(slots), self.programs[number].sides[planes[0]])
        self.places[number][slots.planes] = places
        return places

    def places_of(self, number: int, planes: Planes) -> Table:
        """The places of the bundles of planes."""
        return self.places[number][self.slots(number, planes).planes]

    def parameter(self, number: int, place: int) -> int:
        """The place of a parameter among those of all networks."""
        return int(self.offsets[number]) + self.packings[number].place(place)


class GradientParts:
    """For each bundle of a network, named by its first plane, some numbers in the order in which they came: the places
    of the parts of its gradient."""

    def __init__(self, planes: int) -> None:
        self.counts = np.zeros(planes, dtype=np.int64)
        self.values = np.zeros((planes, 4), dtype=np.int64)

    def add(self, planes: Table, values: Table) -> None:
        """One more for each of these distinct planes."""
        counts = self.counts[planes]
        if len(counts) and counts.max() >= self.values.shape[1]:
            self.values = np.concatenate([self.values, np.zeros_like(self.values)], axis=1)
        self.values[planes, counts] = values
        self.counts[planes] += 1

    def replace(self, planes: Table, values: Table) -> None:
        self.values[planes, 0] = values
        self.counts[planes] = 1

    def listed(self, planes: Table) -> Table:
        """All numbers of these planes, plane after plane."""
        valid = np.arange(self.values.shape[1]) < self.counts[planes][:, None]
        return self.values[planes][valid]
