"""Layouts keep boxes apart, edges forward and out of other boxes, and crossings few."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.drawing.geometry import Box, Point
from nasbed.drawing.layout import DiagramLayout, layout
from nasbed.spaces.graph import Diagram, Node
from support.examples import examples


def plain(edges: list[tuple[str, str]], nodes: str) -> Diagram:
    return Diagram("", tuple(Node(name, name) for name in nodes), tuple(edges))


def placed(diagram: Diagram, size: tuple[float, float] = (60.0, 30.0)) -> DiagramLayout:
    return layout(diagram, {node.id: size for node in diagram.nodes})


@st.composite
def dags(draw: st.DrawFn, largest: int = 10) -> Diagram:
    count = draw(st.integers(1, largest))
    names = draw(st.permutations([str(i) for i in range(count)]))
    pairs = list(combinations(range(count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=18)) if pairs else []
    kinds = draw(st.lists(st.sampled_from(["operation", "sum", "input", "output"]), min_size=count, max_size=count))
    nodes = [Node(name, name, kind) for name, kind in zip(names, kinds, strict=True)]  # type: ignore[arg-type]
    order = draw(st.permutations(nodes))
    return Diagram("random", tuple(order), tuple((names[i], names[j]) for i, j in edges))


@st.composite
def fixed_dags(draw: st.DrawFn) -> Diagram:
    """Nodes on a half-integer grid, edges in any direction on it."""
    diagram = draw(dags(largest=8))
    halves = st.tuples(st.integers(0, 8), st.integers(0, 8))
    free: list[tuple[int, int]] = []
    for cell in draw(st.lists(halves, min_size=40, max_size=80)):
        if all(max(abs(cell[0] - taken_cell[0]), abs(cell[1] - taken_cell[1])) >= 2 for taken_cell in free):
            free.append(cell)
    nodes = [
        Node(node.id, node.label, node.kind, (free[i][0] / 2, free[i][1] / 2) if i < len(free) else None)
        for i, node in enumerate(diagram.nodes)
    ]
    return Diagram("fixed", tuple(nodes), diagram.edges)


def varied_sizes(diagram: Diagram) -> dict[str, tuple[float, float]]:
    return {node.id: (24.0 + 17 * (i % 5), 24.0 + 4 * (i % 3)) for i, node in enumerate(diagram.nodes)}


def drawn(points: tuple[Point, ...], steps: int = 24) -> list[Point]:
    """Points of the curve that a polyline stands for: a slanted stretch is an S-curve with level ends."""
    result = []
    for (x0, y0), (x1, y1) in pairwise(points):
        for t in (step / steps for step in range(steps + 1)):
            if x0 == x1 or y0 == y1:
                result.append((x0 + (x1 - x0) * t, y0 + (y1 - y0) * t))
            else:
                x = x0 * (1 - t) ** 3 + 1.5 * (x0 + x1) * t * (1 - t) + x1 * t**3
                result.append((x, y0 + (y1 - y0) * (3 * t**2 - 2 * t**3)))
    return result


def overlap(box: Box, rival: Box) -> bool:
    return box.left < rival.right and rival.left < box.right and box.top < rival.bottom and rival.top < box.bottom


def inside(point: Point, box: Box) -> bool:
    return box.left < point[0] < box.right and box.top < point[1] < box.bottom


def crossings(plan: DiagramLayout) -> int:
    """Proper intersections between the drawn curves."""

    def side(a: Point, b: Point, c: Point) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    count = 0
    for edge, rival in combinations(plan.edges, 2):
        first, second = drawn(plan.edges[edge], steps=7), drawn(plan.edges[rival], steps=9)  # no sample on a middle
        for a, b in pairwise(first):
            for c, d in pairwise(second):
                count += side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
    return count


@examples(40)
@given(st.one_of(dags(), fixed_dags()))
def test_layout_keeps_boxes_apart_and_edges_out_of_other_boxes(diagram: Diagram) -> None:
    sizes = varied_sizes(diagram)
    plan = layout(diagram, sizes)
    assert {name: (box.width, box.height) for name, box in plan.boxes.items()} == sizes
    assert not any(overlap(box, rival) for box, rival in combinations(plan.boxes.values(), 2))
    assert set(plan.edges) == set(diagram.edges)
    for edge, points in plan.edges.items():
        obstacles = [box for name, box in plan.boxes.items() if name not in edge]
        assert not any(inside(point, box) for point in drawn(points) for box in obstacles)
    everything = [point for line in plan.edges.values() for point in line]
    everything += [corner for box in plan.boxes.values() for corner in ((box.left, box.top), (box.right, box.bottom))]
    assert all(-1e-6 <= x <= plan.width + 1e-6 and -1e-6 <= y <= plan.height + 1e-6 for x, y in everything)


@examples(30)
@given(dags())
def test_layout_leads_every_edge_forward(diagram: Diagram) -> None:
    plan = placed(diagram)
    for (source, target), points in plan.edges.items():
        assert points[0][0] == pytest.approx(plan.boxes[source].right)
        assert points[-1][0] == pytest.approx(plan.boxes[target].left)
        assert all(start[0] < end[0] for start, end in pairwise(points))
        assert points[-2][1] == points[-1][1], "an arrowhead needs a level end"


@examples(25)
@given(st.sets(st.tuples(st.sampled_from("abcd"), st.sampled_from("wxyz")), min_size=1))
def test_layout_of_two_columns_has_the_minimum_number_of_crossings(edges: set[tuple[str, str]]) -> None:
    lefts, rights = ({edge[end] for edge in edges} for end in (0, 1))

    def count(left: tuple[str, ...], right: tuple[str, ...]) -> int:
        ends = [(left.index(a), right.index(b)) for a, b in edges]
        return sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))

    fewest = min(count(left, right) for left in permutations(lefts) for right in permutations(rights))
    diagram = plain(sorted(edges), "".join(sorted(lefts | rights)))
    assert crossings(placed(diagram)) == fewest


def test_layout_draws_a_planar_cell_without_crossings() -> None:
    """The complete graph on four nodes with an operation on each edge: in the order given, edges would cross."""
    ends = [("i", "1"), ("i", "2"), ("1", "2"), ("i", "o"), ("1", "o"), ("2", "o")]
    boxes = [Node(a + b, "op") for a, b in ends]
    features = [Node("i", "", "input"), Node("1", "", "sum"), Node("2", "", "sum"), Node("o", "", "output")]
    edges = [edge for a, b in ends for edge in ((a, a + b), (a + b, b))]
    assert crossings(placed(Diagram("", (*features, *boxes), tuple(edges)))) == 0


def test_layout_draws_a_chain_as_one_level_line_with_ends_at_the_edges() -> None:
    plan = placed(plain(list(pairwise("abcdef")), "fedcba"))
    assert len({box.y for box in plan.boxes.values()}) == 1
    assert all(len(points) == 2 for points in plan.edges.values())
    assert plan.boxes["a"].left == 0
    assert plan.boxes["f"].right == plan.width


def test_layout_puts_inputs_first_and_the_output_last() -> None:
    nodes = (Node("o", "", "output"), Node("x", ""), Node("y", ""), Node("a", "", "input"), Node("b", "", "input"))
    plan = placed(Diagram("", nodes, (("a", "x"), ("x", "y"), ("b", "o"))))
    assert plan.boxes["a"].x == plan.boxes["b"].x == min(box.x for box in plan.boxes.values())
    assert plan.boxes["o"].x == max(box.x for box in plan.boxes.values())


def test_layout_keeps_fixed_positions_as_a_grid() -> None:
    cells = {"a": (0, 0), "b": (1, 0), "c": (0, 1), "d": (2, 1), "e": (1.5, 2)}
    nodes = tuple(Node(name, name, at=at) for name, at in cells.items())
    boxes = placed(Diagram("", nodes, tuple(pairwise(cells)))).boxes
    across, down = boxes["b"].x - boxes["a"].x, boxes["c"].y - boxes["a"].y
    assert across > 60
    assert down > 30
    for name, (column, row) in cells.items():
        offset = (boxes[name].x - boxes["a"].x, boxes[name].y - boxes["a"].y)
        assert offset == pytest.approx((column * across, row * down))


def test_layout_puts_free_nodes_beside_fixed_ones() -> None:
    nodes = (Node("i", "", "input"), Node("a", "", at=(0, 0)), Node("b", "", at=(0, 1)), Node("o", "", "output"))
    boxes = placed(Diagram("", nodes, (("i", "a"), ("a", "b"), ("b", "o")))).boxes
    assert (boxes["i"].y, boxes["o"].y) == (boxes["a"].y, boxes["b"].y)
    assert boxes["i"].right < boxes["a"].left
    assert boxes["o"].left > boxes["b"].right


@given(dags())
@examples(15)
def test_layout_is_the_same_every_time(diagram: Diagram) -> None:
    assert placed(diagram) == placed(diagram)


def test_layout_of_nothing_is_empty() -> None:
    assert placed(Diagram("", (), ())) == DiagramLayout({}, {}, 0.0, 0.0)


@pytest.mark.parametrize(
    ("diagram", "rule"),
    [
        (plain([("a", "b"), ("b", "a")], "ab"), "no cycle"),
        (plain([("a", "z")], "ab"), "two nodes of its diagram"),
        (plain([], "aba"), "different ids"),
        (Diagram("", (Node("a", "", at=(0, 0)), Node("b", "", at=(0.5, 0.5))), ()), "a row apart"),
    ],
)
def test_layout_refuses_what_cannot_be_drawn_in_one_line(diagram: Diagram, rule: str) -> None:
    with pytest.raises(InvalidOption, match=rule) as caught:
        placed(diagram)
    assert isinstance(caught.value, NasbedError)
    assert "\n" not in str(caught.value)
