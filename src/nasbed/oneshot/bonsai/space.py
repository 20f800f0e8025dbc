"""Architectures of Bonsai-Net as plain data: which operations of which edges, and which inputs, each cell keeps.

Every cell is its own. It has two entrances, numbered 0 and 1: the output of the cell before, and the sum of all earlier
outputs that it keeps as inputs, the stem's among them. Its nodes are numbered from 2; each adds up every operation that
is kept on an edge from an entrance or an earlier node, and the last node is the output.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidArchitecture, InvalidOption, ParseError, shorten
from nasbed.oneshot.bonsai.paths import useful

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
"""Of each operation how many feature maps its layers write, which is what it takes of memory: all operations of a cell
write maps of one size."""
ENTRANCES = 2


@dataclass(frozen=True)
class Frame:
    """What there is to keep. ``cells`` has a letter for each cell: n is normal, r halves the resolution and doubles the
    channels.

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
        each = (cell + 1 + len(self.edges) * len(OPERATIONS) for cell in range(len(self.cells)))
        return (0, *accumulate(each))

    @property
    def count(self) -> int:
        """The number of flags."""
        return self._starts[-1]

    def inputs(self, cell: int) -> range:
        """The flags of a cell's inputs; input 0 is the stem, input i the cell i - 1."""
        return range(self._starts[cell], self._starts[cell] + cell + 1)

    def operations(self, cell: int, edge: int) -> range:
        """The flags of an edge's operations."""
        first = self.inputs(cell).stop + edge * len(OPERATIONS)
        return range(first, first + len(OPERATIONS))

    def full(self) -> BonsaiArchitecture:
        """The one that keeps everything."""
        return self.architecture([True] * self.count)

    def architecture(self, flags: Sequence[bool]) -> BonsaiArchitecture:
        """The one that keeps what is flagged, as far as it lies on a path from the image to the output."""
        kept = useful(self, flags)
        cells = []
        for cell in range(len(self.cells)):
            inputs = tuple(place for place, flag in enumerate(self.inputs(cell)) if kept[flag])
            edges = tuple(
                tuple(name for name, flag in zip(OPERATIONS, self.operations(cell, edge), strict=True) if kept[flag])
                for edge in range(len(self.edges))
            )
            cells.append(BonsaiCell(inputs, edges))
        return BonsaiArchitecture(self, tuple(cells))

    def channels(self, first: int) -> tuple[int, ...]:
        """The channels of the stem and of each cell."""
        return tuple(accumulate((2 if kind == "r" else 1 for kind in self.cells), lambda a, b: a * b, initial=first))


@dataclass(frozen=True, slots=True)
class BonsaiCell:
    """What a cell keeps: ``inputs`` of its second entrance, and for each edge the names of ``operations``."""

    inputs: tuple[int, ...]
    operations: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class BonsaiArchitecture:
    """A pruned network without its width. Everything in it lies on a path from the image to the output; a cell that
    keeps nothing is not there, and later cells take what is before it by their inputs."""

    frame: Frame
    cells: tuple[BonsaiCell, ...]

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.frame.cells):
            raise InvalidArchitecture(
                f"a frame {self.frame.cells} has {len(self.frame.cells)} cells, got {len(self.cells)}"
            )
        for place, cell in enumerate(self.cells):
            self._check(place, cell)
        kept = useful(self.frame, self.flags)
        if not any(kept):
            raise InvalidArchitecture("no path leads from the image to the output; keep more operations")
        if kept != list(self.flags):
            name = self._named(next(flag for flag, wanted in enumerate(self.flags) if wanted and not kept[flag]))
            raise InvalidArchitecture(f"{name} lies on no path from the image to the output; leave it out")

    def _check(self, place: int, cell: BonsaiCell) -> None:
        if list(cell.inputs) != sorted({each for each in cell.inputs if each in range(place + 1)}):
            raise InvalidArchitecture(
                f"the inputs of cell {place} are rising numbers from 0 to {place}, got {shorten(cell.inputs)}"
            )
        if len(cell.operations) != len(self.frame.edges):
            raise InvalidArchitecture(
                f"a cell of {self.frame.nodes} nodes has {len(self.frame.edges)} edges, got {len(cell.operations)}"
            )
        for edge, names in zip(self.frame.edges, cell.operations, strict=True):
            if list(names) != [name for name in OPERATIONS if name in names]:
                raise InvalidArchitecture(
                    f"an edge keeps operations out of {', '.join(OPERATIONS)} in this order, got {shorten(names)} on "
                    f"the edge {_edge_text(edge)} of cell {place}"
                )

    @cached_property
    def flags(self) -> tuple[bool, ...]:
        """For everything that can be kept whether it is."""
        found: list[bool] = []
        for place, cell in enumerate(self.cells):
            found += [each in cell.inputs for each in range(place + 1)]
            found += [name in names for names in cell.operations for name in OPERATIONS]
        return tuple(found)

    @property
    def kept(self) -> int:
        """The number of operations."""
        return sum(len(names) for cell in self.cells for names in cell.operations)

    @property
    def size(self) -> float:
        """What the operations take of memory as a share of all there could be, as a mean over the cells."""
        whole = len(self.frame.edges) * sum(SIZES)
        taken = sum(_size(name) for cell in self.cells for names in cell.operations for name in names)
        return taken / whole / len(self.cells)

    def parameters(self, *, channels: int, channels_in: int, classes: int) -> int:
        """The trainable numbers of its network, whose first cells have so many channels."""
        widths = self.frame.channels(channels)
        count = 9 * channels_in * channels + 2 * channels + (widths[-1] + 1) * classes
        for place, cell in enumerate(self.cells):
            before, width = widths[place], widths[place + 1]
            reduces = self.frame.cells[place] == "r"
            sources = {source for (source, _), names in zip(self.frame.edges, cell.operations, strict=True) if names}
            targets = {target for (_, target), names in zip(self.frame.edges, cell.operations, strict=True) if names}
            count += 2 * width * len(targets)
            count += sum(2 * width + reduces * before * width for entrance in range(ENTRANCES) if entrance in sources)
            count += sum(widths[each] * before for each in cell.inputs if widths[each] != before)
            for (source, _), names in zip(self.frame.edges, cell.operations, strict=True):
                count += sum(_parameters(name, width, strided=reduces and source < ENTRANCES) for name in names)
        return count

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        cells = [
            {
                "inputs": list(cell.inputs),
                "operations": {
                    _edge_text(edge): list(names)
                    for edge, names in zip(self.frame.edges, cell.operations, strict=True)
                    if names
                },
            }
            for cell in self.cells
        ]
        return {"cells": self.frame.cells, "nodes": self.frame.nodes, "kept": cells}

    def to_json(self) -> str:
        return json.dumps(self.plain())

    @classmethod
    def from_json(cls, text: str) -> BonsaiArchitecture:
        """The inverse of :meth:`to_json`."""
        try:
            data = json.loads(text)
            frame = Frame(data["cells"], data["nodes"])
            names = [_edge_text(edge) for edge in frame.edges]
            return cls(frame, tuple(_read_cell(each, names) for each in data["kept"]))
        except (InvalidArchitecture, InvalidOption):
            raise
        except (json.JSONDecodeError, RecursionError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ParseError(
                'a Bonsai-Net architecture is a JSON object with cells, nodes and kept, whose cells read {"inputs": '
                f'[0], "operations": {{"0-2": ["skip_connect"]}}}}, got {shorten(text)}: {error!r}'
            ) from None

    def _named(self, flag: int) -> str:
        for cell in range(len(self.cells)):
            if flag in self.frame.inputs(cell):
                return f"the input {flag - self.frame.inputs(cell).start} of cell {cell}"
            for place, edge in enumerate(self.frame.edges):
                flags = self.frame.operations(cell, place)
                if flag in flags:
                    return f"{OPERATIONS[flag - flags.start]} on the edge {_edge_text(edge)} of cell {cell}"
        raise AssertionError(flag)


def random_architecture(frame: Frame, rng: np.random.Generator, *, target: float) -> BonsaiArchitecture:
    """An architecture by chance: in every cell operations are kept in a random order as long as they fit into the
    share ``target`` of the cell's size, and each input with a chance of one in as many as there are, or else one of
    them. What leads nowhere then falls away, so the size is the target at the most; what does not reach the output is
    drawn again."""
    if not 0 < target <= 1:
        raise InvalidOption(f"the target of a random architecture is a share above 0 and up to 1, got {target}")
    for _ in range(1_000):
        flags = [False] * frame.count
        for cell in range(len(frame.cells)):
            for flag in _drawn_cell(frame, cell, rng, target):
                flags[flag] = True
        if any(useful(frame, flags)):
            return frame.architecture(flags)
    raise InvalidOption(f"no architecture of {frame} was found with the target {target}; take a larger one")


def _drawn_cell(frame: Frame, cell: int, rng: np.random.Generator, target: float) -> Iterator[int]:
    inputs = frame.inputs(cell)
    drawn = [flag for flag in inputs if rng.random() < 1 / len(inputs)]
    yield from drawn or [inputs[int(rng.integers(len(inputs)))]]
    flags = [flag for edge in range(len(frame.edges)) for flag in frame.operations(cell, edge)]
    room = target * len(frame.edges) * sum(SIZES)
    for place in rng.permutation(len(flags)).tolist():
        size = SIZES[place % len(OPERATIONS)]
        if size <= room:
            room -= size
            yield flags[place]


def _size(name: str) -> int:
    return SIZES[OPERATIONS.index(name)]


def _parameters(name: str, width: int, *, strided: bool) -> int:
    """Of an operation: depthwise and 1x1 convolutions with their normalisation; a strided skip has 1x1 ones too."""
    if "conv" in name:
        once = int(name[-1]) ** 2 * width + width * width + 2 * width
        return once * (2 if name.startswith("sep") else 1)
    return width * width + 2 * width if strided and name == "skip_connect" else 0


def _edge_text(edge: tuple[int, int]) -> str:
    return f"{edge[0]}-{edge[1]}"


def _read_cell(data: Any, edges: Sequence[str]) -> BonsaiCell:
    inputs, operations = data["inputs"], data["operations"]
    if not all(type(each) is int for each in inputs):
        raise ValueError(f"inputs {inputs}")
    for name, names in operations.items():
        if name not in edges or not isinstance(names, list):
            raise ValueError(f"edge {name}")
    return BonsaiCell(tuple(inputs), tuple(tuple(operations.get(name, ())) for name in edges))
