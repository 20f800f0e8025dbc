"""The shapes that a layout is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]
Size = tuple[float, float]
Sizes = Mapping[str, Size]
Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Box:
    """The rectangle that a node takes, by its centre."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2


Placed = tuple[dict[str, Box], dict[Edge, list[Point]]]
"""Boxes by node and polylines by edge, before they are moved into a frame."""


def simplified(points: Sequence[Point]) -> list[Point]:
    """The same line without the inner points of horizontal and vertical stretches."""
    corners = [points[0]]
    for point, following in pairwise([*points[1:], points[-1]]):
        inside = any(corners[-1][axis] == point[axis] == following[axis] for axis in (0, 1))
        if point != corners[-1] and (not inside or point == points[-1]):
            corners.append(point)
    return corners
