"""Rows of independent choices, some with a single option."""

from __future__ import annotations

import numpy as np
import pytest

from nasbed import Architecture
from nasbed.spaces.nats_sss import NatsSSS


class Menu(NatsSSS):
    name = "menu"
    choice_names = ("starter", "main", "dessert")

    def __init__(self, *sizes: int) -> None:
        self.choices = tuple(tuple(f"dish{number}" for number in range(size)) for size in sizes)


@pytest.mark.parametrize("sizes", [(1, 3, 2), (2, 1, 1), (3, 2, 4)])
def test_mutate_reaches_every_neighbour_and_nothing_else(sizes: tuple[int, ...]) -> None:
    space, rng = Menu(*sizes), np.random.default_rng(0)
    arch = Architecture("menu", (0, 0, 0))
    assert {space.mutate(arch, rng) for _ in range(300)} == set(space.neighbors(arch))


def test_mutate_of_a_space_of_one_architecture_is_that_architecture() -> None:
    space = Menu(1, 1, 1)
    only = next(iter(space.enumerate()))
    assert space.mutate(only, np.random.default_rng(0)) == only
