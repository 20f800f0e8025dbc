"""The layout of a small diagram: places of its nodes, and routes of its edges around them.

A diagram without fixed positions is layered from left to right (Sugiyama, Tagawa and Toda 1981). Each node is in a
column after its inputs. Each long edge has its own lane through the columns that it passes. The layout has few
crossings, and edges are as level as the order allows. A diagram with fixed positions (``Node.at``) keeps them as a
grid, and its edges run along the borders of the grid's cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

from nasbed.core.errors import InvalidOption, shorten
from nasbed.drawing.geometry import Box, Edge, Point, Sizes
from nasbed.drawing.grid import on_grid
from nasbed.drawing.layers import in_layers
from nasbed.spaces.graph import Diagram


@dataclass(frozen=True, slots=True)
class DiagramLayout:
    """Boxes and edge polylines in a frame from (0, 0) to (width, height), y pointing down.

    Draw a level or upright segment of a polyline as a line, and a slanted one as an S-curve with level ends. An edge
    then stays clear of every box except its own two.
    """

    boxes: Mapping[str, Box]
    edges: Mapping[Edge, tuple[Point, ...]]
    width: float
    height: float


def layout(diagram: Diagram, sizes: Sizes) -> DiagramLayout:
    """The layout of a diagram whose nodes have these (width, height) by id. Repeated edges count once."""
    edges = tuple(dict.fromkeys(diagram.edges))
    order = _topological(diagram, edges)
    if any(node.at is not None for node in diagram.nodes):
        return _frame(*on_grid(diagram.nodes, edges, sizes))
    return _frame(*in_layers(diagram.nodes, edges, order, sizes))


def _topological(diagram: Diagram, edges: Sequence[Edge]) -> list[str]:
    ids = [node.id for node in diagram.nodes]
    if len(set(ids)) < len(ids):
        raise InvalidOption(f"the nodes of a diagram have different ids, got {shorten(ids)}; rename one")
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(ids, ()))
    for source, target in edges:
        if source not in ids or target not in ids:
            raise InvalidOption(f"an edge joins two nodes of its diagram, got {shorten((source, target))}; add them")
        sorter.add(target, source)
    try:
        return list(sorter.static_order())
    except CycleError as error:
        raise InvalidOption(f"a diagram has no cycle, got {shorten(error.args[1])}; remove an edge") from None


def _frame(boxes: Mapping[str, Box], edges: Mapping[Edge, Sequence[Point]]) -> DiagramLayout:
    points = [point for line in edges.values() for point in line]
    xs = [x for box in boxes.values() for x in (box.left, box.right)] + [x for x, _ in points]
    ys = [y for box in boxes.values() for y in (box.top, box.bottom)] + [y for _, y in points]
    left, top = min(xs, default=0.0), min(ys, default=0.0)
    moved = {name: Box(box.x - left, box.y - top, box.width, box.height) for name, box in boxes.items()}
    lines = {edge: tuple((x - left, y - top) for x, y in line) for edge, line in edges.items()}
    width, height = max(xs, default=0.0) - left, max(ys, default=0.0) - top
    return DiagramLayout(MappingProxyType(moved), MappingProxyType(lines), width, height)
