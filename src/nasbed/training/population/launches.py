"""What the kernels are launched with: where every plane lies, and for each stage its tables, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.training.population.program import Combine, Conv, Depthwise, Norm, Planes, Pool, Program
from nasbed.training.population.stages import Stage, stages

ALIGNMENT = 16
Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel over the rows of tables. ``owners`` has the network of each row, ``shape`` is what the kernel is
    compiled for."""

    kernel: str
    owners: Table
    tables: tuple[Table, ...]
    shape: tuple[int, ...] = ()
    settings: tuple[float, ...] = ()

    @property
    def rows(self) -> int:
        return len(self.tables[0])


class _Parts:
    """For each plane of a network some numbers, in the order in which they came: the places of the parts of its
    gradient."""

    def __init__(self, planes: int) -> None:
        self.counts = np.zeros(planes, dtype=np.int64)
        self.values = np.zeros((planes, 4), dtype=np.int64)

    def add(self, planes: Table, values: Table) -> None:
        """One more for each of these planes, none of which comes twice."""
        counts = self.counts[planes]
        if len(counts) and counts.max() >= self.values.shape[1]:
            self.values = np.concatenate([self.values, np.zeros_like(self.values)], axis=1)
        self.values[planes, counts] = values
        self.counts[planes] += 1

    def replace(self, planes: Table, values: Table) -> None:
        self.values[planes, 0] = values
        self.counts[planes] = 1

    def listed(self, planes: Table) -> Table:
        """All numbers of these planes, plane after plane."""
        known = np.arange(self.values.shape[1]) < self.counts[planes][:, None]
        return self.values[planes][known]


@dataclass
class Layout:
    """The planes of a population in one array of ``size`` values, and the launches of a training step.

    Images are squares, since the kernels know one side. Planes of the images come first, those of a network together.
    ``features`` has, for each plane that the classifier averages, its place and that of its gradient; ``side`` is their
    resolution. ``chosen`` is how many windows of maximum pooling there are.
    """

    programs: Sequence[Program]
    batch: int
    parameters: int
    norms: int
    forward: list[Launch] = field(default_factory=list)
    backward: list[Launch] = field(default_factory=list)
    size: int = 0
    chosen: int = 0

    def __post_init__(self) -> None:
        if oblong := [side for program in self.programs for side in program.sides if side[0] != side[1]]:
            raise InvalidOption(
                f"on a CUDA device populations take square images, got {oblong[0][0]}x{oblong[0][1]} pixels; train "
                "these networks alone, or on the CPU"
            )
        self.sides = [[side for side, _ in program.sides] for program in self.programs]
        self.places = [np.zeros(len(program.sides), dtype=np.int64) for program in self.programs]
        for number, program in enumerate(self.programs):
            self._put(number, tuple(range(program.images)))
        self.images = self.size
        self._zeros = self.new(1, max(map(max, self.sides)))[0]
        self.kept: dict[tuple[int, int], int] = {}
        plan = stages(self.programs)
        for stage in plan:
            self.forward.append(self._forward(stage))
        self.side = self.sides[0][self.programs[0].head.inputs[0]]
        self._parts = [_Parts(len(program.sides)) for program in self.programs]
        self._norm_parts = [_Parts(len(program.sides)) for program in self.programs]
        self.features = self._features()
        for stage in reversed(plan):
            self._backward(stage)

    def new(self, count: int, side: int) -> Table:
        """Places of new planes."""
        span = -(-self.batch * side * side // ALIGNMENT) * ALIGNMENT
        first = self.size
        self.size += count * span
        return first + span * np.arange(count)

    def _put(self, number: int, planes: Planes) -> None:
        self.places[number][list(planes)] = self.new(len(planes), self.sides[number][planes[0]])

    def _at(self, number: int, planes: Planes) -> Table:
        return self.places[number][list(planes)]

    # --- forward -----------------------------------------------------------------------------------------------------

    def _forward(self, stage: Stage) -> Launch:
        for number, operation in stage.rows:
            if not isinstance(operation, Norm):
                self._put(number, operation.outputs)
        if stage.kind is Conv:
            inputs, outputs, about = self._conv_tables(stage)
            return Launch("conv_forward", _owners(stage), (about, inputs, outputs), _conv_shape(stage))
        if stage.kind is Combine:
            return self._combine(stage)
        first: Any = stage.rows[0][1]
        if stage.kind is Norm:
            rows = [self._norm_rows(number, operation) for number, operation in stage.rows]  # type: ignore[arg-type]
            side = self.sides[stage.rows[0][0]][first.inputs[0]]
            settings = (first.epsilon, first.momentum)
            return Launch("norm_forward", _owners(stage), (np.concatenate(rows),), (side,), settings)
        if isinstance(first, Pool) and first.largest:
            span = -(-self.batch * first.side_out[0] ** 2 // ALIGNMENT) * ALIGNMENT
            for number, operation in stage.rows:
                for plane in operation.outputs:  # type: ignore[union-attr]
                    self.kept[number, plane] = self.chosen
                    self.chosen += span
        table = self._plane_tables(stage, backward=False)
        return Launch(f"{_window(first)}_forward", _owners(stage), (table,), _window_shape(first))

    def _conv_tables(self, stage: Stage) -> tuple[Table, Table, Table]:
        rows = [(number, operation) for number, operation in stage.rows if isinstance(operation, Conv)]
        inputs = np.stack([self._at(number, operation.inputs) for number, operation in rows])
        outputs = np.stack([self._at(number, operation.outputs) for number, operation in rows])
        about = [(number * self.parameters + operation.weight, int(operation.relu)) for number, operation in rows]
        return inputs, outputs, np.array(about, dtype=np.int64)

    def _plane_tables(self, stage: Stage, *, backward: bool) -> Table:
        """One row a plane: source, target, the weights' place or that of the choices, dilation, nothing, whether the
        negative part is cut off, where the gradient is and where the input's goes."""
        tables = []
        for number, operation in stage.rows:
            assert isinstance(operation, Depthwise | Pool)
            table = np.zeros((len(operation.inputs), 8), dtype=np.int64)
            table[:, 0] = self._at(number, operation.inputs)
            table[:, 1] = self._at(number, operation.outputs)
            if isinstance(operation, Depthwise):
                start = number * self.parameters + operation.weight
                table[:, 2] = start + np.arange(len(table)) * operation.kernel**2
                table[:, 3], table[:, 5] = operation.dilation, operation.relu
            elif operation.largest:
                table[:, 2] = [self.kept[number, plane] for plane in operation.outputs]
            else:
                table[:, 3] = 1
            if backward:
                table[:, 6] = self._gradients(number, operation.outputs)
                table[:, 7] = self._new_parts(number, operation.inputs)
            tables.append(table)
        return np.concatenate(tables)

    def _norm_rows(self, number: int, operation: Norm) -> Table:
        table = np.zeros((len(operation.inputs), 6), dtype=np.int64)
        channels = np.arange(len(table))
        table[:, 0] = self._at(number, operation.inputs)
        table[:, 1] = number * self.norms + operation.channels + channels
        table[:, 2] = number * self.parameters + operation.weight + channels
        table[:, 3] = number * self.parameters + operation.bias + channels
        return table

    def _combine(self, stage: Stage) -> Launch:
        rows, terms = [], []
        for number, operation in stage.rows:
            assert isinstance(operation, Combine)
            outputs = self._at(number, operation.outputs)
            count = len(operation.terms)
            each = np.zeros((len(outputs), count, 3), dtype=np.int64)
            for place, term in enumerate(operation.terms):
                each[:, place, 0] = self._at(number, term.planes)
                normed = number * self.norms + term.norm + np.arange(len(outputs))
                each[:, place, 1] = normed if term.norm >= 0 else -1
                each[:, place, 2] = term.relu
            terms.append(each.reshape(-1, 3))
            rows.append((outputs, np.full(len(outputs), count)))
        return _combine_launch(rows, terms, _owners(stage), stage.rows[0][1].side[0])  # type: ignore[union-attr]

    # --- backward ----------------------------------------------------------------------------------------------------

    def _features(self) -> Table:
        rows = []
        for number, program in enumerate(self.programs):
            gradients = self._new_parts(number, program.head.inputs)
            rows.append(np.stack([self._at(number, program.head.inputs), gradients], axis=1))
        return np.concatenate(rows)

    def _new_parts(self, number: int, planes: Planes) -> Table:
        """Planes for what an operation adds to the gradient of its inputs."""
        made = self.new(len(planes), self.sides[number][planes[0]])
        self._parts[number].add(np.array(planes), made)
        return made

    def _gradients(self, number: int, planes: Planes) -> Table:
        """Where the gradients of planes are, their parts added up by now; zeros for a plane that nothing uses."""
        parts = self._parts[number]
        at = np.array(planes)
        places: Table = np.where(parts.counts[at] > 0, parts.values[at, 0], self._zeros)
        return places

    def _add_up(self, stage: Stage) -> None:
        """Make one plane of gradients that come in several parts."""
        rows, terms, owners, side = [], [], [], 0
        for number, operation in stage.rows:
            if isinstance(operation, Norm):
                continue
            side = self.sides[number][operation.outputs[0]]
            parts = self._parts[number]
            planes = np.array(operation.outputs)
            planes = planes[parts.counts[planes] > 1]
            if len(planes):
                totals = self.new(len(planes), side)
                counts = parts.counts[planes]
                listed = parts.listed(planes)
                rows.append((totals, counts))
                terms.append(np.stack([listed, np.full_like(listed, -1), np.zeros_like(listed)], axis=1))
                owners.append(np.full(len(planes), number))
                parts.replace(planes, totals)
        if rows:
            self.backward.append(_combine_launch(rows, terms, np.concatenate(owners), side))

    def _backward(self, stage: Stage) -> None:
        self._add_up(stage)
        if stage.kind is Combine:
            for number, operation in stage.rows:
                assert isinstance(operation, Combine)
                self._pass_on(number, operation)
        elif stage.kind is Norm:
            self._norm_backward(stage)
        elif stage.kind is Conv:
            self._conv_backward(stage)
        else:
            first: Any = stage.rows[0][1]
            owners, table = _owners(stage), self._plane_tables(stage, backward=True)
            shape = _window_shape(first)
            if stage.kind is Depthwise:
                self.backward.append(Launch("window_backward_weights", owners, (table,), shape))
            name = "largest_backward" if _window(first) == "largest" else "window_backward_inputs"
            self.backward.append(Launch(name, owners, (table,), shape))

    def _pass_on(self, number: int, operation: Combine) -> None:
        """The gradient of a sum is that of each of its terms."""
        parts = self._parts[number]
        outputs = np.array(operation.outputs)
        used = parts.counts[outputs] > 0
        gradients = parts.values[outputs[used], 0]
        for term in operation.terms:
            planes = np.array(term.planes)[used]
            if term.norm < 0:
                parts.add(planes, gradients)
            else:
                self._norm_parts[number].add(planes, 2 * gradients + term.relu)

    def _norm_backward(self, stage: Stage) -> None:
        tables, listed, start = [], [], 0
        for number, operation in stage.rows:
            assert isinstance(operation, Norm)
            table = self._norm_rows(number, operation)
            planes = np.array(operation.inputs)
            parts = self._norm_parts[number]
            ends = start + np.cumsum(parts.counts[planes])
            table[:, 4], table[:, 5] = ends - parts.counts[planes], ends
            start = int(ends[-1])
            listed.append(parts.listed(planes))
            self._parts[number].replace(planes, table[:, 0])
            tables.append(table)
        both = np.concatenate(listed) if start else np.zeros(1, dtype=np.int64)
        side = self.sides[stage.rows[0][0]][stage.rows[0][1].inputs[0]]  # type: ignore[union-attr]
        rows = np.stack([both // 2, both % 2], axis=1)
        self.backward.append(Launch("norm_backward", _owners(stage), (np.concatenate(tables), rows), (side,)))

    def _conv_backward(self, stage: Stage) -> None:
        inputs, _, about = self._conv_tables(stage)
        shape = _conv_shape(stage)
        rows = [(number, operation) for number, operation in stage.rows if isinstance(operation, Conv)]
        gradients = np.stack([self._gradients(number, operation.outputs) for number, operation in rows])
        self.backward.append(Launch("conv_backward_weights", _owners(stage), (about, inputs, gradients), shape))
        if all(operation.inputs[-1] < self.programs[number].images for number, operation in rows):
            return
        made = np.stack([self._new_parts(number, operation.inputs) for number, operation in rows])
        tables = (about, inputs, gradients, made)
        self.backward.append(Launch("conv_backward_inputs", _owners(stage), tables, shape))


def _conv_shape(stage: Stage) -> tuple[int, ...]:
    first = stage.rows[0][1]
    assert isinstance(first, Conv)
    sides = first.side_in[0], first.side_out[0]
    return len(first.inputs), len(first.outputs), first.kernel, *sides, first.stride, first.shift


def _window(operation: Depthwise | Pool) -> str:
    return "largest" if isinstance(operation, Pool) and operation.largest else "window"


def _window_shape(operation: Depthwise | Pool) -> tuple[int, ...]:
    """Kernel, sides, stride, padding before dilation, and whether it is a mean."""
    mean = isinstance(operation, Pool) and not operation.largest
    padding = operation.padding if isinstance(operation, Pool) else operation.kernel // 2
    return operation.kernel, operation.side_in[0], operation.side_out[0], operation.stride, padding, int(mean)


def _owners(stage: Stage) -> Table:
    """The network of each row of a stage's tables: of convolutions a row is an operation, of all others a plane."""
    numbers = np.array([number for number, _ in stage.rows])
    if stage.kind is Conv:
        return numbers
    planes = [
        len(operation.inputs if isinstance(operation, Norm) else operation.outputs) for _, operation in stage.rows
    ]
    return np.repeat(numbers, planes)


def _combine_launch(rows: list[tuple[Table, Table]], terms: list[Table], owners: Table, side: int) -> Launch:
    outputs = np.concatenate([output for output, _ in rows])
    ends = np.cumsum(np.concatenate([count for _, count in rows]))
    starts = np.concatenate([[0], ends[:-1]])
    listed = np.concatenate(terms) if sum(map(len, terms)) else np.zeros((1, 3), dtype=np.int64)
    return Launch("combine", owners, (np.stack([outputs, starts, ends], axis=1), listed), (side,))
