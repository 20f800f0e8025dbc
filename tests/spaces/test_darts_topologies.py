"""The 180 topologies of a DARTS cell with ten sets of operations (Surrogate NAS Benchmarks, appendix E.7)."""

from __future__ import annotations

from collections import Counter

import numpy as np

import nasbed
from nasbed.experiments.architecture_lists import listed_architectures
from nasbed.spaces.darts.topologies import cell_topologies, same_cells, topology_codes
from nasbed.studies.validation.evaluations.cell_depths import cell_depths

DARTS = nasbed.space("darts")


def test_topologies_are_the_papers_product_and_no_one_twice() -> None:
    """Node k + 1 has (k + 1) k / 2 pairs of inputs: 1 · 3 · 6 · 10 = 180."""
    topologies = cell_topologies()
    assert len({tuple(row) for row in topologies.tolist()}) == 1 * 3 * 6 * 10
    for place, node in enumerate((2, 3, 4, 5)):
        pairs = Counter(map(tuple, topologies[:, 2 * place : 2 * place + 2].tolist()))
        assert len(pairs) == node * (node - 1) // 2 and set(pairs.values()) == {180 // len(pairs)}
        assert all(first < second < node for first, second in pairs)


def test_design_meets_every_topology_with_each_of_ten_sets_of_operations() -> None:
    codes = topology_codes(np.random.default_rng(0))
    assert codes.shape == (1800, 32) and len(np.unique(codes, axis=0)) == 1800
    for arch in DARTS.architectures(codes):
        DARTS.validate(arch)
    rows, topologies, operations = same_cells(codes)
    assert len(rows) == 1800, "the normal and the reduction cell are the same"
    sets = Counter(map(tuple, operations.tolist()))
    assert len(sets) == 10 and set(sets.values()) == {180}
    assert len(np.unique(np.concatenate([topologies, operations], axis=1), axis=0)) == 1800
    assert set(np.unique(operations)) == set(range(7)), "eighty draws of seven operations miss none"


def test_depths_of_the_topologies_are_those_counted_by_hand() -> None:
    """Only 0, 1 feed the nodes of the flattest one; the chain 2-3-4-5 leaves 2 · 3 · 4 choices of the other inputs."""
    depths = Counter(cell_depths(DARTS, topology_codes(np.random.default_rng(0), operation_sets=1)).tolist())
    assert set(depths) == {2, 3, 4, 5} and depths[2] == 1 and depths[5] == 24


def test_a_grid_takes_the_design_by_name() -> None:
    architectures = listed_architectures("topologies", DARTS)
    assert architectures == DARTS.architectures(topology_codes(np.random.default_rng(0)))
