"""A list of architectures as a space: what is drawn, mutated or met as a neighbour is on it."""

from __future__ import annotations

import pickle

import numpy as np

from nasbed import space
from nasbed.spaces.listed import FEWEST, ListedSpace
from nasbed.spaces.nb201 import POOL

NB201 = space("nb201")
ALL = NB201.codes(list(NB201.enumerate()))


def listed(codes: np.ndarray) -> ListedSpace:
    return ListedSpace(NB201, "a list", codes)


def test_dense_list_has_the_neighbours_of_the_whole_space_that_are_on_it() -> None:
    part = listed(ALL[(ALL != POOL).all(axis=1)])
    arch = next(part.enumerate())
    expected = [neighbor for neighbor in NB201.neighbors(arch) if POOL not in neighbor.code]
    assert list(part.neighbors(arch)) == expected and len(expected) == 18 and part.size == 4096


def test_sparse_list_has_the_nearest_as_neighbours() -> None:
    """Of random cells those with the fewest different edges; the first rows where several are as near."""
    codes = ALL[np.random.default_rng(0).permutation(len(ALL))[:60]]
    part = listed(codes)
    for arch in part.enumerate():
        edges = (codes != np.array(arch.code)).sum(axis=1)
        near = [neighbor.code for neighbor in part.neighbors(arch)]
        assert len(set(near)) == len(near) == FEWEST and arch.code not in near
        assert sorted((np.array(near) != np.array(arch.code)).sum(axis=1)) == sorted(edges)[1 : FEWEST + 1]


def test_draws_and_mutants_are_listed_and_reach_all_of_a_list() -> None:
    codes = ALL[::300]
    part, rng = listed(codes), np.random.default_rng(0)
    members = {tuple(code) for code in codes.tolist()}
    draws = [part.sample(rng) for _ in range(2000)]
    assert {arch.code for arch in draws} == members == {arch.code for arch in part.enumerate()}
    for arch in draws[:50]:
        part.validate(part.mutate(arch, rng))
        assert part.mutate(arch, rng).code in members - {arch.code}
    single = listed(codes[:1])
    assert single.mutate(draws[0], rng) in (draws[0], next(single.enumerate()))


def test_listed_space_can_be_pickled() -> None:
    part = listed(ALL[::300])
    copy = pickle.loads(pickle.dumps(part))
    arch = next(copy.enumerate())
    assert list(copy.neighbors(arch)) == list(part.neighbors(arch)) and copy.contains(arch)
