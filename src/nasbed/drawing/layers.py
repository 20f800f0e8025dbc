"""Layered layout: columns from left to right, few crossings, level edges (Sugiyama, Tagawa and Toda 1981)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise, permutations
from random import Random
from typing import TypeVar

from nasbed.drawing.geometry import Box, Edge, Placed, Point, Sizes, simplified
from nasbed.spaces.graph import Node

T = TypeVar("T")
_Columns = Sequence[Sequence[int]]

_STUB = 10.0  # an edge is level for this long before it reaches a node: room for an arrowhead
_GUTTER = (26.0, 90.0)  # between columns, from level edges to steep ones
_BOX_GAP, _LANE_GAP, _PORT_GAP = 18.0, 13.0, 9.0
_STARTS, _SWEEPS, _FEW_ITEMS, _SHORT_COLUMN = 16, 3, 200, 5


def in_layers(nodes: Sequence[Node], edges: Sequence[Edge], order: Sequence[str], sizes: Sizes) -> Placed:
    """Items are numbered: first the nodes, then one lane point for each column that an edge passes."""
    layer_of = _layering(nodes, edges, order)
    number = {node.id: index for index, node in enumerate(nodes)}
    columns: list[list[int]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for node in nodes:
        columns[layer_of[node.id]].append(number[node.id])
    heights = [sizes[node.id][1] for node in nodes]
    chains: list[list[int]] = []
    for source, target in edges:
        chain = [number[source]]
        for layer in range(layer_of[source] + 1, layer_of[target]):
            chain.append(len(heights))
            columns[layer].append(len(heights))
            heights.append(0.0)
        chains.append([*chain, number[target]])
    columns = _order_columns(columns, [segment for chain in chains for segment in pairwise(chain)])
    ys, lines = _assign_heights(columns, chains, heights, lanes_from=len(nodes))

    starts = [layer_of[source] for source, _ in edges]
    lefts, rights = _column_spans(columns, [sizes[node.id][0] for node in nodes], lines, starts)
    boxes = {}
    for node, y in zip(nodes, ys, strict=True):
        layer = layer_of[node.id]
        boxes[node.id] = Box((lefts[layer] + rights[layer]) / 2, y, *sizes[node.id])
    routes: dict[Edge, list[Point]] = {}
    for (source, target), start, line in zip(edges, starts, lines, strict=True):
        points = [(boxes[source].right, line[0])]
        for layer, (y, next_y) in enumerate(pairwise(line), start):
            points += [(rights[layer], y), (lefts[layer + 1] - _STUB, next_y)]
        routes[source, target] = simplified([*points, (boxes[target].left, line[-1])])
    return boxes, routes


def _neighbours(edges: Iterable[tuple[T, T]]) -> tuple[defaultdict[T, list[T]], defaultdict[T, list[T]]]:
    predecessors, successors = defaultdict(list), defaultdict(list)
    for source, target in edges:
        predecessors[target].append(source)
        successors[source].append(target)
    return predecessors, successors


def _layering(nodes: Sequence[Node], edges: Sequence[Edge], order: Sequence[str]) -> dict[str, int]:
    """The column of each node: by the longest path to it, or later if that shortens edges or uses free space."""
    predecessors, successors = _neighbours(edges)
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = max((layer[neighbour] + 1 for neighbour in predecessors[name]), default=0)
    last = max(layer.values(), default=0)
    kinds = {node.id: node.kind for node in nodes}
    for name in reversed(order):
        latest = min((layer[neighbour] - 1 for neighbour in successors[name]), default=last)
        if kinds[name] == "output" and not successors[name]:
            layer[name] = last
        elif kinds[name] != "input" and len(successors[name]) > len(predecessors[name]):
            layer[name] = latest
        elif kinds[name] == "operation" and len(successors[name]) == len(predecessors[name]):
            crowd = Counter(layer[neighbour] for neighbour in order if neighbour != name)
            layer[name] = min(range(layer[name], latest + 1), key=lambda column: crowd[column])
    return layer


def _order_columns(columns: list[list[int]], segments: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The orders with the fewest crossings, then the shortest edges, then the first column in its input order."""
    count = sum(map(len, columns))
    predecessors, successors = _neighbours(segments)

    def cost(order: list[list[int]]) -> tuple[int, float, int]:
        position = {item: index - (len(column) - 1) / 2 for column in order for index, item in enumerate(column)}
        pairs = [pair for column in order for pair in combinations(column, 2)]
        crossings = sum(
            position[a] > position[b] for upper, lower in pairs for a in successors[upper] for b in successors[lower]
        )
        length = sum(abs(position[left] - position[right]) for left, right in segments)
        return crossings, length, sum(upper > lower for column in order[:1] for upper, lower in combinations(column, 2))

    best, rng = columns, Random(0)
    for attempt in range(_STARTS if count <= _FEW_ITEMS else 1):
        order = [list(column) for column in columns]
        for column in order if attempt else ():
            rng.shuffle(column)
        position = _places(order)
        for near, indices in ((predecessors, range(len(order))), (successors, range(len(order))[::-1])) * _SWEEPS:
            for index in indices:
                means = {item: sum(position[n] for n in near[item]) / max(len(near[item]), 1) for item in order[index]}
                order[index].sort(key=lambda item: means[item] if near[item] else position[item])
                position |= _places(order[index : index + 1])
            for index in [*indices, *indices[::-1]]:
                order[index] = _between(order[index], (predecessors, successors), position)
                position |= _places(order[index : index + 1])
            best = min(best, [list(column) for column in order], [column[::-1] for column in order], key=cost)
    return best


def _places(order: _Columns) -> dict[int, int]:
    return {item: place for column in order for place, item in enumerate(column)}


def _between(column: list[int], sides: Iterable[Mapping[int, list[int]]], position: Mapping[int, int]) -> list[int]:
    """The best order of a column between two that stay: exact for a short column, by neighbour swaps for a long one."""
    if len(column) < 2:
        return column
    ends = {item: [[position[n] for n in side[item]] for side in sides] for item in column}

    def crossings(upper: int, lower: int) -> int:
        pairs = zip(ends[upper], ends[lower], strict=True)
        return sum([a > b for upper_ends, lower_ends in pairs for a in upper_ends for b in lower_ends])

    cross = {pair: crossings(*pair) for pair in permutations(column, 2)}
    if len(column) <= _SHORT_COLUMN:
        fewest = sum([min(cross[a, b], cross[b, a]) for a, b in combinations(column, 2)])
        counts: dict[tuple[int, ...], int] = {}
        for candidate in permutations(column):
            counts[candidate] = sum([cross[pair] for pair in combinations(candidate, 2)])
            if counts[candidate] == fewest:
                break
        return list(min(counts.items(), key=lambda item: item[1])[0])
    order = list(column)
    for i in [*range(len(order) - 1)] * len(order):
        if cross[order[i], order[i + 1]] > cross[order[i + 1], order[i]]:
            order[i : i + 2] = order[i + 1], order[i]
    return order


class _LinearProgram:
    """A linear program over heights, none negative, gathered piece by piece."""

    def __init__(self) -> None:
        self.costs: list[float] = []
        self.terms: list[tuple[int, int, float]] = []  # row, variable, coefficient
        self.limits: list[float] = []

    def variable(self, cost: float = 0.0) -> int:
        self.costs.append(cost)
        return len(self.costs) - 1

    def below(self, upper: int, lower: int, gap: float, slack: int | None = None) -> None:
        """Demand that ``lower`` lies ``gap`` or more under ``upper``, but for the value of ``slack``."""
        row = len(self.limits)
        self.terms += [(row, upper, 1.0), (row, lower, -1.0)] + ([] if slack is None else [(row, slack, -1.0)])
        self.limits.append(-gap)

    def close(self, lower: int, upper: int, *, by: int, offset: float = 0.0) -> None:
        """Demand that ``one`` lies ``offset`` under ``other``, up or down to the value of ``by``."""
        self.below(upper, lower, offset, slack=by)
        self.below(lower, upper, -offset, slack=by)

    def solved(self) -> list[float]:
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        if not self.terms:
            return [0.0] * len(self.costs)
        rows, variables, values = zip(*self.terms, strict=True)
        matrix = coo_array((values, (rows, variables)), shape=(len(self.limits), len(self.costs))).tocsr()
        solution = linprog(self.costs, A_ub=matrix, b_ub=self.limits, bounds=(0, None), method="highs")
        return [round(float(value), 2) for value in solution.x]


def _assign_heights(
    columns: _Columns, chains: _Columns, heights: Sequence[float], *, lanes_from: int
) -> tuple[list[float], list[list[float]]]:
    """The height of each node, and of each chain in every column that it touches.

    The first goal is level edges, lanes above all; the second, nodes centred between their neighbours; the third, a low
    drawing. Edges that share a side of a node have a port each, in the order of their other ends.
    """
    program = _LinearProgram()
    for _ in heights:
        program.variable()
    bottom = program.variable(cost=0.02)
    for column in columns:
        for upper, lower in pairwise(column):
            gap = _BOX_GAP if max(upper, lower) < lanes_from else _LANE_GAP
            program.below(upper, lower, (heights[upper] + heights[lower]) / 2 + gap)
        program.below(column[-1], bottom, 0.0)

    place, lines = _places(columns), [list(chain) for chain in chains]
    fans: dict[tuple[int, int], int] = {}
    for end, neighbour in ((0, 1), (-1, -2)):
        for node in dict.fromkeys(chain[end] for chain in chains):
            fans[node, end] = program.variable(cost=0.3)
            indices = [index for index, chain in enumerate(chains) if chain[end] == node]
            indices.sort(key=lambda index: place[chains[index][neighbour]])
            gap = min(_PORT_GAP, heights[node] * 0.6 / max(len(indices) - 1, 1))
            for rank, index in enumerate(indices if len(indices) > 1 else ()):
                port = lines[index][end] = program.variable()
                program.close(port, node, by=program.variable(cost=1.6), offset=(rank - (len(indices) - 1) / 2) * gap)
                program.below(node, port, -heights[node] * 0.32)
                program.below(port, node, -heights[node] * 0.32)
                if rank:
                    program.below(lines[indices[rank - 1]][end], port, gap)
    for chain, line in zip(chains, lines, strict=True):
        for step, (left, right) in enumerate(pairwise(line)):
            lanes = (chain[step] >= lanes_from) + (chain[step + 1] >= lanes_from)
            alone = (left < lanes_from) + (right < lanes_from)  # ends that are the only edge on their side of a node
            program.close(left, right, by=program.variable(cost=(1.0, 2.0, 8.0)[lanes] * (1.0 + 0.2 * alone)))
        program.close(*line[:2], by=fans[chain[0], 0])
        program.close(*line[-2:], by=fans[chain[-1], -1])
    ys = program.solved()
    return ys[:lanes_from], [[ys[variable] for variable in line] for line in lines]


def _column_spans(
    columns: _Columns, widths: Sequence[float], lines: Sequence[Sequence[float]], starts: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Left and right of each column; the gutters between them grow with the steepest edge that they hold."""
    rise = [0.0] * len(columns)
    for line, start in zip(lines, starts, strict=True):
        for layer, (y, next_y) in enumerate(pairwise(line), start):
            rise[layer] = max(rise[layer], abs(next_y - y))
    lefts, rights, x = [], [], 0.0
    for layer, column in enumerate(columns):
        lefts.append(x)
        rights.append(x + max((widths[item] for item in column if item < len(widths)), default=0.0))
        x = rights[-1] + min(_GUTTER[0] + 0.3 * rise[layer], _GUTTER[1]) + _STUB
    return lefts, rights
