"""The spaces of Bonsai-Net: closed forms, graph search, and what they share with every registered space."""

from __future__ import annotations

from itertools import islice, permutations, product

import networkx as nx
import numpy as np
import pytest

import nasbed
from nasbed import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, ParseError
from nasbed.optimizers import OPTIMIZERS
from nasbed.spaces import registered_id
from nasbed.spaces.bonsai import BonsaiCell, BonsaiGenotype, Frame, bonsai_space
from nasbed.spaces.bonsai.cell_text import cell_lines, changes, diagrams
from nasbed.spaces.bonsai.frame import OPERATIONS
from nasbed.spaces.bonsai.paths import useful
from nasbed.testing import SpaceConformance
from nasbed.testing.optimizers import measured, problem_on

FRAMES = [Frame("n", 1), Frame("nr", 2), Frame("rnr", 1), Frame("nrrn", 3)]


class TestSmallFrame(SpaceConformance):
    def make_space(self) -> nasbed.SearchSpace:
        return nasbed.space("bonsai-rn-2")


def test_names_tell_the_frame() -> None:
    assert nasbed.space("bonsai") is nasbed.space("bonsai") and nasbed.space("bonsai").size == 2**111
    assert nasbed.space("bonsai-nrn-2").name == "bonsai" and nasbed.space("bonsai-nr-1").size == 2**31
    assert registered_id("bonsai-nr-1") == registered_id("bonsai") == "bonsai" and registered_id("bons-a") == "bons-a"
    for name in ("bonsai-", "bonsai-nr", "bonsai-nr-0", "bonsai-nx-1", "bonsai-nr-1-2"):
        with pytest.raises(InvalidOption, match="bonsai-CELLS-NODES"):
            nasbed.space(name)


def random_codes(frame: Frame, rng: np.random.Generator) -> list[bool]:
    """Some of everything; the fewer, the more of it leads nowhere."""
    share = rng.choice([0.05, 0.1, 0.3, 0.8])
    return [bool(is_kept) for is_kept in rng.random(frame.count) < share]


def flag_edges(frame: Frame) -> list[tuple[str, str]]:
    """For every flag the two places that it joins, named apart from the code under test."""
    edges = []
    for cell in range(len(frame.cells)):
        outputs = ["stem", *(f"{number}:{frame.nodes + 1}" for number in range(cell))]
        edges += [(output, f"{cell}:1") for output in outputs]
        for target in range(2, frame.nodes + 2):
            for source in range(target):
                name = outputs[-1] if source == 0 else f"{cell}:{source}"
                edges += [(name, f"{cell}:{target}")] * len(OPERATIONS)
    return edges


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_useful_is_what_lies_on_a_path_by_graph_search(frame: Frame) -> None:
    rng = np.random.default_rng(1)
    edges, output = flag_edges(frame), f"{len(frame.cells) - 1}:{frame.nodes + 1}"
    assert len(edges) == frame.count
    for _ in range(60):
        flags = random_codes(frame, rng)
        graph = nx.DiGraph([edge for edge, is_kept in zip(edges, flags, strict=True) if is_kept])
        graph.add_nodes_from(["stem", output])
        forward, backward = nx.descendants(graph, "stem") | {"stem"}, nx.ancestors(graph, output) | {output}
        expected = [
            is_kept and source in forward and target in backward
            for (source, target), is_kept in zip(edges, flags, strict=True)
        ]
        assert useful(frame, flags) == expected


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_canonical_keeps_what_lies_on_a_path_and_forgets_the_order_of_inner_nodes(frame: Frame) -> None:
    space, rng = bonsai_space(frame.space_name), np.random.default_rng(3)
    for _ in range(20):
        code = random_codes(frame, rng)
        canonical = space.canonical(Architecture(space.name, tuple(map(int, code))))
        assert sum(canonical.code) == sum(useful(frame, code))
        for neighbor in islice(space.neighbors(canonical), 60):
            if not any(useful(frame, [bool(flag) for flag in neighbor.code])):
                assert not any(space.canonical(neighbor).code)
    if frame.nodes == 3:
        cell, swapped = (
            BonsaiCell(
                (), tuple((name,) if edge in edges else () for edge, name in zip(frame.edges, rows, strict=True))
            )
            for edges, rows in (
                (((0, 2), (0, 3), (2, 4), (3, 4)), ["skip_connect", *["sep_conv_3x3"] * 8]),
                (((0, 2), (0, 3), (2, 4), (3, 4)), [*["sep_conv_3x3"] * 2, "skip_connect", *["sep_conv_3x3"] * 6]),
            )
        )
        first, second = (BonsaiGenotype(frame, (repeated,) * 4).architecture for repeated in (cell, swapped))
        assert first != second and space.canonical(first) == space.canonical(second)


def relabelled(frame: Frame, cell: BonsaiCell) -> list[BonsaiCell]:
    """A cell with its inner nodes in every order in which all edges that it uses go forward."""
    inner, cells = range(2, frame.nodes + 1), []
    for order in permutations(inner):
        place = {0: 0, 1: 1, frame.nodes + 1: frame.nodes + 1, **dict(zip(inner, order, strict=True))}
        moved = {
            (place[source], place[target]): names
            for (source, target), names in zip(frame.edges, cell.operations, strict=True)
            if names
        }
        if all(source < target for source, target in moved):
            cells.append(BonsaiCell(cell.inputs, tuple(moved.get(edge, ()) for edge in frame.edges)))
    return cells


@pytest.mark.parametrize("frame", [Frame("n", 3), Frame("rn", 3), Frame("n", 4)], ids=str)
def test_canonical_is_the_smallest_code_over_all_orders_of_inner_nodes(frame: Frame) -> None:
    space, rng = bonsai_space(frame.space_name), np.random.default_rng(5)
    changed = 0
    for _ in range(60):
        genotype = BonsaiGenotype.from_flags(frame, random_codes(frame, rng)).pruned()
        cells = [relabelled(frame, cell) for cell in genotype.cells]
        smallest = min(BonsaiGenotype(frame, chosen).architecture.code for chosen in product(*cells))
        assert space.canonical(genotype.architecture).code == smallest
        changed += smallest != genotype.architecture.code
    assert changed > 5


def test_full_architecture_has_the_counts_of_its_frame() -> None:
    """Two nodes have 2 + 3 edges, each with 7 operations; cell i has i + 1 inputs."""
    full = BonsaiGenotype.full(Frame("nrn", 2))
    assert (full.kept, full.size, sum(full.flags)) == (3 * 5 * 7, 1.0, 3 * 5 * 7 + 1 + 2 + 3)
    assert full.skips() == {"normal": 10, "reducing": 5}


def test_random_architecture_keeps_to_its_target_and_needs_room() -> None:
    rng, space = np.random.default_rng(3), bonsai_space("bonsai")
    archs = [space.random(rng, target=0.25) for _ in range(20)]
    sizes = space.properties(archs)["size"]
    assert all(sizes > 0) and all(sizes <= 0.25) and len(set(archs)) == 20
    with pytest.raises(InvalidOption, match="use a larger target"):
        bonsai_space("bonsai-n-1").random(rng, target=0.01)
    with pytest.raises(InvalidOption, match="a share above 0"):
        space.random(rng, target=0)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (BonsaiCell((1,), (("skip_connect",), ())), "the inputs of cell 0 are rising numbers from 0 to 0"),
        (BonsaiCell((), (("skip_connect",),)), "has 2 edges, got 1"),
        (BonsaiCell((), (("max_pool_3x3", "skip_connect"), ())), "in this order"),
        (BonsaiCell((), (("none",), ())), "on the edge 0-2 of cell 0"),
    ],
)
def test_invalid_genotype_says_why(cell: BonsaiCell, message: str) -> None:
    with pytest.raises(InvalidArchitecture, match=message):
        BonsaiGenotype(Frame("n", 1), (cell,))


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[1]",
        '{"cells": "n"}',
        '{"cells": "n", "nodes": 1, "kept": 3}',
        '{"cells": "n", "nodes": 1, "kept": [{"inputs": ["a"], "operations": {}}]}',
        '{"cells": "n", "nodes": 1, "kept": [{"inputs": [], "operations": {"2-2": []}}]}',
        '{"cells": "n", "nodes": 1, "kept": [{"inputs": [], "operations": {"0-2": "skip_connect"}}]}',
        "[" * 100_000,
    ],
)
def test_text_that_is_no_architecture_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="a JSON object with cells, nodes and kept"):
        BonsaiGenotype.from_json(text)


def test_space_refuses_architectures_of_another_frame() -> None:
    space = bonsai_space("bonsai")
    small = BonsaiGenotype.full(Frame("nr", 1))
    with pytest.raises(InvalidArchitecture, match="belongs to the space 'bonsai-nr-1', not 'bonsai'"):
        space.from_native(small)
    with pytest.raises(InvalidArchitecture, match="belongs to the space 'bonsai-nr-1', not 'bonsai'"):
        space.parse(small.to_json())
    assert space.from_native(BonsaiGenotype.full(Frame()).plain()) == BonsaiGenotype.full(Frame()).architecture


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_optimizers_propose_valid_architectures(name: str) -> None:
    space = bonsai_space("bonsai-nr-1")
    optimizer = OPTIMIZERS.get(name)(problem_on(space), rng=np.random.default_rng(0))
    for _ in range(12):
        for proposal in optimizer.ask():
            space.validate(proposal.architecture)
            optimizer.tell((measured(proposal),))


# --- in words and as pictures ----------------------------------------------------------------------------------------


def test_changes_and_lines_say_what_is_kept_by_hand() -> None:
    full = BonsaiGenotype.full(Frame("nr", 1))
    flags = list(full.flags)
    flags[2] = flags[15] = False  # max_pool_3x3 of the first cell, the stem as an input of the second
    pruned = BonsaiGenotype.from_flags(full.frame, flags)
    assert changes(full, pruned) == "max_pool_3x3 −1, inputs −1"
    assert changes(pruned, full) == "max_pool_3x3 +1, inputs +1" and changes(full, full) == ""
    text = (
        '{"cells": "nrn", "nodes": 2, "kept": [{"inputs": [0], "operations": {"1-2": ["skip_connect"], "2-3": '
        '["sep_conv_3x3", "dil_conv_5x5"]}}, {"inputs": [], "operations": {}}, {"inputs": [0, 1], "operations": '
        '{"1-3": ["max_pool_3x3"]}}]}'
    )
    genotype = BonsaiGenotype.from_json(text)
    assert cell_lines(genotype) == [
        "cell 1, normal    1 = stem",
        "                  2 = skip_connect(1)",
        "                  3 = sep_conv_3x3(2) + dil_conv_5x5(2)",
        "cell 2, reducing  is not there",
        "cell 3, normal    1 = stem + cell 1",
        "                  3 = max_pool_3x3(1)",
    ]
    first, last = diagrams(genotype)
    assert (first.title, last.title) == ("Cell 1, normal", "Cell 3, normal")
    assert set(last.edges) == {("from 0", "1"), ("from 1", "1"), ("1", "1-3-max_pool_3x3"), ("1-3-max_pool_3x3", "3")}
    assert len(first.edges) == 1 + 2 + 4
    (crowded,) = diagrams(BonsaiGenotype.full(Frame("n", 2)))
    assert [node.label for node in crowded.nodes if node.kind == "operation"] == ["7 operations"] * 5
    (empty,) = bonsai_space("bonsai").diagrams(Architecture("bonsai", (0,) * 111))
    assert empty.title == "Nothing is kept" and empty.edges == ()
