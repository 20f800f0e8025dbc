"""Many programs side by side: operations of one kind and shape that can run at the same time become one stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nasbed.training.population.program import (
    Combine,
    Conv,
    Depthwise,
    NetworkProgram,
    Norm,
    Operation,
    Pool,
    read_planes,
)

Row = tuple[int, Operation]
"""The number of a network, and one of its operations."""

Kind = tuple[str, tuple[int, ...]]
"""What operations have to share to run as one."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Operations of one kind and shape, of any networks."""

    kind: type[Operation]
    rows: tuple[Row, ...]


def stages(programs: Sequence[NetworkProgram]) -> list[list[Stage]]:
    """All operations of all programs in an order in which each comes after what it needs; stages of one list do not
    need each other.

    Of the kinds that have operations ready, the next is always the one that has the largest share of all that are left
    of it. So each network waits where others of the kind are still to come, and stages are few and large. They are half
    as many as if every operation ran as soon as it could.
    """
    graphs = [_Graph(program) for program in programs]
    remaining = Counter(kind for graph in graphs for kind in graph.kinds)
    ready: dict[Kind, list[tuple[int, int]]] = {}
    for number, graph in enumerate(graphs):
        for place in graph.first():
            ready.setdefault(graph.kinds[place], []).append((number, place))
    waves: list[list[Stage]] = []
    wave_of: list[dict[int, int]] = [{} for _ in programs]
    while ready:
        kind = max(ready, key=lambda name: (len(ready[name]) / remaining[name], name))
        rows = sorted(ready.pop(kind))
        remaining[kind] -= len(rows)
        wave = 1 + max(
            (wave_of[number][before] for number, place in rows for before in graphs[number].needs[place]), default=-1
        )
        # beside the last stage if nothing in it is needed, else after it
        wave = max(wave, len(waves) - 1)
        if wave == len(waves):
            waves.append([])
        operations = [(number, graphs[number].program.operations[place]) for number, place in rows]
        waves[wave].append(Stage(type(operations[0][1]), tuple(operations)))
        for number, place in rows:
            wave_of[number][place] = wave
            for after in graphs[number].complete(place):
                ready.setdefault(graphs[number].kinds[after], []).append((number, after))
    return waves


class _Graph:
    """Which operations of a program need which."""

    def __init__(self, program: NetworkProgram) -> None:
        self.program = program
        self.kinds = [kind_of(operation, program) for operation in program.operations]
        self.needs: list[set[int]] = []
        self._after: list[list[int]] = [[] for _ in self.kinds]
        writer: dict[int, int] = {}
        for place, operation in enumerate(program.operations):
            self.needs.append({writer[plane] for plane in read_planes(operation) if plane in writer})
            for before in self.needs[-1]:
                self._after[before].append(place)
            # what is made of a plane's statistics waits for them
            writer.update(dict.fromkeys(operation.inputs if isinstance(operation, Norm) else operation.outputs, place))
        self._waiting = [len(needs) for needs in self.needs]

    def first(self) -> list[int]:
        return [place for place, needs in enumerate(self.needs) if not needs]

    def complete(self, place: int) -> list[int]:
        """The operations that can run now that this one has."""
        free = []
        for after in self._after[place]:
            self._waiting[after] -= 1
            if not self._waiting[after]:
                free.append(after)
        return free


def kind_of(operation: Operation, program: NetworkProgram) -> Kind:
    """The kind of an operation and its shape."""
    return type(operation).__name__, _shape(operation, program)


def _shape(operation: Operation, program: NetworkProgram) -> tuple[int, ...]:
    if isinstance(operation, Conv):
        shape = *operation.side_in, *operation.side_out, operation.kernel, operation.stride
        return *shape, operation.shift, len(operation.inputs), len(operation.outputs), int(operation.relu)
    if isinstance(operation, Depthwise):
        return *operation.side_in, *operation.side_out, operation.kernel, operation.stride
    if isinstance(operation, Pool):
        shape = *operation.side_in, *operation.side_out, operation.kernel, operation.stride
        return *shape, operation.padding, int(operation.largest)
    if isinstance(operation, Norm):
        return program.sides[operation.inputs[0]]
    assert isinstance(operation, Combine)
    return operation.side
