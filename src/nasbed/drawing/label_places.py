"""Places for the names of points so that they do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""

LETTER, LINE, DOT = 6.4, 13.0, 5.0
DISTANCES = (8.0, 12.0, 18.0, 26.0, 38.0, 52.0, 68.0, 86.0)
DIRECTIONS = 24


@dataclass(frozen=True, slots=True)
class Label:
    """The middle of a name, the place at its edge that is nearest to its point, and the distance between the two."""

    middle: Point
    edge: Point
    distance: float


def label_places(points: Sequence[Point], names: Sequence[str], *, width: float, height: float) -> list[Label]:
    """The place of each point's name, in pixels like the points.

    It is the nearest place that covers no point, no other name and no edge of the chart, or else the one that covers
    the least. Points in crowds are placed first.

    >>> label_places([(50.0, 50.0)], ["a"], width=100, height=100)
    [Label(middle=(61.2, 50.0), edge=(58.0, 50.0), distance=8.0)]
    """
    crowd = [sum(hypot(x - a, y - b) < 60 for a, b in points) for x, y in points]
    dots = [(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in points]
    occupied: list[Box] = []
    middles: dict[int, Point] = {}
    for place in sorted(range(len(points)), key=lambda index: -crowd[index]):
        half = LETTER * len(names[place]) / 2
        best, least = points[place], float("inf")
        for step, distance in enumerate(DISTANCES):
            for turn in range(DIRECTIONS):
                angle = (turn + 1) // 2 * (-1) ** turn * 2 * pi / DIRECTIONS
                x = points[place][0] + cos(angle) * (distance + half)
                y = points[place][1] + sin(angle) * distance
                box = (x - half, y - LINE / 2, x + half, y + LINE / 2)
                outside = max(0.0, -box[0]) + max(0.0, box[2] - width) + max(0.0, -box[1]) + max(0.0, box[3] - height)
                line = _line(points[place], (x, y), half)
                obstacles = [*dots[:place], *dots[place + 1 :], *occupied]
                covered = 1000 * outside + sum(
                    _shared_area(part, obstacle) for part in (box, *line) for obstacle in obstacles
                )
                covered += _shared_area(box, dots[place])
                if covered + step < least:
                    best, least = (round(x, 1), round(y, 1)), covered + step
        middles[place] = best
        occupied.append((best[0] - half, best[1] - LINE / 2, best[0] + half, best[1] + LINE / 2))
        occupied += _line(points[place], best, half)
    return [_label(points[place], middles[place], names[place]) for place in range(len(points))]


def _label(point: Point, middle: Point, name: str) -> Label:
    edge = _edge(point, middle, LETTER * len(name) / 2)
    return Label(middle, edge, hypot(point[0] - edge[0], point[1] - edge[1]))


def _edge(point: Point, middle: Point, half: float) -> Point:
    x = min(max(point[0], middle[0] - half), middle[0] + half)
    y = min(max(point[1], middle[1] - LINE / 2), middle[1] + LINE / 2)
    return x, y


def _line(point: Point, middle: Point, half: float) -> list[Box]:
    """Small boxes along the way from a point to its name."""
    x, y = _edge(point, middle, half)
    fractions = [step / 6 for step in range(1, 6)]
    middles = [(point[0] + fraction * (x - point[0]), point[1] + fraction * (y - point[1])) for fraction in fractions]
    return [(a - 2, b - 2, a + 2, b + 2) for a, b in middles]


def _shared_area(first: Box, second: Box) -> float:
    """The area that two boxes share."""
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    return across * down if across > 0 and down > 0 else 0.0
