"""Programs without work that is done twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nasbed.training.population.program import Combine, Conv, Depthwise, Operation, Planes, read_planes


def simplified(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """The operations without duplicates. A normalised map that is needed both with and without its negative part is
    computed once; convolutions cut off the negative part when they read it."""
    single = {
        operation.terms[0]: operation
        for operation in operations
        if isinstance(operation, Combine) and len(operation.terms) == 1
    }
    readers: dict[int, list[Operation]] = {}
    for operation in operations:
        for plane in read_planes(operation):
            readers.setdefault(plane, []).append(operation)
    plain: dict[Planes, Combine] = {}
    for term, rectified in single.items():
        earlier = single.get(replace(term, relu=False))
        convolved = all(
            isinstance(reader, Conv | Depthwise) and reader.inputs == rectified.outputs
            for plane in rectified.outputs
            for reader in readers.get(plane, [])
        )
        if term.relu and earlier is not None and convolved:
            plain[rectified.outputs] = earlier
    return tuple(_rewritten(operations, plain))


def _rewritten(operations: Sequence[Operation], plain: dict[Planes, Combine]) -> list[Operation]:
    result: list[Operation] = []
    computed: set[Planes] = set()
    for operation in operations:
        if isinstance(operation, Combine):
            operation = plain.get(operation.outputs, operation)
            if operation.outputs in computed:
                continue
            computed.add(operation.outputs)
        elif isinstance(operation, Conv | Depthwise) and operation.inputs in plain:
            operation = replace(operation, inputs=plain[operation.inputs].outputs, relu=True)
        result.append(operation)
    return result
