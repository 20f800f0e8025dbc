"""Grid layout: nodes at their fixed positions, edges along the borders of the grid's cells."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import pairwise

from nasbed.core.errors import InvalidOption, shorten
from nasbed.drawing.geometry import Box, Edge, Placed, Point, Sizes, simplified
from nasbed.spaces.graph import Node

_GRID_GAP = (34.0, 30.0)
_BEND, _SHARED = 0.6, 3.0  # a route's price of a bend, in cells, and of a stretch that another route has, as a factor


def on_grid(nodes: Sequence[Node], edges: Sequence[Edge], sizes: Sizes) -> Placed:
    cells = _cells(nodes, edges)
    pitch_x = max(width for width, _ in sizes.values()) + _GRID_GAP[0]
    pitch_y = max(height for _, height in sizes.values()) + _GRID_GAP[1]
    boxes = {name: Box(column * pitch_x, row * pitch_y, *sizes[name]) for name, (column, row) in cells.items()}
    used: set[tuple[Point, Point]] = set()
    routes: dict[Edge, list[Point]] = {}
    for source, target in edges:
        path = _route(cells, source, target, used)
        used.update((min(pair), max(pair)) for pair in pairwise(path))
        points = [(x * pitch_x, y * pitch_y) for x, y in simplified(path)]
        first, last = boxes[source], boxes[target]
        points[0] = (first.right, first.y) if path[1][1] == path[0][1] else (first.x, first.bottom)
        points[-1] = (last.left, last.y) if path[-2][1] == path[-1][1] else (last.x, last.top)
        routes[source, target] = points
    return boxes, routes


def _cells(nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[str, Point]:
    """The (column, row) of each node. A node without a position is placed right of its inputs, or left of its
    outputs."""
    cells: dict[str, Point] = {}
    for node in nodes:
        if node.at is not None:
            for name, cell in cells.items():
                if _overlap(cell, node.at):
                    pair = shorten((name, node.id))
                    raise InvalidOption(f"fixed nodes lie a column or a row apart, {pair} overlap; move one")
            cells[node.id] = node.at
    for node in nodes:
        if node.id not in cells:
            sources = [cells[source] for source, target in edges if target == node.id and source in cells]
            after = [cells[target] for source, target in edges if source == node.id and target in cells]
            step = -1.0 if after and not sources else 1.0
            new_row = (-1.0, 1.0 + max(row for _, row in cells.values()))
            column, row = max(sources) if sources else min(after, default=new_row)
            while any(_overlap((column + step, row), cell) for cell in cells.values()):
                column += step
            cells[node.id] = (column + step, row)
    return cells


def _overlap(first: Point, second: Point, within: float = 1.0) -> bool:
    return max(abs(first[0] - second[0]), abs(first[1] - second[1])) < within - 1e-6


def _route(cells: Mapping[str, Point], source: str, target: str, used: set[tuple[Point, Point]]) -> list[Point]:
    """The cheapest way along cell borders, out of a cell by its right or bottom and into one by its left or top."""
    start, goal = cells[source], cells[target]
    xs = sorted({x + shift for x, _ in cells.values() for shift in (-0.5, 0.0, 0.5)})
    ys = sorted({y + shift for _, y in cells.values() for shift in (-0.5, 0.0, 0.5)})

    def free(middle: Point, heading: tuple[int, int]) -> bool:
        axis = 0 if heading[0] else 1
        for name, cell in cells.items():
            if _overlap(middle, cell, within=0.5):
                ahead = middle[axis] > cell[axis] if name == source else middle[axis] < cell[axis]
                return name in (source, target) and sum(heading) == 1 and middle[1 - axis] == cell[1 - axis] and ahead
        return True

    queue: list[tuple[float, int, tuple[int, int], tuple[Point, ...]]] = [(0.0, 0, (1, 0), (start,))]
    visited: set[tuple[Point, tuple[int, int]]] = set()
    while queue[0][-1][-1] != goal:
        cost, _, heading, path = heapq.heappop(queue)
        end = path[-1]
        if (end, heading) in visited:
            continue
        visited.add((end, heading))
        for turn in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            column, row = xs.index(end[0]) + turn[0], ys.index(end[1]) + turn[1]
            if not (0 <= column < len(xs) and 0 <= row < len(ys)):
                continue
            neighbour = (xs[column], ys[row])
            if free(((end[0] + neighbour[0]) / 2, (end[1] + neighbour[1]) / 2), turn):
                length = abs(neighbour[0] - end[0]) + abs(neighbour[1] - end[1])
                price = length * (_SHARED if (min(end, neighbour), max(end, neighbour)) in used else 1.0)
                bend = _BEND if turn != heading else 0.0
                heapq.heappush(queue, (cost + price + bend, len(visited), turn, (*path, neighbour)))
    return list(queue[0][-1])
