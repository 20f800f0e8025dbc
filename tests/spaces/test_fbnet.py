from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, NasbedError
from nasbed.spaces.fbnet import FBNet, FBNetSkeleton

SPACE = FBNet()
BLOCKS = ("k3_e1", "k3_e1_g2", "k3_e3", "k3_e6", "k5_e1", "k5_e1_g2", "k5_e3", "k5_e6", "skip")
FBNET_C = (
    "k3_e1,k3_e6,skip,k3_e1,k3_e1,k5_e6,k5_e3,k5_e6,k3_e6,k5_e6,k5_e3,"
    "k5_e6,k5_e6,k5_e6,k5_e3,k5_e6,k5_e6,k5_e6,k5_e6,k5_e6,k5_e6,k3_e6"
)
architectures = st.builds(Architecture, st.just("fbnet"), st.tuples(*[st.integers(0, 8)] * 22))


def test_fbnet_has_nine_blocks_for_each_of_22_layers() -> None:
    assert SPACE.size == 9**22
    assert SPACE.code_length == 22
    assert all(options == BLOCKS for options in SPACE.choices)
    assert SPACE.choice_names[0] == "block_1" and SPACE.choice_names[21] == "block_22"


# --- text and foreign forms ------------------------------------------------------------------------------------------


@given(architectures)
def test_fbnet_round_trips(arch: Architecture) -> None:
    SPACE.validate(arch)
    assert SPACE.parse(SPACE.format(arch)) == arch
    assert SPACE.from_native(SPACE.to_native(arch)) == arch
    assert SPACE.from_native(np.array(SPACE.to_native(arch), dtype=np.int8)) == arch
    assert SPACE.from_native(SPACE.to_options(arch)) == arch
    assert SPACE.from_config(SPACE.to_config(arch)) == arch
    assert SPACE.architectures(SPACE.codes([arch])) == [arch]


def test_fbnet_parse_tolerates_spaces_and_the_spelling_of_the_paper() -> None:
    text = " k3_e1g2 , k5_e1g2," + ",".join(["skip"] * 20) + "\n"
    arch = SPACE.parse(text)
    assert arch.code == (1, 5, *[8] * 20)
    assert SPACE.format(arch).startswith("k3_e1_g2,k5_e1_g2,skip")
    assert SPACE.from_native(["k3_e1g2", "k5_e1g2", *["skip"] * 20]) == arch
    assert all(type(item) is int for item in SPACE.from_native(np.array(arch.code)).code)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "''"),
        ("k3_e1", "'k3_e1'"),
        (",".join(["k3_e1"] * 23), "23"),
        (",".join(["k3_e1"] * 21 + ["k7_e1"]), "'k7_e1'"),
        (",".join(["k3_e1"] * 21 + ["K3_E1"]), "'K3_E1'"),
        (",".join(["k3_e1"] * 21 + ["k3\ne1"]), "'k3\\ne1'"),
        (",".join(["k3_e1"] * 21 + [""]), "''"),
        (",".join(["0"] * 22), "'0'"),
        (",".join("x" * 22) + "," * 100_000, "100022"),
        (None, "None"),
        (7, "7"),
    ],
)
def test_fbnet_parse_names_what_it_cannot_read(text: Any, named: str) -> None:
    with pytest.raises(NasbedError) as caught:
        SPACE.parse(text)
    assert named in str(caught.value) and "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError) and len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("native", "named"),
    [
        ([0] * 21, "[0, 0"),
        ([0] * 21 + [9], "9"),
        ([0] * 21 + [-1], "-1"),
        ([0] * 21 + [True], "True"),
        ([0] * 21 + [1.0], "1.0"),
        ([0] * 21 + [None], "None"),
        (np.zeros((22, 1), dtype=int), "[0]"),
        (np.zeros(22), "0.0"),
        (np.int64(3), "3"),
        ("k3_e1", "'k3_e1'"),
        ("012345678012345678" + "0123", "'0123"),
        ({"block_1": 0}, "block_1"),
        (None, "None"),
    ],
)
def test_fbnet_from_native_names_what_it_cannot_read(native: Any, named: str) -> None:
    with pytest.raises(NasbedError) as caught:
        SPACE.from_native(native)
    assert named in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("code", [(0,) * 21, (0,) * 21 + (9,), (-1,) + (0,) * 21])
def test_fbnet_validate_refuses_codes_outside_the_space(code: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArchitecture):
        SPACE.validate(Architecture("fbnet", code))


# --- moving ----------------------------------------------------------------------------------------------------------


@given(architectures, st.integers(0, 2**32))
def test_fbnet_neighbors_are_the_176_codes_at_distance_one(arch: Architecture, seed: int) -> None:
    neighbors = list(SPACE.neighbors(arch))
    assert len(neighbors) == len(set(neighbors)) == 22 * 8
    for neighbor in neighbors:
        SPACE.validate(neighbor)
        assert sum(a != b for a, b in zip(arch.code, neighbor.code, strict=True)) == 1
    assert arch in set(SPACE.neighbors(neighbors[seed % 176]))
    assert SPACE.mutate(arch, np.random.default_rng(seed)) in neighbors


def test_fbnet_sample_reaches_every_block_equally_and_repeats_with_the_seed() -> None:
    rng = np.random.default_rng(0)
    codes = SPACE.codes([SPACE.sample(rng) for _ in range(2000)])
    counts = np.stack([(codes == block).sum(axis=0) for block in range(9)])
    assert abs(counts - 2000 / 9).max() < 5 * np.sqrt(2000 * 8 / 81)
    assert SPACE.sample(np.random.default_rng(0)).code == tuple(codes[0].tolist())


# --- costs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("imagenet", [False, True], ids=["cifar", "imagenet"])
def test_fbnet_costs_equal_those_of_a_real_network(imagenet: bool, thorough: bool) -> None:
    reference = pytest.importorskip("support.torch_fbnet", reason="needs torch", exc_type=ImportError)
    from support.torch_networks import costs, without_initial_weights

    skeleton = FBNetSkeleton.imagenet() if imagenet else FBNetSkeleton()
    rng = np.random.default_rng(1)
    archs = [SPACE.sample(rng) for _ in range(30 if thorough else 2)]
    archs += [Architecture("fbnet", (block,) * 22) for block in range(9)]
    for image in (64 if imagenet else 32, 33):
        resized = dataclasses.replace(skeleton, image=image)
        parameters, multiply_adds = SPACE.parameters(archs, resized), SPACE.multiply_adds(archs, resized)
        for arch, *counted in zip(archs, parameters, multiply_adds, strict=True):
            with without_initial_weights():
                network = reference.torch_fbnet(SPACE.to_options(arch), imagenet=imagenet)
            assert costs(network, image) == tuple(counted)


def test_fbnet_multiply_adds_are_half_of_what_torch_calls_flops() -> None:
    reference = pytest.importorskip("support.torch_fbnet", reason="needs torch", exc_type=ImportError)
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    arch = Architecture("fbnet", tuple(i % 9 for i in range(22)))
    network = reference.torch_fbnet(SPACE.to_options(arch), imagenet=False)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(torch.zeros(1, 3, 32, 32))
    assert counter.get_total_flops() == 2 * int(SPACE.multiply_adds([arch])[0])


def test_fbnet_costs_of_fbnet_c_are_the_published_ones() -> None:
    """FBNet-C in its authors' model zoo: 383.0 million multiply-adds, the last linear layer not counted; 5.57 million
    parameters in the best-known reimplementation."""
    arch, skeleton = SPACE.parse(FBNET_C), FBNetSkeleton.imagenet()
    assert round((int(SPACE.multiply_adds([arch], skeleton)[0]) - 1984 * 1000) / 1e6, 1) == 383.0
    assert round(int(SPACE.parameters([arch], skeleton)[0]) / 1e6, 2) == 5.57


@given(st.lists(architectures, max_size=5))
def test_fbnet_costs_of_a_batch_are_those_of_its_members(archs: list[Architecture]) -> None:
    for cost in (SPACE.parameters, SPACE.multiply_adds):
        together = cost(archs)
        assert together.dtype == np.int64 and together.shape == (len(archs),)
        assert together.tolist() == [int(cost([arch])[0]) for arch in archs]
        assert together.tolist() == cost(SPACE.codes(archs)).tolist()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"stage_layers": (1, 4, 4, 4, 4, 4, 2)}, "4, 2)"),
        ({"stage_layers": (22,)}, "(22,)"),
        ({"stage_strides": [1, 1, 2, 2, 1, 2, 1]}, "[1, 1, 2, 2, 1, 2, 1]"),
        ({"stage_channels": (16, 24, 32, 64, 112, 184, 351)}, "351"),
        ({"stem_channels": 15}, "15"),
        ({"image": 0}, "an image is a whole number of pixels, 1 or more, or a pair of them, got 0"),
        ({"stage_strides": (1, 1, 2, 2, 1, 2, 0)}, "stage_strides"),
        ({"classes": 10.0}, "10.0"),
    ],
)
def test_fbnet_skeleton_refuses_what_cannot_be_built(change: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        FBNetSkeleton(**change)
    assert named in str(caught.value) and "\n" not in str(caught.value)


# --- encodings, graphs, diagrams -------------------------------------------------------------------------------------


@given(st.lists(architectures, max_size=4))
def test_fbnet_encodings_tell_the_blocks(archs: list[Architecture]) -> None:
    onehot, config = SPACE.encode(archs), SPACE.encode(archs, "config")
    assert onehot.shape == (len(archs), 22 * 9) and config.shape == (len(archs), 22)
    for row, arch in enumerate(archs):
        assert onehot[row].reshape(22, 9).argmax(axis=1).tolist() == list(arch.code)
        assert onehot[row].sum() == 22
        by_name = dict(zip(SPACE.configspace(), np.rint(config[row] * 8).astype(int).tolist(), strict=True))
        assert [by_name[f"block_{layer}"] for layer in range(1, 23)] == list(arch.code)
    assert ((config >= 0) & (config <= 1)).all()


@given(st.lists(architectures, max_size=3))
def test_fbnet_graphs_are_chains(archs: list[Architecture]) -> None:
    graphs = SPACE.graphs(archs)
    assert len(graphs) == len(archs)
    assert (graphs.adjacency == np.eye(24, k=1, dtype=bool)).all()
    for row, arch in enumerate(archs):
        names = tuple(graphs.node_names[label] for label in graphs.node_labels[row])
        assert names == ("input", *SPACE.to_options(arch), "output")


def test_fbnet_diagram_has_a_row_for_each_stage() -> None:
    (diagram,) = SPACE.diagrams(SPACE.parse(FBNET_C))
    assert [node.label for node in diagram.nodes if node.kind == "operation"] == FBNET_C.split(",")
    places = [node.at for node in diagram.nodes]
    assert len(set(places)) == 24 and None not in places
    rows = [int(node.at[1]) for node in diagram.nodes if node.at and node.kind == "operation"]
    assert [rows.count(row) for row in range(7)] == [1, 4, 4, 4, 4, 4, 1]
    ids = [node.id for node in diagram.nodes]
    assert diagram.edges == tuple(pairwise(ids))
