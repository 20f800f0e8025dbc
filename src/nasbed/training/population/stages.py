"""Many programs side by side: operations of one kind and shape that can run at the same time become one stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nasbed.training.population.program import Combine, Conv, Depthwise, Norm, Operation, Pool, Program

KINDS: tuple[type[Operation], ...] = (Pool, Depthwise, Conv, Norm, Combine)

Row = tuple[int, Operation]
"""The number of a network, and one of its operations."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Operations of one kind and shape, of any networks."""

    kind: type[Operation]
    rows: tuple[Row, ...]


def stages(programs: Sequence[Program]) -> list[Stage]:
    """All operations of all programs in an order in which each comes after what it needs."""
    buckets: dict[tuple[int, int, int, tuple[int, ...]], list[Row]] = {}
    for number, program in enumerate(programs):
        for step in program.steps:
            kind = KINDS.index(type(step.operation))
            side = _shape(step.operation, program)
            buckets.setdefault((step.block, step.level, kind, side), []).append((number, step.operation))
    return [Stage(KINDS[key[2]], tuple(buckets[key])) for key in sorted(buckets)]


def _shape(operation: Operation, program: Program) -> tuple[int, ...]:
    """What operations have to share to run as one."""
    if isinstance(operation, Conv):
        return (
            *operation.side_in,
            *operation.side_out,
            operation.kernel,
            len(operation.inputs),
            len(operation.outputs),
            operation.stride,
            operation.shift,
        )
    if isinstance(operation, Depthwise):
        return *operation.side_in, *operation.side_out, operation.kernel, operation.stride
    if isinstance(operation, Pool):
        shape = *operation.side_in, *operation.side_out, operation.kernel, operation.stride, operation.padding
        return *shape, int(operation.largest)
    if isinstance(operation, Norm):
        return program.sides[operation.inputs[0]]
    return operation.side
