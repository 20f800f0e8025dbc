from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, NasbedError
from nasbed.spaces.transnas import TransNASMacro, TransNASMicro

MICRO, MACRO = TransNASMicro(), TransNASMacro()
micro_architectures = st.builds(Architecture, st.just("transnas-micro"), st.tuples(*[st.integers(0, 3)] * 6))
macro_architectures = st.sampled_from(list(MACRO.enumerate()))


def assert_refused(read: Callable[[Any], object], value: object, named: str) -> None:
    with pytest.raises(NasbedError) as caught:
        read(value)
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert named in message and "\n" not in message and len(message) < 300


# --- micro -----------------------------------------------------------------------------------------------------------


def test_micro_has_4096_cells() -> None:
    assert MICRO.size == 4096 == len(set(MICRO.enumerate()))


def test_micro_reads_the_published_example() -> None:
    """Node 1 skips node 0; node 2 is a 1x1 convolution of node 1; node 3 sums three 3x3 convolutions."""
    arch = MICRO.parse("64-41414-1_02_333")
    assert MICRO.to_options(arch) == ("skip_connect", "none", "nor_conv_1x1", *["nor_conv_3x3"] * 3)
    assert dict(zip(MICRO.choice_names, arch.code, strict=True)) == {
        "1<-0": 1, "2<-0": 0, "2<-1": 2, "3<-0": 3, "3<-1": 3, "3<-2": 3,
    }  # fmt: skip
    assert arch == MICRO.parse(" 102333\n") == MICRO.parse("1_02_333")
    assert MICRO.format(arch) == MICRO.to_native(arch) == "64-41414-1_02_333"


@given(micro_architectures)
@settings(deadline=None)  # the first example imports ConfigSpace
def test_micro_round_trips(arch: Architecture) -> None:
    MICRO.validate(arch)
    assert MICRO.parse(MICRO.format(arch)) == arch
    assert MICRO.from_native(MICRO.to_native(arch)) == arch
    assert MICRO.from_config(MICRO.to_config(arch)) == arch


def test_micro_reads_every_published_cell(published_data: Callable[[str], Path]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(published_data("tnb101_micro.parquet"), columns=["arch"])
    texts = sorted(set(table["arch"].to_pylist()))
    archs = [MICRO.parse(text) for text in texts]
    assert len(texts) == 4096 and set(archs) == set(MICRO.enumerate())
    assert ["".join(MICRO.format(arch).split("-")[2].split("_")) for arch in archs] == texts


MICRO_BAD = [
    ("", "''"),
    ("10233", "'10233'"),
    ("1023333", "'1023333'"),
    ("402333", "'402333'"),
    ("1_02_334", "'1_02_334'"),
    ("1-02-333", "'1-02-333'"),
    ("64-41414-102333", "'64-41414-102333'"),
    ("32-41414-1_02_333", "'32-41414-1_02_333'"),
    ("64-4111-basic", "'64-4111-basic'"),
    ("\uff1102333", "02333'"),
    ("102\n333", "'102\\n333'"),
    ("0" * 100_000, "'0000"),
    (102333, "102333"),
    (None, "None"),
]


@pytest.mark.parametrize(("text", "named"), MICRO_BAD)
def test_micro_names_what_it_cannot_read(text: Any, named: str) -> None:
    assert_refused(MICRO.parse, text, named)
    assert_refused(MICRO.from_native, text, named)


@given(micro_architectures)
def test_micro_neighbors_are_the_18_codes_at_distance_one(arch: Architecture) -> None:
    neighbors = list(MICRO.neighbors(arch))
    assert len(neighbors) == len(set(neighbors)) == 6 * 3
    for neighbor in neighbors:
        MICRO.validate(neighbor)
        assert arch in set(MICRO.neighbors(neighbor))


def paths_by_walking(code: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The operation sequences from node 0 to node 3, by walking the cell."""
    operation = dict(zip([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)], code, strict=True))
    texts: set[tuple[int, ...]] = set()
    open_walks: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while open_walks:
        node, walked = open_walks.pop()
        if node == 3:
            texts.add(walked)
        for target in range(node + 1, 4):
            if operation[node, target] != 0:
                open_walks.append((target, (*walked, operation[node, target])))
    return texts


def test_micro_paths_are_those_found_by_walking_every_cell() -> None:
    sequences = [sequence for length in (1, 2, 3) for sequence in product((1, 2, 3), repeat=length)]
    archs = list(MICRO.enumerate())
    features = MICRO.encode(archs, "path")
    assert features.shape == (4096, 39) and features.dtype == np.float32
    for arch, bits in zip(archs, features, strict=True):
        assert {sequences[i] for i in np.flatnonzero(bits)} == paths_by_walking(arch.code)


def test_micro_onehot_and_config_tell_the_operations() -> None:
    codes = MICRO.codes(list(MICRO.enumerate()))
    assert (MICRO.encode(codes).reshape(-1, 6, 4) == np.eye(4)[codes]).all()
    assert np.allclose(MICRO.encode(codes, "config") * 3, codes)


@given(micro_architectures)
def test_micro_graphs_and_diagrams_leave_none_out(arch: Architecture) -> None:
    graphs = MICRO.graphs([arch])
    assert [graphs.node_names[label] for label in graphs.node_labels[0]] == ["input", "sum", "sum", "output"]
    present = {
        (s, t): graphs.edge_names[graphs.edge_labels[0, s, t]] for s, t in np.argwhere(graphs.adjacency[0]).tolist()
    }
    operations = dict(zip([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)], MICRO.to_options(arch), strict=True))
    assert present == {edge: operation for edge, operation in operations.items() if operation != "none"}
    (diagram,) = MICRO.diagrams(arch)
    boxes = {node.id: node.label for node in diagram.nodes if node.kind == "operation"}
    before = {target: int(source) for source, target in diagram.edges if target in boxes}
    after = {source: int(target) for source, target in diagram.edges if source in boxes}
    assert {(before[box], after[box]): label for box, label in boxes.items()} == present


# --- macro -----------------------------------------------------------------------------------------------------------


def by_the_rules() -> set[str]:
    """Every published network as digits, from the paper's three rules."""
    return {
        digits
        for depth in (4, 5, 6)
        for digits in map("".join, product("1234", repeat=depth))
        if 1 <= sum(d in "34" for d in digits) <= 4 and 1 <= sum(d in "24" for d in digits) <= 3
    }


def test_macro_has_3256_networks() -> None:
    archs = list(MACRO.enumerate())
    assert MACRO.size == len(archs) == len(set(archs)) == 3256
    assert Counter(6 - arch.code.count(0) for arch in archs) == {4: 210, 5: 750, 6: 2296}
    assert {MACRO.format(arch).split("-")[1] for arch in archs} == by_the_rules()
    assert archs == sorted(archs)


@given(macro_architectures)
@settings(deadline=None)  # the first example imports ConfigSpace
def test_macro_round_trips(arch: Architecture) -> None:
    MACRO.validate(arch)
    assert MACRO.parse(MACRO.format(arch)) == arch
    assert MACRO.from_native(MACRO.to_native(arch)) == arch
    assert MACRO.from_config(MACRO.to_config(arch)) == arch
    assert MACRO.from_config(dict(MACRO.to_config(arch))) == arch


def test_macro_reads_published_texts() -> None:
    assert MACRO.parse("64-1234-basic").code == (1, 2, 3, 4, 0, 0)
    assert MACRO.parse(" 2311 ") == MACRO.parse("64-2311-basic")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "''"),
        ("411", "'411'"),
        ("4111111", "'4111111'"),
        ("411100", "'411100'"),
        ("5111", "'5111'"),
        ("64-4111", "'64-4111'"),
        ("4111-basic", "'4111-basic'"),
        ("32-4111-basic", "'32-4111-basic'"),
        ("64-41414-1_02_333", "'64-41414-1_02_333'"),
        ("64-4\n111-basic", "'64-4\\n111-basic'"),
        ("\uff14111", "111'"),
        ("1" * 100_000, "'1111"),
        ("1111", "0 in 1111"),
        ("2211", "halve the resolution"),
        ("3311", "double the channels"),
        ("4444", "4 in 4444"),
        ("333332", "5 in 333332"),
        (4111, "4111"),
        (None, "None"),
    ],
)
def test_macro_names_what_it_cannot_read(text: Any, named: str) -> None:
    assert_refused(MACRO.parse, text, named)
    assert_refused(MACRO.from_native, text, named)


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ((4, 1, 1, 0, 0, 0), "(4, 1, 1, 0, 0, 0)"),
        ((4, 1, 0, 1, 1, 1), "(4, 1, 0, 1, 1, 1)"),
        ((4, 1, 1, 5, 0, 0), "5"),
        ((4, 1, 1, -1, 0, 0), "-1"),
        ((4, 1, 1, 1), "(4, 1, 1, 1)"),
        ((1, 1, 1, 1, 0, 0), "1111"),
    ],
)
def test_macro_validate_names_the_broken_rule(code: tuple[int, ...], named: str) -> None:
    assert_refused(MACRO.validate, Architecture("transnas-macro", code), named)


def one_edit_apart(first: str, second: str) -> bool:
    if len(first) == len(second):
        return sum(a != b for a, b in zip(first, second, strict=True)) == 1
    short, long = sorted((first, second), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


@given(macro_architectures)
def test_macro_neighbors_are_all_networks_one_edit_away(arch: Architecture) -> None:
    own = MACRO.format(arch).split("-")[1]
    neighbors = [MACRO.format(neighbor).split("-")[1] for neighbor in MACRO.neighbors(arch)]
    assert len(neighbors) == len(set(neighbors))
    assert set(neighbors) == {digits for digits in by_the_rules() if one_edit_apart(own, digits)}


def test_macro_neighbors_are_mutual_and_join_the_whole_space() -> None:
    near = {arch: set(MACRO.neighbors(arch)) for arch in MACRO.enumerate()}
    assert all(arch in near[neighbor] for arch, neighbors in near.items() for neighbor in neighbors)
    reached, border = set(), {MACRO.parse("4111")}
    while border:
        reached |= border
        border = set().union(*(near[arch] for arch in border)) - reached
    assert len(reached) == 3256


@given(macro_architectures, st.integers(0, 2**32))
def test_macro_mutate_gives_a_neighbor(arch: Architecture, seed: int) -> None:
    assert MACRO.mutate(arch, np.random.default_rng(seed)) in set(MACRO.neighbors(arch))


def test_macro_sample_is_uniform_over_the_networks() -> None:
    rng = np.random.default_rng(0)
    depths = Counter(6 - MACRO.sample(rng).code.count(0) for _ in range(20_000))
    for depth, count in {4: 210, 5: 750, 6: 2296}.items():
        share = count / 3256
        assert abs(depths[depth] - 20_000 * share) < 4 * np.sqrt(20_000 * share * (1 - share))


def test_macro_configspace_allows_exactly_the_networks() -> None:
    from ConfigSpace import Configuration
    from ConfigSpace.exceptions import ForbiddenValueError

    space, allowed = MACRO.configspace(), by_the_rules()
    names = dict(zip("1234", ("normal", "double_channels", "halve_resolution", "double_and_halve"), strict=True))
    for depth in (4, 5):
        for digits in map("".join, product("1234", repeat=depth)):
            values = {"depth": str(depth), **{f"module_{i}": names[d] for i, d in enumerate(digits, start=1)}}
            if digits in allowed:
                assert MACRO.from_config(Configuration(space, values=values)) == MACRO.parse(digits)
            else:
                with pytest.raises(ForbiddenValueError):
                    Configuration(space, values=values)
                with pytest.raises(InvalidArchitecture):
                    MACRO.from_config(values)


def test_macro_configspace_samples_are_networks_of_every_depth() -> None:
    configs = MACRO.configspace().sample_configuration(300)
    archs = [MACRO.from_config(config) for config in configs]
    assert {6 - arch.code.count(0) for arch in archs} == {4, 5, 6}
    assert [MACRO.to_config(arch) for arch in archs] == configs


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({}, "depth"),
        ({"depth": "7"}, "'7'"),
        ({"depth": "4", "module_1": "normal"}, "module_2"),
        ({"depth": 4, **{f"module_{i}": "normal" for i in range(1, 6)}}, "module_5"),
        ({"depth": 4, **{f"module_{i}": "norma" for i in range(1, 5)}}, "'norma'"),
        ({"depth": 4, **{f"module_{i}": "normal" for i in range(1, 5)}}, "0 in 1111"),
        ("4111", "'4111'"),
        (None, "None"),
    ],
)
def test_macro_from_config_names_what_is_wrong(config: Any, named: str) -> None:
    assert_refused(MACRO.from_config, config, named)


def test_macro_encodings_tell_the_modules() -> None:
    archs = [MACRO.parse("4111"), MACRO.parse("123412")]
    onehot, config = MACRO.encode(archs), MACRO.encode(archs, "config")
    assert onehot.shape == (2, 24) and onehot.sum(axis=1).tolist() == [4, 6]
    assert np.flatnonzero(onehot[0]).tolist() == [3, 4, 8, 12]
    assert np.array_equal(config[0], [0, 1, 0, 0, 0, np.nan, np.nan], equal_nan=True)
    assert np.allclose(config[1], [1, 0, 1 / 3, 2 / 3, 1, 0, 1 / 3])
    everything = MACRO.encode(list(MACRO.enumerate()))
    assert len(np.unique(everything, axis=0)) == 3256


@given(macro_architectures)
def test_macro_graphs_and_diagrams_are_chains(arch: Architecture) -> None:
    modules = [module for module in arch.code if module]
    graphs = MACRO.graphs([arch])
    chain, labels = [0], [graphs.node_names[graphs.node_labels[0, 0]]]
    while len(following := np.flatnonzero(graphs.adjacency[0, chain[-1]])):
        (node,) = following.tolist()
        chain.append(node)
        labels.append(graphs.node_names[graphs.node_labels[0, node]])
    assert chain == [*range(len(modules) + 1), 7]
    assert graphs.adjacency.sum() == len(modules) + 1
    assert ((graphs.node_labels[0] >= 0).sum()) == len(modules) + 2
    (diagram,) = MACRO.diagrams(arch)
    assert [node.label for node in diagram.nodes] == labels
    assert [graphs.node_names.index(label) + 1 for label in labels[1:-1]] == modules
    ids = [node.id for node in diagram.nodes]
    assert diagram.edges == tuple(pairwise(ids))
