"""Channels of dense networks lie in bundles that whatever is computed together agrees on."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from populations import SKELETONS, networks, programs

from nasbed.training.population.bundles import LANES, Bundling, Packing, lanes_of
from nasbed.training.population.program import Combine, NetworkProgram, Norm, Pool, read_planes

DENSE = ("nb101", "nb201", "transnas-micro", "transnas-macro")


@cache
def traced(name: str) -> list[NetworkProgram]:
    return programs(networks(name, 6, seed=1), SKELETONS[name][1])


@pytest.mark.parametrize("name", SKELETONS)
def test_lanes_are_eight_for_dense_convolutions_and_one_for_depthwise_ones(name: str) -> None:
    assert lanes_of(traced(name)) == (LANES if name in DENSE else 1)


@pytest.mark.parametrize("name", DENSE)
def test_bundles_hold_eight_channels_at_most_and_sums_agree_in_their_lanes(name: str) -> None:
    for program in traced(name):
        bundling = Bundling(program, LANES)
        for operation in program.operations:
            sequences = [read_planes(operation)] if not isinstance(operation, Combine) else []
            if isinstance(operation, Combine):
                sequences = [term.planes for term in operation.terms]
            if not isinstance(operation, Norm):
                sequences.append(operation.outputs)
            for planes in sequences:
                slots = bundling.slots(planes)
                assert slots.counts.sum() == len(planes) and slots.counts.max() <= LANES
                for first, count in zip(slots.first, slots.counts, strict=True):
                    run = planes[first : first + count]
                    assert list(run) == list(range(run[0], run[0] + count)), "lanes of a bundle follow each other"
            if isinstance(operation, Combine | Pool):
                assert len({tuple(bundling.slots(planes).first) for planes in sequences}) == 1


@pytest.mark.parametrize("name", SKELETONS)
def test_every_parameter_has_a_place_of_its_own_and_layers_begin_where_they_are_looked_up(name: str) -> None:
    for program in traced(name)[:4]:
        packing = Packing(program, Bundling(program, lanes_of([program])))
        places = packing.places()
        assert len(set(places.tolist())) == program.parameters and places.min() >= 0 and places.max() < packing.size
        if lanes_of([program]) == 1:
            np.testing.assert_array_equal(places, np.arange(program.parameters))
        for operation in program.operations:
            if not isinstance(operation, Combine | Pool):
                assert packing.place(operation.weight) == places[operation.weight]
        assert packing.place(program.head.weight) == places[program.head.weight]
