"""What the cells of a supernet have in common, seen from a method: edges, and candidate operations on each."""

from __future__ import annotations

from dataclasses import dataclass

from nasbed.core.errors import InvalidOption, shorten

NONE = "none"
"""The candidate that carries nothing."""


@dataclass(frozen=True, slots=True)
class SupernetCells:
    """``kinds`` are the cells that have architectures of their own (normal and reduction in DARTS). All have the same
    ``edges``, pairs (source, target) with those into one node side by side, and the same candidate ``operations``.

    >>> SupernetCells(("cell",), ((0, 1), (0, 2), (1, 2)), ("none", "skip_connect")).incoming
    ((0, 1), (1, 3))
    """

    kinds: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    operations: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Kinds, edges and candidates: the shape of everything that weighs operations."""
        return len(self.kinds), len(self.edges), len(self.operations)

    @property
    def incoming(self) -> tuple[tuple[int, int], ...]:
        """For each node with edges into it, the first of these edges and one past the last."""
        targets = [target for _, target in self.edges]
        firsts = [place for place, target in enumerate(targets) if target not in targets[:place]]
        return tuple(zip(firsts, [*firsts[1:], len(targets)], strict=True))

    @property
    def real(self) -> tuple[int, ...]:
        """The candidates that carry something."""
        return tuple(place for place, name in enumerate(self.operations) if name != NONE)


@dataclass(frozen=True, slots=True)
class Layout:
    """What a method wants of its supernet beside the cells. One channel in ``partial`` goes through the operations of
    an edge, the others pass by; ``candidates[kind][edge]`` are those that exist at all, None for all of them."""

    partial: int = 1
    candidates: tuple[tuple[tuple[int, ...], ...], ...] | None = None

    def __post_init__(self) -> None:
        if type(self.partial) is not int or self.partial < 1:
            raise InvalidOption(
                f"one channel in 1, 2 or more goes through an edge, got partial {shorten(self.partial)}"
            )
