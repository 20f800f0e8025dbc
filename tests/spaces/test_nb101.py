"""NAS-Bench-101 against the published numbers, the published table, and a plain reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed import Architecture, NasbedError
from nasbed.spaces.nb101 import NB101, NB101Skeleton
from nasbed.spaces.nb101.canonical import kept_batch
from support import nb101_reference as reference
from support.examples import examples

SPACE = NB101()
INCEPTION = (
    [
        [0, 1, 1, 1, 0, 1, 0],
        [0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 0],
    ],
    ["input", "conv1x1-bn-relu", "conv3x3-bn-relu", "conv3x3-bn-relu", "conv3x3-bn-relu", "maxpool3x3", "output"],
)


def _is_valid(arch: Architecture) -> bool:
    try:
        SPACE.validate(arch)
    except NasbedError:
        return False
    return True


valid_codes = (
    st.tuples(st.integers(0, 2**21 - 1), *[st.integers(0, 2)] * 5)
    .map(lambda code: Architecture("nb101", code))
    .filter(_is_valid)
)


def _matrix(code: tuple[int, ...]) -> reference.Cell:
    """The seven-vertex matrix of a code, by the published bit order."""
    matrix = [[0] * 7 for _ in range(7)]
    for y in range(7):
        for x in range(y):
            matrix[x][y] = code[0] >> (x + y * (y - 1) // 2) & 1
    return matrix, ["input", *(reference.OPS[op] for op in code[1:]), "output"]


def _pruned(arch: Architecture) -> reference.Cell:
    pruned = reference.prune(*_matrix(arch.code))
    assert pruned is not None
    return pruned


@pytest.fixture(scope="module")
def unique() -> np.ndarray:
    return SPACE.unique_codes()


def test_nb101_published_hashes() -> None:
    assert SPACE.hash(SPACE.from_native(INCEPTION)) == "28cfc7874f6d200472e1a9dcd8650aa0"
    assert SPACE.hash(SPACE.from_native(([[0, 1], [0, 0]], ["input", "output"]))) == "043721b9c7fe8c5fad811d47d83132ec"


@pytest.mark.parametrize("kind", [bool, float, np.int8, np.float32, np.uint64])
def test_nb101_hash_does_not_depend_on_the_number_type(kind: type) -> None:
    matrix: Any = np.array(INCEPTION[0]).astype(kind)
    arch = SPACE.from_native((matrix, np.array(INCEPTION[1])))
    assert all(type(item) is int for item in arch.code)
    assert SPACE.hash(arch) == "28cfc7874f6d200472e1a9dcd8650aa0"


def test_nb101_enumeration_counts_are_the_published_ones() -> None:
    assert SPACE.counts() == {
        "2 vertices": 1,
        "3 vertices": 6,
        "4 vertices": 84,
        "5 vertices": 2_441,
        "6 vertices": 62_010,
        "7 vertices": 359_082,
        "total": 423_624,
    }
    assert SPACE.size == 423_624


@pytest.mark.parametrize("vertices", [2, 3, 4, 5])
def test_nb101_enumeration_is_what_counting_upward_finds_first(vertices: int) -> None:
    cells = [SPACE.pruned(arch) for arch in SPACE.architectures(SPACE.unique_codes(vertices))]
    assert [(cell.edges, cell.ops) for cell in cells] == reference.first_of_each_class(vertices)


def test_nb101_all_hashes_differ_and_equal_the_reference(unique: np.ndarray, thorough: bool) -> None:
    """Of all cells when thorough, else of one in ten."""
    assert len(unique) == 423_624
    cells = unique if thorough else unique[::10]
    hashes = SPACE.hashes(cells)
    assert len(np.unique(hashes)) == len(cells)
    for row in np.random.default_rng(0).choice(len(cells), 300 if thorough else 100, replace=False):
        pruned = reference.prune(*_matrix(tuple(cells[row].tolist())))
        assert pruned is not None
        assert hashes[row] == reference.module_hash(*pruned)


def test_nb101_enumerated_cells_are_canonical(unique: np.ndarray) -> None:
    chosen = unique[np.random.default_rng(1).choice(len(unique), 5_000, replace=False)]
    np.testing.assert_array_equal(SPACE.canonical_codes(chosen), chosen)


@given(valid_codes)
@examples(50)
def test_nb101_single_and_batch_paths_agree_with_the_reference(arch: Architecture) -> None:
    pruned = _pruned(arch)
    assert SPACE.hash(arch) == reference.module_hash(*pruned) == SPACE.hashes([arch])[0]
    assert tuple(SPACE.canonical_codes([arch])[0].tolist()) == SPACE.canonical(arch).code
    assert SPACE.depth(arch) == reference.depth(pruned[0])
    assert SPACE.width(arch) == reference.width(pruned[0])
    matrix, ops = SPACE.to_native(SPACE.canonical(arch))
    assert (matrix.tolist(), ops) in reference.renumbered(*pruned)


@given(valid_codes)
@examples(30)
def test_nb101_canonical_forms_agree_exactly_when_hashes_do(arch: Architecture) -> None:
    candidates = list(SPACE.neighbors(arch))
    candidates += [SPACE.from_native(cell) for cell in reference.renumbered(*_pruned(arch))]
    own, own_hash = SPACE.canonical(arch), SPACE.hash(arch)
    for candidate in candidates:
        assert (SPACE.canonical(candidate) == own) == (SPACE.hash(candidate) == own_hash)


@given(valid_codes)
@examples(15)
def test_nb101_canonical_forms_agree_exactly_when_networkx_finds_an_isomorphism(arch: Architecture) -> None:
    own = SPACE.canonical(arch)
    for neighbor in SPACE.neighbors(arch):
        assert (SPACE.canonical(neighbor) == own) == reference.isomorphic(_pruned(arch), _pruned(neighbor))


@given(valid_codes)
@examples(25)
def test_nb101_neighbors_are_all_valid_single_flips(arch: Architecture) -> None:
    expected = set()
    for place in range(1, 6):
        expected |= {(*arch.code[:place], op, *arch.code[place + 1 :]) for op in range(3) if op != arch.code[place]}
    for bit in range(21):
        flipped = (arch.code[0] ^ 1 << bit, *arch.code[1:])
        pruned = reference.prune(*_matrix(flipped))
        if pruned is not None and sum(map(sum, pruned[0])) <= 9:
            expected.add(flipped)
    near = [neighbor.code for neighbor in SPACE.neighbors(arch)]
    assert len(near) == len(set(near)) and set(near) == expected


def test_nb101_width_one_are_exactly_the_chains(unique: np.ndarray) -> None:
    """Section 3.2: all width-1 networks are plain feed-forward ones, and those number 1 + 3 + 9 + … + 3⁵."""
    properties = SPACE.properties(unique[:64_542])
    widths, depths = properties["width"], properties["depth"]
    assert (widths == 1).sum() == sum(3**k for k in range(5))
    assert (depths[widths == 1] == properties["vertices"][widths == 1] - 1).all()


def test_nb101_cells_of_at_most_five_vertices_are_a_named_part(unique: np.ndarray) -> None:
    few = SPACE.properties(unique[:4_000])["vertices"] <= 5
    part = SPACE.parts["five-vertices"]
    assert few.sum() == part.size == 2_532, "as many as the embedded table has"
    assert [part.contains(arch) for arch in SPACE.architectures(unique[2_500:2_560])] == few[2_500:2_560].tolist()


def test_nb101_path_encoding_is_every_route_from_input_to_output() -> None:
    rng = np.random.default_rng(3)
    archs = [SPACE.sample(rng) for _ in range(50)]
    encoded = SPACE.encode(archs, "path")
    assert encoded.shape[1] == sum(3**k for k in range(6)) == 364
    for arch, bits in zip(archs, encoded, strict=True):
        matrix, ops = _matrix(arch.code)
        routes: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        expected = set()
        while routes:
            vertex, visited = routes.pop()
            if vertex == 6:
                expected.add(
                    sum(3**k for k in range(len(visited))) + sum(op * 3**k for k, op in enumerate(reversed(visited)))
                )
                continue
            for target in range(vertex + 1, 7):
                if matrix[vertex][target]:
                    label = () if target == 6 else (reference.OPS.index(ops[target]),)
                    routes.append((target, visited + label))
        assert set(np.flatnonzero(bits).tolist()) == expected


def test_nb101_configspace_numbers_edges_by_row() -> None:
    config = dict(SPACE.to_config(SPACE.from_native(INCEPTION)))
    upper = [INCEPTION[0][x][y] for x in range(7) for y in range(x + 1, 7)]
    assert [config[f"edge_{i}"] for i in range(21)] == upper
    assert [config[f"op_node_{i}"] for i in range(5)] == INCEPTION[1][1:-1]


def test_nb101_graphs_hold_the_pruned_cell() -> None:
    rng = np.random.default_rng(4)
    archs = [SPACE.sample(rng) for _ in range(40)]
    graphs = SPACE.graphs(archs)
    for arch, nodes, edges in zip(archs, graphs.node_labels, graphs.edge_labels, strict=True):
        matrix, ops = _pruned(arch)
        present = np.flatnonzero(nodes >= 0)
        assert [graphs.node_names[nodes[v]] for v in present] == ops
        np.testing.assert_array_equal(edges[np.ix_(present, present)] >= 0, np.array(matrix, dtype=bool))


def test_nb101_graphs_are_one_sparse_graph_for_sparse_libraries() -> None:
    rng = np.random.default_rng(5)
    graphs = SPACE.graphs([SPACE.sample(rng) for _ in range(20)])
    (sources, targets), labels = graphs.edge_list()
    width = graphs.node_labels.shape[1]
    assert (sources // width == targets // width).all(), "no edge leads to another graph"
    sizes = np.bincount(sources // width, minlength=len(graphs))
    np.testing.assert_array_equal(sizes, graphs.adjacency.sum((1, 2)))
    dense = np.full((20 * width, 20 * width), -1)
    dense[sources, targets] = labels
    for number, edges in enumerate(graphs.edge_labels):
        places = slice(number * width, (number + 1) * width)
        np.testing.assert_array_equal(dense[places, places], edges)


SQUARE = [[0, 1], [0, 0]]
BAD = {
    "non-square": (([[0, 1, 0], [0, 0, 1]], ["input", "output"]), "square"),
    "ragged": (([[0, 1], [0]], ["input", "output"]), "square"),
    "cycle": (([[0, 1, 1], [0, 0, 1], [1, 0, 0]], ["input", "maxpool3x3", "output"]), "upper triangular"),
    "self-loop": (([[0, 1], [0, 1]], ["input", "output"]), "upper triangular"),
    "unknown op": (
        ([[0, 1, 0], [0, 0, 1], [0, 0, 0]], ["input", "conv5x5-bn-relu", "output"]),
        "conv5x5.*did you mean",
    ),
    "eight vertices": (
        (np.triu(np.ones((8, 8)), 1), ["input", *["maxpool3x3"] * 6, "output"]),
        "2 to 7 vertices, got 8",
    ),
    "ten edges": (
        (np.triu(np.ones((5, 5)), 1), ["input", *["maxpool3x3"] * 3, "output"]),
        "has 10 edges after pruning, at most 9",
    ),
    "no path": (([[0, 1, 0], [0, 0, 0], [0, 0, 0]], ["input", "maxpool3x3", "output"]), "path from input to output"),
    "wrong ends": ((SQUARE, ["output", "input"]), "start with input"),
    "operations missing": ((SQUARE, ["input"]), "one operation a vertex"),
    "not 0 or 1": (([[0, 0.5], [0, 0]], ["input", "output"]), "0 and 1 only, got 0.5"),
    "nan": (([[0, np.nan], [0, 0]], ["input", "output"]), "0 and 1 only"),
    "text in the matrix": (([["a", 1], [0, 0]], ["input", "output"]), "holds 0 and 1"),
    "no pair": (SQUARE[0], "path|pair|names|operations"),
    "empty": (([], []), "square"),
}


@pytest.mark.parametrize("case", BAD)
def test_nb101_bad_native_is_one_clear_line(case: str) -> None:
    obj, message = BAD[case]
    with pytest.raises(NasbedError, match=message) as caught:
        SPACE.from_native(obj)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conv3x3:0", "ends with its one output"),
        ("output:0/output:0", "ends with its one output"),
        ("conv3x3:0/output:2", "takes inputs from 0 to 1, got '2'"),
        ("conv3x3:0,0/output:1", "each input once"),
        ("conv3x3:00/output:1", "takes inputs"),
        ("conv3x3:٠/output:1", "takes inputs"),
        ("conv3x3:0/output:1 junk", "takes inputs"),
        ("conv9x9:0/output:1", "not an nb101 operation"),
        ("conv3x3:/output:0,1/", "ends with"),
        ("/".join(["conv3x3:0"] * 6) + "/output:0", "at most 7 vertices"),
        ("[[[0, 1], [0, 0]]]", "pair"),
        ("[1, 2", "JSON"),
    ],
)
def test_nb101_bad_text_is_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(NasbedError, match=message) as caught:
        SPACE.parse(text)
    assert "\n" not in str(caught.value)


def test_nb101_small_cells_come_out_small() -> None:
    cell = ([[0, 1, 1], [0, 0, 1], [0, 0, 0]], ["input", "maxpool3x3", "output"])
    arch = SPACE.from_native(cell)
    matrix, ops = SPACE.to_native(arch)
    assert (matrix.tolist(), ops) == cell
    assert SPACE.format(arch) == "maxpool3x3:0/output:0,1"
    assert SPACE.parse('[[[0, 1, 1], [0, 0, 1], [0, 0, 0]], ["input", "maxpool3x3", "output"]]') == arch


def test_nb101_skeleton_refuses_nonsense() -> None:
    with pytest.raises(NasbedError, match="channels is at least 1, got 0"):
        NB101Skeleton(channels=0)


def _published(path: Path) -> tuple[list[Architecture], dict[str, np.ndarray]]:
    with np.load(path) as data:
        table = {name: data[name] for name in data}
    archs = []
    for matrix, labels, vertices in zip(table["adj"], table["ops"], table["nv"], strict=True):
        ops = ["input", *(reference.OPS[label] for label in labels[1 : vertices - 1]), "output"]
        archs.append(SPACE.from_native((matrix[:vertices, :vertices], ops)))
    return archs, table


def test_nb101_costs_equal_a_torch_network(thorough: bool) -> None:
    torch_networks = pytest.importorskip("support.torch_networks", reason="needs torch", exc_type=ImportError)
    rng = np.random.default_rng(5)
    small = NB101Skeleton(channels=12, cells_per_stack=2, image=16)
    archs = [SPACE.sample(rng) for _ in range(25 if thorough else 4)] + [
        SPACE.parse("output:0"),
        SPACE.from_native(INCEPTION),
    ]
    for skeleton, batch in ((small, archs), (NB101Skeleton(), archs[-2:])):
        parameters, multiply_adds = SPACE.parameters(batch, skeleton), SPACE.multiply_adds(batch, skeleton)
        for arch, *costs in zip(batch, parameters, multiply_adds, strict=True):
            with torch_networks.without_initial_weights():
                sizes = skeleton.channels, skeleton.stacks, skeleton.cells_per_stack
                network = torch_networks.NB101(*_pruned(arch), *sizes)
            assert torch_networks.costs(network, skeleton.image) == tuple(costs)


def test_nb101_equals_the_published_table(published_data: Callable[[str], Path]) -> None:
    archs, table = _published(published_data("nb101_20k.npz"))
    assert len(archs) == 20_001
    assert (SPACE.hashes(archs) == table["key"]).all()
    assert (SPACE.parameters(archs) == table["params"]).all()
    np.testing.assert_array_equal(SPACE.canonical_codes(archs), SPACE.codes(archs))


def test_nb101_published_inception_parameters() -> None:
    """What the published API answers for the README's Inception cell."""
    assert SPACE.parameters([SPACE.from_native(INCEPTION)])[0] == 2_694_282


def test_parse_refuses_a_number_of_thousands_of_digits_in_a_line() -> None:
    with pytest.raises(NasbedError, match="matrix, operations") as error:
        NB101().parse(f"[{'9' * 5000}]")
    assert len(str(error.value).splitlines()) == 1


BEST = "conv1x1:0/conv3x3:0/maxpool3x3:2/conv3x3:3/conv3x3:0,1,4/output:0,5"


def test_nb101_best_cell_has_the_published_four_encodings() -> None:
    """Section 3.3: the best architecture has 4 graph isomorphisms, producing 4 distinct peaks."""
    assert len(SPACE.encoded_points(SPACE.parse(BEST))) == 4


def test_nb101_encoded_points_are_all_that_decode_to_a_cell() -> None:
    """All matrices of up to ten edges with one labelling, decoded one by one, against those listed from the cell."""
    cell = SPACE.canonical(SPACE.parse("conv3x3:0/conv3x3:0/conv3x3:1/conv3x3:0,2,3/output:1,4"))
    numbers = SPACE.encoded_points(cell)
    edges = np.arange(1 << 21)
    edges = edges[np.bitwise_count(edges) <= 10]
    edges = edges[np.bitwise_count(kept_batch(edges)) == 6]
    codes = np.zeros((len(edges), 6), dtype=np.int64)
    codes[:, 0] = edges
    decoded = (SPACE.canonical_codes(codes) == cell.code).all(axis=1)
    listed = numbers[(numbers < 1 << 21) & (np.bitwise_count(numbers) <= 10)]
    assert np.array_equal(np.sort(listed), edges[decoded]) and len(np.unique(numbers)) == len(numbers)
    assert np.prod(SPACE.encoding_sizes) == 509_607_936  # "510M total unique models in this encoding"


def test_nb101_named_cells_are_the_published_ones(published_data: Callable[[str], Path]) -> None:
    """Their published hash, parameters, and for the best (94.32 % on test) a validation accuracy among the first."""
    inception, best = SPACE.parse("inception"), SPACE.named_architecture("best")
    assert SPACE.canonical(inception) == SPACE.canonical(SPACE.from_native(INCEPTION))
    table = np.load(published_data("nb101_20k.npz"))
    row = table["key"].tolist().index(SPACE.hash(best))
    assert table["params"][row] == SPACE.parameters([SPACE.canonical(best)])[0] == 32_426_634
    assert (table["val108"] > table["val108"][row]).sum() <= 5
    with pytest.raises(NasbedError, match=r"named are: best .*, inception .*, resnet"):
        SPACE.named_architecture("densenet")


def test_nb101_unique_neighbors_are_one_edit_apart_in_a_table() -> None:
    """A table finds its pairs by edits of canonical forms both ways, not by listing the forms of one cell."""
    for name in SPACE.named:
        cell = SPACE.canonical(SPACE.named_architecture(name))
        near = SPACE.unique_neighbors(cell)
        pairs = SPACE.neighbor_pairs(SPACE.codes([cell, *near]))
        connected = {
            row for pair in pairs for one, other in zip(*pair, strict=True) for row in (one, other) if 0 in (one, other)
        }
        assert len(set(near)) == len(near) > 5 and cell not in near
        assert connected == set(range(len(near) + 1))
