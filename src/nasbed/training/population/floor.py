"""The least that a training step costs, counted from programs: multiply-adds, and bytes through device memory.

Bytes are counted for kernels that run one operation of many networks at a time, with normalisation, ReLU and
statistics fused into the operations around them:

- What must be stored is every image, every output of a convolution or pooling, and every sum of two terms or more. One
  normalised or rectified plane is not a sum: its readers compute it from the plane underneath.
- A stored plane moves five times: written and read in the forward pass, read in the backward pass, its gradient written
  and read. Images have no gradient and move three times.
- Planes that do not lead to the logits need not be stored.
- Each parameter and its momentum are read and written once, in float32.

So several operations that read one plane count as one read. Kernels that keep the planes of a network on the chip from
one operation to the next would move less.
"""

from __future__ import annotations

from collections.abc import Iterator

from nasbed.training.population.program import Combine, Conv, Depthwise, NetworkProgram, Norm, Pool, Sides

TRAINED_PLANE_MOVES = 5
IMAGE_PLANE_MOVES = 3
PARAMETER_BYTES = 16
"""A parameter and its momentum, each read and written in float32."""


def forward_multiply_adds(program: NetworkProgram) -> int:
    """Multiply-adds of one image in the forward pass: convolutions and the classifier, edges counted in full."""
    return sum(_multiply_adds(operation) for operation in _convolutions(program)) + _head(program)


def step_multiply_adds(program: NetworkProgram) -> int:
    """Multiply-adds of one image in a training step. The gradients of weights and of inputs cost as much as the forward
    pass each; what does not lead to the logits has none, and images need none."""
    used, trained = used_planes(program), _trained_planes(program)
    total = forward_multiply_adds(program) + 2 * _head(program)
    for operation in _convolutions(program):
        if used.intersection(operation.outputs):
            by_inputs = bool(trained.intersection(operation.inputs))
            total += _multiply_adds(operation) * (1 + by_inputs)
    return total


def step_bytes(program: NetworkProgram, *, batch: int, value_bytes: int) -> int:
    """The least bytes that a training step moves through device memory.

    Args:
        program: A network.
        batch: Images in a step.
        value_bytes: Bytes of one value of an activation, 2 for bfloat16.
    """
    trained = _trained_planes(program)
    values = 0
    for plane in _stored_planes(program) & used_planes(program):
        moves = TRAINED_PLANE_MOVES if plane in trained else IMAGE_PLANE_MOVES
        values += moves * _pixels(program.sides[plane])
    return batch * value_bytes * values + PARAMETER_BYTES * program.parameters


def used_planes(program: NetworkProgram) -> set[int]:
    """The planes that lead to the logits."""
    used = set(program.head.inputs)
    for operation in reversed(program.operations):
        if isinstance(operation, Conv):
            if used.intersection(operation.outputs):
                used.update(operation.inputs)
        elif isinstance(operation, Combine):
            for term in operation.terms:
                used.update(_sources(term.planes, operation.outputs, used))
        elif not isinstance(operation, Norm):
            used.update(_sources(operation.inputs, operation.outputs, used))
    return used


def _sources(inputs: tuple[int, ...], outputs: tuple[int, ...], used: set[int]) -> list[int]:
    return [source for source, output in zip(inputs, outputs, strict=True) if output in used]


def _trained_planes(program: NetworkProgram) -> set[int]:
    """The planes that depend on a parameter, and so have a gradient."""
    trained: set[int] = set()
    for operation in program.operations:
        if isinstance(operation, Conv | Depthwise):
            trained.update(operation.outputs)
        elif isinstance(operation, Pool):
            pairs = zip(operation.inputs, operation.outputs, strict=True)
            trained.update(output for source, output in pairs if source in trained)
        elif isinstance(operation, Combine):
            for term in operation.terms:
                pairs = zip(term.planes, operation.outputs, strict=True)
                trained.update(output for source, output in pairs if term.norm >= 0 or source in trained)
    return trained


def _stored_planes(program: NetworkProgram) -> set[int]:
    stored = set(range(program.images))
    for operation in program.operations:
        if isinstance(operation, Norm) or (isinstance(operation, Combine) and len(operation.terms) < 2):
            continue
        stored.update(operation.outputs)
    return stored


def _convolutions(program: NetworkProgram) -> Iterator[Conv | Depthwise]:
    for operation in program.operations:
        if isinstance(operation, Conv | Depthwise):
            yield operation


def _multiply_adds(operation: Conv | Depthwise) -> int:
    fan_in = len(operation.inputs) if isinstance(operation, Conv) else 1
    return _pixels(operation.side_out) * operation.kernel**2 * fan_in * len(operation.outputs)


def _head(program: NetworkProgram) -> int:
    return len(program.head.inputs) * program.head.classes


def _pixels(side: Sides) -> int:
    return side[0] * side[1]
