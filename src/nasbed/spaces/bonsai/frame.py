"""What an architecture of Bonsai-Net can keep: the inputs of each cell, and the operations of each of its edges.

Every cell is its own. It has two entrances, numbered 0 and 1: the output of the cell before, and the sum of all earlier
outputs that it keeps as inputs, the stem's among them. Its nodes are numbered from 2, and the last node is the output.
Each adds up every operation that is kept on an edge from an entrance or an earlier node.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from nasbed.core.errors import InvalidOption, shorten
from nasbed.spaces.bonsai.paths import useful

OPERATIONS = (
    "skip_connect",
    "max_pool_3x3",
    "avg_pool_3x3",
    "sep_conv_3x3",
    "sep_conv_5x5",
    "dil_conv_3x3",
    "dil_conv_5x5",
)
SIZES = (1, 1, 1, 8, 8, 4, 4)
"""How many feature maps the layers of each operation write: its share of memory, since all maps of a cell have one
size."""
ENTRANCES = 2
FAMILY = "bonsai"
"""The id of the space with the usual frame, and the first word of all other names."""
_NAME = re.compile(rf"{FAMILY}-([nr]+)-([1-9][0-9]*)")


@dataclass(frozen=True)
class Frame:
    """The cells and nodes of a space. ``cells`` has a letter for each cell: n is normal, r halves the resolution and
    doubles the channels.

    Everything that can be kept has a flag, in one row: cell by cell its inputs, then edge by edge its operations.

    >>> frame = Frame("nr", nodes=1)
    >>> frame.edges, frame.inputs(1), frame.operations(1, 0), frame.count
    (((0, 2), (1, 2)), range(15, 17), range(17, 24), 31)
    """

    cells: str = "nrn"
    nodes: int = 2

    def __post_init__(self) -> None:
        if not isinstance(self.cells, str) or not self.cells or set(self.cells) - set("nr"):
            raise InvalidOption(
                f"the cells of a frame are letters n (normal) and r (reducing), such as nrn, got {shorten(self.cells)}"
            )
        if type(self.nodes) is not int or self.nodes < 1:
            raise InvalidOption(f"a cell has a whole number of nodes, 1 or more, got {shorten(self.nodes)}")

    @classmethod
    def of_space(cls, name: str) -> Frame:
        """The frame that the name of a space tells; the inverse of :attr:`space_name`.

        >>> Frame.of_space("bonsai-nr-1"), Frame.of_space("bonsai").space_name
        (Frame(cells='nr', nodes=1), 'bonsai')
        """
        if name == FAMILY:
            return cls()
        match = _NAME.fullmatch(name)
        if match is None:
            raise InvalidOption(
                f"a space of Bonsai-Net is called {FAMILY}-CELLS-NODES, such as {FAMILY}-nrn-2, got {shorten(name)}"
            )
        return cls(match[1], int(match[2]))

    @property
    def space_name(self) -> str:
        """What the space of these architectures is called: ``bonsai`` with the usual frame."""
        return FAMILY if self == Frame() else f"{FAMILY}-{self.cells}-{self.nodes}"

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Pairs (source, target); the same in every cell."""
        return tuple((source, target) for target in self.targets for source in range(target))

    @property
    def targets(self) -> range:
        """The nodes with edges into them."""
        return range(ENTRANCES, ENTRANCES + self.nodes)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        counts = (cell + 1 + len(self.edges) * len(OPERATIONS) for cell in range(len(self.cells)))
        return (0, *accumulate(counts))

    @cached_property
    def _inputs(self) -> tuple[range, ...]:
        return tuple(range(start, start + cell + 1) for cell, start in enumerate(self._starts[:-1]))

    @cached_property
    def _operations(self) -> tuple[tuple[range, ...], ...]:
        return tuple(
            tuple(range(first, first + len(OPERATIONS)) for first in range(inputs.stop, end, len(OPERATIONS)))
            for inputs, end in zip(self._inputs, self._starts[1:], strict=True)
        )

    @property
    def count(self) -> int:
        """The number of flags."""
        return self._starts[-1]

    def inputs(self, cell: int) -> range:
        """The flags of a cell's inputs; input 0 is the stem, input i the cell i - 1."""
        return self._inputs[cell]

    def operations(self, cell: int, edge: int) -> range:
        """The flags of an edge's operations."""
        return self._operations[cell][edge]

    def pruned(self, flags: Sequence[bool]) -> tuple[bool, ...]:
        """The flags without those that lie on no path from the image to the output."""
        return tuple(useful(self, flags))

    def reaches_output(self, flags: Sequence[bool]) -> bool:
        """Whether a path leads from the image to the output."""
        return any(useful(self, flags))

    def channels(self, first: int) -> tuple[int, ...]:
        """The channels of the stem and of each cell."""
        return tuple(accumulate((2 if kind == "r" else 1 for kind in self.cells), lambda a, b: a * b, initial=first))
