"""What a method wants of the cells of its supernet, beside the space's own ``cell_graph``."""

from __future__ import annotations

from dataclasses import dataclass

from nasbed.core.errors import InvalidOption, shorten


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
