"""DARTS against published genotypes, a torch network, brute force and ConfigSpace."""

from __future__ import annotations

from collections import Counter, namedtuple
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed import Architecture, NasbedError
from nasbed.spaces.darts import Darts, DartsSkeleton
from nasbed.spaces.darts.cell import OPERATIONS, PAIRS, canonical_cell, cell_count, unique_cell_count
from support.examples import examples

SPACE = Darts()
ForeignGenotype = namedtuple("ForeignGenotype", "normal normal_concat reduce reduce_concat")  # as DARTS forks have it

DARTS_V2 = (
    "Genotype(normal=[('sep_conv_3x3', 0), ('sep_conv_3x3', 1), ('sep_conv_3x3', 0), ('sep_conv_3x3', 1), "
    "('sep_conv_3x3', 1), ('skip_connect', 0), ('skip_connect', 0), ('dil_conv_3x3', 2)], normal_concat=[2, 3, 4, 5], "
    "reduce=[('max_pool_3x3', 0), ('max_pool_3x3', 1), ('skip_connect', 2), ('max_pool_3x3', 1), ('max_pool_3x3', 0), "
    "('skip_connect', 2), ('skip_connect', 2), ('max_pool_3x3', 1)], reduce_concat=range(2, 6))"
)


def cells() -> st.SearchStrategy[tuple[int, ...]]:
    node = [st.tuples(st.sampled_from(PAIRS[n]), st.integers(0, 6), st.integers(0, 6)) for n in (2, 3, 4, 5)]
    return st.tuples(*node).map(lambda nodes: tuple(x for (a, b), op_a, op_b in nodes for x in (a, op_a, b, op_b)))


architectures = st.tuples(cells(), cells()).map(lambda pair: Architecture("darts", pair[0] + pair[1]))


def test_darts_size_is_stated_exactly() -> None:
    assert SPACE.size == (3 * 6 * 10 * 7**8) ** 2 == 1_076_746_950_455_072_400


@pytest.mark.parametrize("operations", [1, 2])
def test_darts_unique_cells_are_counted_as_brute_force_counts_them(operations: int) -> None:
    chosen = set()
    for pairs in product(*PAIRS.values()):
        for ops in product(range(operations), repeat=8):
            code = tuple(x for i, (a, b) in enumerate(pairs) for x in (a, ops[2 * i], b, ops[2 * i + 1]))
            chosen.add(canonical_cell(code))
    assert cell_count(operations) == 180 * operations**8
    assert unique_cell_count(operations) == len(chosen)


@given(architectures)
@examples(50)
def test_darts_canonical_form_is_the_same_for_every_renumbering(arch: Architecture) -> None:
    """Renumber the intermediate nodes of the normal cell in every way that keeps the edges pointing forward."""
    cell = arch.code[:16]
    for order in permutations((2, 3, 4, 5)):
        number = {0: 0, 1: 1, **dict(zip((2, 3, 4, 5), order, strict=True))}
        nodes: dict[int, list[tuple[int, int]]] = {}
        for place in range(4):
            a, op_a, b, op_b = cell[4 * place : 4 * place + 4]
            nodes[number[place + 2]] = sorted([(number[a], op_a), (number[b], op_b)])
        if all(source < node for node, pairs in nodes.items() for source, _ in pairs):
            moved = tuple(x for node in (2, 3, 4, 5) for pair in nodes[node] for x in pair)
            renumbered = Architecture("darts", moved + arch.code[16:])
            SPACE.validate(renumbered)
            assert SPACE.canonical(renumbered) == SPACE.canonical(arch)
            assert SPACE.parameters([renumbered]) == SPACE.parameters([arch])


def test_darts_published_parameters_of_darts_v2() -> None:
    """3.349342 M is what the DARTS repository prints for DARTS_V2 at 36 channels and 20 cells."""
    arch = SPACE.parse(DARTS_V2)
    assert SPACE.parameters([arch], DartsSkeleton(channels=36, cells=20))[0] == 3_349_342


@pytest.mark.parametrize(
    "skeleton",
    [
        DartsSkeleton(),
        DartsSkeleton(auxiliary=True),
        DartsSkeleton(channels=8, cells=5, image=28),
        DartsSkeleton(channels=4, cells=1, image=16),
        DartsSkeleton(channels=6, cells=2, image=16),
        DartsSkeleton(channels=16, cells=20, auxiliary=True),
    ],
    ids=str,
)
def test_darts_costs_equal_a_torch_network(skeleton: DartsSkeleton, thorough: bool) -> None:
    torch_networks = pytest.importorskip("support.torch_networks", reason="needs torch", exc_type=ImportError)
    rng = np.random.default_rng(0)
    archs = [SPACE.sample(rng) for _ in range(6 if thorough else 2)] + [SPACE.parse(DARTS_V2)]
    parameters, multiply_adds = SPACE.parameters(archs, skeleton), SPACE.multiply_adds(archs, skeleton)
    for arch, *costs in zip(archs, parameters, multiply_adds, strict=True):
        with torch_networks.without_initial_weights():
            network = torch_networks.Darts(SPACE.to_native(arch), skeleton.channels, skeleton.cells, skeleton.auxiliary)
        assert torch_networks.costs(network, skeleton.image) == tuple(costs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": 7}, "even number of channels"),
        ({"image": 0}, "whole number of pixels"),
        ({"image": 16, "auxiliary": True}, "auxiliary head needs"),
        ({"cells": 0}, "cells is at least 1"),
    ],
)
def test_darts_skeleton_refuses_what_cannot_be_built(options: dict[str, int], message: str) -> None:
    with pytest.raises(NasbedError, match=message):
        DartsSkeleton(**options)  # type: ignore[arg-type]


@given(architectures)
@examples(30)
def test_darts_round_trips(arch: Architecture) -> None:
    genotype = SPACE.to_native(arch)
    assert SPACE.from_native(genotype) == arch
    assert SPACE.from_native(ForeignGenotype(*genotype)) == arch
    assert SPACE.parse(str(genotype)) == arch
    assert SPACE.parse(SPACE.format(arch)) == arch
    assert SPACE.from_config(SPACE.to_config(arch)) == arch
    swapped = genotype._replace(
        normal=[genotype.normal[i ^ 1] for i in range(8)], reduce=[genotype.reduce[i ^ 1] for i in range(8)]
    )
    assert SPACE.from_native(swapped) == arch, "the two edges of a node may come in either order"


def test_darts_configspace_has_the_published_names() -> None:
    space: Any = SPACE.configspace()
    prefix = "NetworkSelectorDatasetInfo:darts:"
    expected = {f"{prefix}edge_{kind}_{i}" for kind in ("normal", "reduce") for i in range(14)}
    expected |= {f"{prefix}inputs_node_{kind}_{node}" for kind in ("normal", "reduce") for node in (3, 4, 5)}
    assert set(space) == expected
    assert space[f"{prefix}inputs_node_normal_4"].choices == ("0_1", "0_2", "0_3", "1_2", "1_3", "2_3")


def test_darts_samples_of_the_configspace_are_architectures() -> None:
    space = SPACE.configspace()
    space.seed(0)
    for config in space.sample_configuration(100):
        arch = SPACE.from_config(config)
        SPACE.validate(arch)
        assert SPACE.to_config(arch) == config


def test_darts_config_encoding_is_the_configspace_vector() -> None:
    rng = np.random.default_rng(0)
    archs = [SPACE.sample(rng) for _ in range(50)]
    parameters: Any = SPACE.configspace()
    counts = [len(parameter.choices) - 1 for parameter in parameters.values()]
    vectors = np.array([SPACE.to_config(arch).get_array() for arch in archs]) / counts
    np.testing.assert_allclose(SPACE.encode(archs, "config"), vectors, rtol=1e-6)


def test_darts_neighbors_are_counted() -> None:
    """Eight operations with six others, and 2 + 4 + 6 ways to move an edge, in each of two cells."""
    arch = SPACE.sample(np.random.default_rng(0))
    assert len(list(SPACE.neighbors(arch))) == 2 * (8 * 6 + 2 + 4 + 6)


def test_darts_mutation_follows_appendix_c3() -> None:
    """A cell with equal chance; then a parent change, an operation change or none with equal chance."""
    rng = np.random.default_rng(0)
    arch = SPACE.sample(rng)
    near = set(SPACE.neighbors(arch))
    counts: Counter[str] = Counter()
    for _ in range(6000):
        mutant = SPACE.mutate(arch, rng)
        if mutant == arch:
            counts["none"] += 1
            continue
        assert mutant in near
        changed = [i for i in range(32) if mutant.code[i] != arch.code[i]]
        counts["normal" if changed[0] < 16 else "reduce"] += 1
        moved = Counter(arch.code[0::2]) != Counter(mutant.code[0::2])
        counts["parent" if moved else "operation"] += 1
    for kind in ("none", "parent", "operation", "normal", "reduce"):
        assert abs(counts[kind] - 2000) < 5 * np.sqrt(6000 * 2 / 9), counts
    assert {SPACE.mutate(arch, rng) for _ in range(6000)} >= near


def test_darts_path_encoding_is_every_route() -> None:
    rng = np.random.default_rng(1)
    archs = [SPACE.sample(rng) for _ in range(30)]
    encoded = SPACE.encode(archs, "path")
    bits = sum(7**i for i in range(5))
    assert encoded.shape[1] == 4 * bits == 11_204
    for arch, row in zip(archs, encoded, strict=True):
        genotype = SPACE.to_native(arch)
        expected = set()
        for cell, pairs in enumerate((genotype.normal, genotype.reduce)):
            walks: list[tuple[int, int, tuple[int, ...]]] = [(source, source, ()) for source in (0, 1)]
            while walks:
                origin, at, ops = walks.pop()
                for edge, (op, source) in enumerate(pairs):
                    if source == at:
                        longer = (*ops, OPERATIONS.index(op))
                        number = sum(7**i for i in range(len(longer)))
                        number += sum(digit * 7**i for i, digit in enumerate(reversed(longer)))
                        expected.add((2 * cell + origin) * bits + number)
                        walks.append((origin, 2 + edge // 2, longer))
        assert set(np.flatnonzero(row).tolist()) == expected


def test_darts_graphs_are_those_of_appendix_e1() -> None:
    arch = SPACE.parse(DARTS_V2)
    graphs = SPACE.graphs([arch])
    edges = {
        (int(source), int(target)): graphs.edge_names[graphs.edge_labels[0, source, target]]
        for source, target in np.argwhere(graphs.adjacency[0])
    }
    genotype = SPACE.to_native(arch)
    expected: dict[tuple[int, int], str] = {}
    for first, pairs in ((0, genotype.normal), (7, genotype.reduce)):
        expected |= {(first + source, first + 2 + i // 2): op for i, (op, source) in enumerate(pairs)}
        expected |= {(first + node, first + 6): "concat" for node in (2, 3, 4, 5)}
    expected |= {(6, 7): "link", (6, 8): "link", (13, 0): "link", (13, 1): "link", (6, 6): "link"}
    assert edges == expected


GOOD: Any = SPACE.to_native(SPACE.parse(DARTS_V2))
BAD: dict[str, tuple[Any, str]] = {
    "repeated input": (
        GOOD._replace(normal=[("skip_connect", 0), ("skip_connect", 0), *GOOD.normal[2:]]),
        "0 twice at node 2",
    ),
    "input too high": (GOOD._replace(normal=[("skip_connect", 2), *GOOD.normal[1:]]), "takes inputs 0 to 1, got 2"),
    "negative input": (GOOD._replace(reduce=[("skip_connect", -1), *GOOD.reduce[1:]]), "got -1 in the reduce cell"),
    "unknown operation": (
        GOOD._replace(normal=[("sep_conv_7x7", 0), *GOOD.normal[1:]]),
        "not a darts operation.*did you mean",
    ),
    "the operation none": (GOOD._replace(normal=[("none", 0), *GOOD.normal[1:]]), "not a darts operation"),
    "seven edges": (GOOD._replace(normal=GOOD.normal[:-1]), "8 .operation, input. pairs"),
    "odd concat": (GOOD._replace(normal_concat=[3, 4, 5]), "concatenates nodes 2, 3, 4, 5"),
    "a fraction": (GOOD._replace(normal=[("skip_connect", 0.5), *GOOD.normal[1:]]), "got 0.5"),
    "nan": (GOOD._replace(normal=[("skip_connect", float("nan")), *GOOD.normal[1:]]), "got nan"),
    "text for a list": (GOOD._replace(normal="skip_connect"), "is a list"),
    "no pair": (GOOD._replace(normal=["skip_connect", *GOOD.normal[1:]]), "pair"),
}


@pytest.mark.parametrize("case", BAD)
def test_darts_bad_genotype_is_one_clear_line(case: str) -> None:
    obj, message = BAD[case]
    with pytest.raises(NasbedError, match=message) as caught:
        SPACE.from_native(obj)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "Genotype(__import__('os').system('true'))",
        "Genotype(normal=__import__('os'), normal_concat=[], reduce=[], reduce_concat=[])",
        "Genotype(normal=[], normal_concat=range(10**12), reduce=[], reduce_concat=[])",
        "Genotype()",
        "Genotype(" + "(" * 5000,
        "normal:sep_conv_3x3~0,sep_conv_3x3~1+reduce:",
        SPACE.format(SPACE.parse(DARTS_V2)).replace("reduce", "normal"),
        SPACE.format(SPACE.parse(DARTS_V2)).replace("~0", "~٠"),
        SPACE.format(SPACE.parse(DARTS_V2)) + "x",
    ],
)
def test_darts_bad_text_is_one_clear_line(text: str) -> None:
    with pytest.raises(NasbedError) as caught:
        SPACE.parse(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_darts_config_that_sets_an_unchosen_edge_is_refused() -> None:
    config = dict(SPACE.to_config(SPACE.parse(DARTS_V2)))
    config["NetworkSelectorDatasetInfo:darts:edge_normal_13"] = "skip_connect"
    with pytest.raises(NasbedError, match="not to be set"):
        SPACE.from_config(config)
