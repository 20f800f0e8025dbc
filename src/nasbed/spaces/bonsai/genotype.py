"""An architecture of Bonsai-Net cell by cell: which inputs, and which operations on each edge, it keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, ParseError, shorten
from nasbed.spaces.bonsai.frame import OPERATIONS, SIZES, Frame


@dataclass(frozen=True, slots=True)
class BonsaiCell:
    """What a cell keeps: ``inputs`` of its second entrance, and for each edge the names of ``operations``."""

    inputs: tuple[int, ...]
    operations: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class BonsaiGenotype:
    """What each cell of a frame keeps; a cell that keeps nothing is not there, and later cells take what is before it
    by their inputs."""

    frame: Frame
    cells: tuple[BonsaiCell, ...]

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.frame.cells):
            raise InvalidArchitecture(
                f"a frame {self.frame.cells} has {len(self.frame.cells)} cells, got {len(self.cells)}"
            )
        for position, cell in enumerate(self.cells):
            self._check(position, cell)

    def _check(self, position: int, cell: BonsaiCell) -> None:
        if list(cell.inputs) != sorted({number for number in cell.inputs if number in range(position + 1)}):
            raise InvalidArchitecture(
                f"the inputs of cell {position} are rising numbers from 0 to {position}, got {shorten(cell.inputs)}"
            )
        if len(cell.operations) != len(self.frame.edges):
            raise InvalidArchitecture(
                f"a cell of {self.frame.nodes} nodes has {len(self.frame.edges)} edges, got {len(cell.operations)}"
            )
        for edge, names in zip(self.frame.edges, cell.operations, strict=True):
            if list(names) != [name for name in OPERATIONS if name in names]:
                raise InvalidArchitecture(
                    f"an edge keeps operations out of {', '.join(OPERATIONS)} in this order, got {shorten(names)} on "
                    f"the edge {_edge_text(edge)} of cell {position}"
                )

    @classmethod
    def from_flags(cls, frame: Frame, flags: Sequence[int | bool]) -> BonsaiGenotype:
        """What is flagged."""
        cells = []
        for cell in range(len(frame.cells)):
            inputs = tuple(number for number, flag in enumerate(frame.inputs(cell)) if flags[flag])
            edges = tuple(
                tuple(name for name, flag in zip(OPERATIONS, frame.operations(cell, edge), strict=True) if flags[flag])
                for edge in range(len(frame.edges))
            )
            cells.append(BonsaiCell(inputs, edges))
        return cls(frame, tuple(cells))

    @classmethod
    def full(cls, frame: Frame) -> BonsaiGenotype:
        """The one that keeps everything."""
        return cls.from_flags(frame, [True] * frame.count)

    @classmethod
    def of(cls, arch: Architecture) -> BonsaiGenotype:
        """The genotype of an architecture of any of the spaces; the inverse of :attr:`architecture`."""
        return cls.from_flags(Frame.of_space(arch.space), arch.code)

    @cached_property
    def flags(self) -> tuple[bool, ...]:
        """For everything that can be kept whether it is."""
        flags: list[bool] = []
        for position, cell in enumerate(self.cells):
            flags += [number in cell.inputs for number in range(position + 1)]
            flags += [name in names for names in cell.operations for name in OPERATIONS]
        return tuple(flags)

    @property
    def architecture(self) -> Architecture:
        """The plain value: its code has a 1 for what is kept and a 0 for what is not."""
        return Architecture(self.frame.space_name, tuple(map(int, self.flags)))

    def pruned(self) -> BonsaiGenotype:
        """The genotype without what lies on no path from the image to the output."""
        return BonsaiGenotype.from_flags(self.frame, self.frame.pruned(self.flags))

    @property
    def kept(self) -> int:
        """The number of operations."""
        return sum(len(names) for cell in self.cells for names in cell.operations)

    @property
    def size(self) -> float:
        """The memory of the operations as a share of that of all, as a mean over the cells."""
        total = len(self.frame.edges) * sum(SIZES)
        size = sum(SIZES[OPERATIONS.index(name)] for cell in self.cells for row in cell.operations for name in row)
        return size / total / len(self.cells)

    def skips(self) -> dict[str, int]:
        """The skip connections in all cells of each kind."""
        counts = {"normal": 0, "reducing": 0}
        for kind, cell in zip(self.frame.cells, self.cells, strict=True):
            counts["normal" if kind == "n" else "reducing"] += sum("skip_connect" in names for names in cell.operations)
        return counts

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
    def from_json(cls, text: str) -> BonsaiGenotype:
        """The inverse of :meth:`to_json`."""
        try:
            data = json.loads(text)
            frame = Frame(data["cells"], data["nodes"])
            names = [_edge_text(edge) for edge in frame.edges]
            return cls(frame, tuple(_read_cell(cell, names) for cell in data["kept"]))
        except (InvalidArchitecture, InvalidOption):
            raise
        except (json.JSONDecodeError, RecursionError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ParseError(
                'a Bonsai-Net architecture is a JSON object with cells, nodes and kept, whose cells read {"inputs": '
                f'[0], "operations": {{"0-2": ["skip_connect"]}}}}, got {shorten(text)}: {shorten(repr(error), 100)}'
            ) from None


def _edge_text(edge: tuple[int, int]) -> str:
    return f"{edge[0]}-{edge[1]}"


def _read_cell(data: Any, edges: Sequence[str]) -> BonsaiCell:
    inputs, operations = data["inputs"], data["operations"]
    if not all(type(number) is int for number in inputs):
        raise ValueError(f"inputs {inputs}")
    for name, names in operations.items():
        if name not in edges or not isinstance(names, list):
            raise ValueError(f"edge {name}")
    return BonsaiCell(tuple(inputs), tuple(tuple(operations.get(name, ())) for name in edges))
