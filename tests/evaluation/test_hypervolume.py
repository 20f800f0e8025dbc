"""Hypervolumes: closed forms, a count of grid cells, and what must hold for any points."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed import NasbedError
from nasbed.evaluation.hypervolume import hypervolume, non_dominated

GRID = 5


def points(objectives: int) -> st.SearchStrategy[list[tuple[int, ...]]]:
    return st.lists(st.tuples(*[st.integers(0, GRID)] * objectives), min_size=1, max_size=8)


ANY_POINTS = st.integers(1, 4).flatmap(points)


@given(ANY_POINTS)
def test_hypervolume_of_integer_points_is_the_count_of_dominated_cells(rows: list[tuple[int, ...]]) -> None:
    objectives = len(rows[0])
    cells = np.array(list(product(range(GRID), repeat=objectives)))
    dominated = sum(any((cell >= row).all() for row in np.array(rows)) for cell in cells)
    assert hypervolume(rows, [GRID] * objectives) == dominated


@given(ANY_POINTS)
def test_non_dominated_is_its_definition(rows: list[tuple[int, ...]]) -> None:
    for row, is_kept in zip(rows, non_dominated(rows), strict=True):
        dominated = any(all(a <= b for a, b in zip(rival, row, strict=True)) and rival != row for rival in rows)
        assert is_kept == (not dominated)


@given(points(3), st.permutations(range(3)))
def test_hypervolume_does_not_depend_on_the_order_of_objectives_or_on_dominated_points(
    rows: list[tuple[int, ...]], order: list[int]
) -> None:
    table = np.array(rows, dtype=float)
    volume = hypervolume(table, [GRID] * 3)
    assert hypervolume(table[:, order], [GRID] * 3) == pytest.approx(volume)
    assert hypervolume(table[non_dominated(table)], [GRID] * 3) == pytest.approx(volume)
    assert hypervolume(np.concatenate([table, table + 1]), [GRID] * 3) == pytest.approx(volume)


@pytest.mark.parametrize("count", [1, 10, 1000])
def test_hypervolume_of_a_straight_front_is_its_staircase(count: int) -> None:
    x = np.arange(count + 1) / count
    assert hypervolume(np.stack([x, 1 - x], axis=1), [1.0, 1.0]) == pytest.approx((1 - 1 / count) / 2)


def test_hypervolume_in_five_objectives_of_two_boxes_is_by_inclusion_and_exclusion() -> None:
    first, second = np.array([0.0, 0.5, 0.2, 0.9, 0.1]), np.array([0.5, 0.0, 0.4, 0.3, 0.6])
    expected = np.prod(1 - first) + np.prod(1 - second) - np.prod(1 - np.maximum(first, second))
    assert hypervolume([first, second], np.ones(5)) == pytest.approx(expected)


def test_hypervolume_ignores_what_is_beyond_the_reference_or_missing() -> None:
    assert hypervolume([[2.0, 0.0], [np.nan, 0.0], [1.0, 0.5]], [1.0, 1.0]) == 0
    assert hypervolume(np.empty((0, 2)), [1.0, 1.0]) == 0
    with pytest.raises(NasbedError, match="one number an objective"):
        hypervolume([[1.0, 2.0]], [1.0])
