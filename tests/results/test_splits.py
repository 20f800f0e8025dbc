"""Splits of rows: disjoint, complete, the same each time, and no architecture in two parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.core.errors import InvalidOption
from nasbed.results.splits import RowSplit, stratified_split
from support.examples import examples


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


@examples(50)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 300),
    methods=st.integers(1, 5),
    fractions=st.sampled_from([(0.8, 0.1, 0.1), (0.5, 0.25, 0.25), (1.0, 0.0, 0.0), (0.34, 0.33, 0.33)]),
)
def test_split_properties(seed: int, count: int, methods: int, fractions: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(seed)
    architecture = rng.integers(0, max(1, count // 2), size=count)
    method = rng.choice([f"m{i}" for i in range(methods)], size=count)
    split = stratified_split(method, architecture, np.random.default_rng(seed), fractions=fractions)
    parts = split.parts
    assert split.fitted.tolist() == sorted([*split.train.tolist(), *split.validation.tolist()])
    assert sorted(np.concatenate(parts).tolist()) == list(range(count)), "disjoint and complete"
    assert all((np.diff(part) > 0).all() for part in parts)
    of_part = [set(architecture[part].tolist()) for part in parts]
    assert sum(map(len, of_part)) == len(set(architecture.tolist())), "no architecture in two parts"
    _, first = np.unique(architecture, return_index=True)
    for name in np.unique(method[first]):
        members = set(architecture[first][method[first] == name].tolist())
        for part, fraction in zip(of_part, fractions, strict=True):
            assert abs(len(part & members) - fraction * len(members)) <= 1
    repeated = stratified_split(method, architecture, np.random.default_rng(seed), fractions=fractions)
    assert all((a == b).all() for a, b in zip(parts, repeated.parts, strict=True))


@pytest.mark.parametrize("fractions", [(0.8, 0.1, 0.2), (1.2, -0.1, -0.1), (math.nan, 0.5, 0.5)])
def test_split_fractions_add_up(fractions: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidOption, match="add up"):
        stratified_split(np.array(["a"]), np.array([0]), np.random.default_rng(0), fractions=fractions)


@given(seed=st.integers(0, 2**32), count=st.integers(1, 200), methods=st.integers(1, 5))
def test_split_does_not_depend_on_the_order_of_rows(seed: int, count: int, methods: int) -> None:
    """Where each architecture is of one method; one of several counts with the method of its first row."""
    rng = np.random.default_rng(seed)
    architecture = rng.integers(0, max(1, count // 2), size=count)
    method = np.array([f"m{number % methods}" for number in architecture])
    order = rng.permutation(count)
    first = stratified_split(method, architecture, np.random.default_rng(seed))
    second = stratified_split(method[order], architecture[order], np.random.default_rng(seed))
    for part, shuffled in zip(first.parts, second.parts, strict=True):
        assert part.tolist() == sorted(order[shuffled].tolist())


def test_split_refuses_rows_in_two_parts() -> None:
    with pytest.raises(InvalidOption, match="is in two parts of the split"):
        RowSplit(rows(0, 1), rows(2), rows(1, 3))
    with pytest.raises(InvalidOption, match="the row numbers of the validation part"):
        RowSplit(rows(0), rows(2, 1), rows(3))


def test_split_refuses_architectures_in_two_parts() -> None:
    split = RowSplit(rows(0, 1), rows(2), rows(3))
    split.check_architectures(rows(7, 7, 8, 9))
    with pytest.raises(InvalidOption, match="the rows of an architecture are in two parts"):
        split.check_architectures(rows(7, 8, 9, 8))


def test_split_of_some_rows_is_one_of_the_whole() -> None:
    split = RowSplit(rows(0, 2), rows(1), rows(3)).within(rows(4, 5, 8, 9))
    assert [part.tolist() for part in split.parts] == [[4, 8], [5], [9]]
