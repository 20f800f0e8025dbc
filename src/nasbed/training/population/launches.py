"""What the kernels are launched with: where every bundle lies, and for each stage its tables, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nasbed.training.population.bundles import Table
from nasbed.training.population.memory_layout import GradientParts, PopulationMemory
from nasbed.training.population.program import (
    Combine,
    Conv,
    Depthwise,
    NetworkProgram,
    Norm,
    Planes,
    Pool,
    Sides,
    read_planes,
)
from nasbed.training.population.stages import Row, Stage, stages
from nasbed.training.population.tiles import conv_tile


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


Waves = list[list[Launch]]
"""Launches in the order in which they run; those of one list do not need each other."""


class PopulationLayout(PopulationMemory):
    """The places of the planes of a population, with ``value_bytes`` per value, and the launches of a training step,
    ``forward`` and ``backward``.

    ``features`` has, for each bundle that the classifier averages, its place, that of its gradient, its first feature
    and how many it holds; ``side`` is their resolution. ``tap_count`` is how many windows of maximum pooling there are,
    ``partials`` how many sums convolutions leave for the normalisations after them.
    """

    def __init__(
        self, programs: Sequence[NetworkProgram], batch: int, *, value_bytes: int = 2, lanes: int | None = None
    ) -> None:
        super().__init__(programs, batch, lanes=lanes)
        self.value_bytes = value_bytes
        self.tap_count = self.partials = 0
        self._summed: dict[tuple[int, int], tuple[int, int, int]] = {}
        self._tap_starts: dict[tuple[int, int], int] = {}
        self._shared = [_read_as_they_are(program) for program in programs]
        plan = stages(programs)
        forward: Waves = [[launch for stage in wave for launch in self._forward(stage)] for wave in plan]
        self.side = programs[0].sides[programs[0].head.inputs[0]]
        self._parts = [GradientParts(len(program.sides)) for program in programs]
        self._norm_parts = [GradientParts(len(program.sides)) for program in programs]
        self.features = self._features()
        self._late: list[Launch] = []
        backward: Waves = []
        for wave in reversed(plan):
            backward.append([launch for stage in wave for launch in self._add_up(stage)])
            backward.append([launch for stage in wave for launch in self._backward(stage)])
        backward.append(self._weights())
        self.forward, self.backward = ([wave for wave in waves if wave] for waves in (forward, backward))
        del self._summed, self._tap_starts, self._parts, self._norm_parts, self._late

    # --- forward -----------------------------------------------------------------------------------------------------

    def _forward(self, stage: Stage) -> list[Launch]:
        for number, operation in stage.rows:
            if not isinstance(operation, Norm):
                self.put(number, operation.outputs)
        if stage.kind is Conv:
            return [self._conv_forward(rows) for rows in self._alike(stage)]
        if stage.kind is Combine:
            return [self._combine(stage)]
        if stage.kind is Norm:
            return self._norm_forward(stage)
        first: Any = stage.rows[0][1]
        if isinstance(first, Pool) and first.largest:
            span = self.span(first.side_out)
            for number, operation in stage.rows:
                for plane in self.slots(number, operation.outputs).planes:  # type: ignore[union-attr]
                    self._tap_starts[number, int(plane)] = self.tap_count
                    self.tap_count += span
        table, owners = self._window_tables(stage, backward=False)
        return [Launch(f"{self._window(first)}_forward", owners, (table,), _window_shape(first))]

    def _alike(self, stage: Stage) -> Iterator[list[tuple[int, Conv]]]:
        """The convolutions of a stage that have as many bundles to read and to write."""
        alike: dict[tuple[int, int], list[tuple[int, Conv]]] = {}
        for number, operation in stage.rows:
            assert isinstance(operation, Conv)
            bundles = len(self.slots(number, operation.inputs)), len(self.slots(number, operation.outputs))
            alike.setdefault(bundles, []).append((number, operation))
        return iter(alike.values())

    def _conv_shape(self, rows: list[tuple[int, Conv]]) -> tuple[int, ...]:
        number, first = rows[0]
        bundles = len(self.slots(number, first.inputs)), len(self.slots(number, first.outputs))
        return *bundles, first.kernel, *first.side_in, *first.side_out, first.stride, first.shift, int(first.relu)

    def _conv_forward(self, rows: list[tuple[int, Conv]]) -> Launch:
        shape = self._conv_shape(rows)
        tile = conv_tile(shape, batch=self.batch, lanes=self.lanes, value_bytes=self.value_bytes)
        pixels = self.batch * shape[5] * shape[6]
        tiles = -(-pixels // tile)
        channels = shape[1] * self.lanes
        operations = self._operation_table(rows)
        for place, (number, operation) in enumerate(rows):
            operations[place, 2] = self.partials
            for slot, plane in enumerate(self.slots(number, operation.outputs).planes):
                partials = self.partials + slot * self.lanes * tiles
                self._summed[number, int(plane)] = partials, channels * tiles, tiles
            self.partials += 2 * channels * tiles
        inputs = np.stack([self.places_of(number, operation.inputs) for number, operation in rows])
        outputs = np.stack([self.places_of(number, operation.outputs) for number, operation in rows])
        return Launch(self._conv("forward"), _owners(rows), (operations, inputs, outputs), (*shape, tile))

    def _conv(self, name: str) -> str:
        return f"conv_{name}" if self.lanes == 1 else f"bundled_{name}"

    def _operation_table(self, rows: list[tuple[int, Conv]]) -> Table:
        operations = np.zeros((len(rows), 3), dtype=np.int64)
        operations[:, 0] = [self.parameter(number, operation.weight) for number, operation in rows]
        operations[:, 1] = [operation.relu for _, operation in rows]
        return operations

    def _window(self, operation: Depthwise | Pool) -> str:
        if isinstance(operation, Pool) and operation.largest:
            return "largest"
        return "window" if self.lanes == 1 else "bundled_mean"

    def _window_tables(self, stage: Stage, *, backward: bool) -> tuple[Table, Table]:
        """The table with one row per bundle, and the owner of each row. A row has source, target, the place of the
        weights or of the choices, dilation and an unused entry. Then come whether the negative part is cut off, and the
        places of the output's and the input's gradients."""
        tables, owners = [], []
        for number, operation in stage.rows:
            assert isinstance(operation, Depthwise | Pool)
            source = self.places_of(number, operation.inputs)
            table = np.zeros((len(source), 8), dtype=np.int64)
            table[:, 0] = source
            table[:, 1] = self.places_of(number, operation.outputs)
            if isinstance(operation, Depthwise):
                start = self.parameter(number, operation.weight)
                table[:, 2] = start + np.arange(len(table)) * operation.kernel**2
                table[:, 3], table[:, 5] = operation.dilation, operation.relu
            elif operation.largest:
                planes = self.slots(number, operation.outputs).planes
                table[:, 2] = [self._tap_starts[number, int(plane)] for plane in planes]
            else:
                table[:, 3] = 1
            if backward:
                table[:, 6] = self._gradients(number, operation.outputs)
                table[:, 7] = self._new_parts(number, operation.inputs)
            tables.append(table)
            owners.append(np.full(len(table), number))
        return np.concatenate(tables), np.concatenate(owners)

    def _norm_rows(self, number: int, operation: Norm) -> Table:
        """One row a bundle: its place, its first normalisation, weight and bias, the parts of its gradient (two), how
        many channels it has, then what differs between the passes (two)."""
        slots = self.slots(number, operation.inputs)
        table = np.zeros((len(slots), 9), dtype=np.int64)
        table[:, 0] = self.places_of(number, operation.inputs)
        table[:, 1] = number * self.norms + operation.channels + slots.first
        table[:, 2] = self.parameter(number, operation.weight) + slots.first
        table[:, 3] = self.parameter(number, operation.bias) + slots.first
        table[:, 6] = slots.counts
        return table

    def _norm_forward(self, stage: Stage) -> list[Launch]:
        """Bundles that a convolution has summed up, and all others."""
        rows: dict[bool, list[Table]] = {True: [], False: []}
        owners: dict[bool, list[int]] = {True: [], False: []}
        for number, operation in stage.rows:
            assert isinstance(operation, Norm)
            table = self._norm_rows(number, operation)
            for place, plane in enumerate(self.slots(number, operation.inputs).planes):
                summed = self._summed.get((number, int(plane)))
                if summed is not None:
                    table[place, 0], table[place, 7], table[place, 8] = summed
                rows[summed is not None].append(table[place])
                owners[summed is not None].append(number)
        number, first = stage.rows[0]
        assert isinstance(first, Norm)
        side = self.programs[number].sides[first.inputs[0]]
        settings = first.epsilon, first.momentum
        return [
            Launch("norm_forward", np.array(owners[kind]), (np.stack(rows[kind]),), (*side, int(kind)), settings)
            for kind in (True, False)
            if rows[kind]
        ]

    def _combine(self, stage: Stage) -> Launch:
        rows, terms, owners = [], [], []
        for number, operation in stage.rows:
            assert isinstance(operation, Combine)
            outputs = self.places_of(number, operation.outputs)
            slots = self.slots(number, operation.outputs)
            count = len(operation.terms)
            terms_table = np.zeros((len(outputs), count, 3), dtype=np.int64)
            for place, term in enumerate(operation.terms):
                terms_table[:, place, 0] = self.places_of(number, term.planes)
                normed = number * self.norms + term.norm + slots.first
                terms_table[:, place, 1] = normed if term.norm >= 0 else -1
                terms_table[:, place, 2] = term.relu
            terms.append(terms_table.reshape(-1, 3))
            rows.append((outputs, np.full(len(outputs), count), slots.counts))
            owners.append(np.full(len(outputs), number))
        return _combine_launch(rows, terms, owners, stage.rows[0][1].side)  # type: ignore[union-attr]

    # --- backward ----------------------------------------------------------------------------------------------------

    def _features(self) -> Table:
        rows = []
        for number, program in enumerate(self.programs):
            slots = self.slots(number, program.head.inputs)
            features = number * len(program.head.inputs) + slots.first
            gradients = self._new_parts(number, program.head.inputs)
            rows.append(
                np.stack([self.places_of(number, program.head.inputs), gradients, features, slots.counts], axis=1)
            )
        return np.concatenate(rows)

    def _new_parts(self, number: int, planes: Planes) -> Table:
        """Bundles for what an operation adds to the gradient of its inputs."""
        slots = self.slots(number, planes)
        places = self.new(len(slots), self.programs[number].sides[planes[0]])
        self._parts[number].add(slots.planes, places)
        return places

    def _gradients(self, number: int, planes: Planes) -> Table:
        """The places of the gradients of planes, whose parts are already added up; zeros for a plane that nothing
        uses."""
        parts = self._parts[number]
        first_planes = self.slots(number, planes).planes
        places: Table = np.where(parts.counts[first_planes] > 0, parts.values[first_planes, 0], self.zeros)
        return places

    def _add_up(self, stage: Stage) -> list[Launch]:
        """Make one bundle of gradients that come in several parts."""
        rows, terms, owners, side = [], [], [], (0, 0)
        for number, operation in stage.rows:
            if isinstance(operation, Norm):
                continue
            side = self.programs[number].sides[operation.outputs[0]]
            parts = self._parts[number]
            slots = self.slots(number, operation.outputs)
            several = parts.counts[slots.planes] > 1
            planes = slots.planes[several]
            if len(planes):
                totals = self.new(len(planes), side)
                counts = parts.counts[planes]
                listed = parts.listed(planes)
                rows.append((totals, counts, slots.counts[several]))
                terms.append(np.stack([listed, np.full_like(listed, -1), np.zeros_like(listed)], axis=1))
                owners.append(np.full(len(planes), number))
                parts.replace(planes, totals)
        return [_combine_launch(rows, terms, owners, side)] if rows else []

    def _backward(self, stage: Stage) -> list[Launch]:
        if stage.kind is Combine:
            for number, operation in stage.rows:
                assert isinstance(operation, Combine)
                self._pass_on(number, operation)
            return []
        if stage.kind is Norm:
            return self._norm_backward(stage)
        if stage.kind is Conv:
            return [launch for rows in self._alike(stage) for launch in self._conv_backward(rows)]
        first: Any = stage.rows[0][1]
        table, owners = self._window_tables(stage, backward=True)
        shape = _window_shape(first)
        kind = self._window(first)
        name = "window_backward_inputs" if kind == "window" else f"{kind}_backward"
        if stage.kind is Depthwise:
            self._late.append(Launch("window_backward_weights", owners, (table,), shape))
        return [Launch(name, owners, (table,), shape)]

    def _pass_on(self, number: int, operation: Combine) -> None:
        """The gradient of a sum is that of each of its terms."""
        parts = self._parts[number]
        outputs = self.slots(number, operation.outputs).planes
        used = parts.counts[outputs] > 0
        gradients = parts.values[outputs[used], 0]
        for term in operation.terms:
            planes = self.slots(number, term.planes).planes[used]
            if term.norm < 0:
                parts.add(planes, gradients)
            else:
                self._norm_parts[number].add(planes, 2 * gradients + term.relu)

    def _norm_backward(self, stage: Stage) -> list[Launch]:
        """Bundles whose gradient comes from one place, nearly all, and the others."""
        tables, listed, owners, start = [], [], [], 0
        for number, operation in stage.rows:
            assert isinstance(operation, Norm)
            table = self._norm_rows(number, operation)
            planes = self.slots(number, operation.inputs).planes
            parts = self._norm_parts[number]
            ends = start + np.cumsum(parts.counts[planes])
            table[:, 4], table[:, 5] = ends - parts.counts[planes], ends
            start = int(ends[-1])
            listed.append(parts.listed(planes))
            if self._shared[number].isdisjoint(operation.inputs):
                table[:, 7] = table[:, 0]
                self._parts[number].replace(planes, table[:, 0])
            else:
                table[:, 7] = self._new_parts(number, operation.inputs)
            tables.append(table)
            owners.append(np.full(len(table), number))
        places = np.concatenate(listed) if start else np.zeros(1, dtype=np.int64)
        number, first = stage.rows[0]
        side = self.programs[number].sides[first.inputs[0]]  # type: ignore[union-attr]
        table, owner = np.concatenate(tables), np.concatenate(owners)
        single = table[:, 5] - table[:, 4] == 1
        of_parts = np.stack([places // 2, places % 2], axis=1)
        return [
            Launch("norm_backward", owner[rows], (table[rows], of_parts), (*side, int(kind)))
            for kind, rows in ((True, single), (False, ~single))
            if rows.any()
        ]

    def _conv_backward(self, rows: list[tuple[int, Conv]]) -> list[Launch]:
        operations, shape, owners = self._operation_table(rows), self._conv_shape(rows), _owners(rows)
        inputs = np.stack([self.places_of(number, operation.inputs) for number, operation in rows])
        gradients = np.stack([self._gradients(number, operation.outputs) for number, operation in rows])
        tables: tuple[Table, ...] = operations, inputs, gradients
        if self.lanes > 1:
            tables = *tables, np.stack([self.slots(number, operation.inputs).counts for number, operation in rows])
        self._late.append(Launch(self._conv("backward_weights"), owners, tables, shape))
        if all(operation.inputs[-1] < self.programs[number].images for number, operation in rows):
            return []
        results = np.stack([self._new_parts(number, operation.inputs) for number, operation in rows])
        return [Launch(self._conv("backward_inputs"), owners, (operations, inputs, gradients, results), shape)]

    def _weights(self) -> list[Launch]:
        """The gradients of all weights, one launch for each shape: they wait for the end of the backward pass, since
        nothing waits for them."""
        alike: dict[tuple[str, tuple[int, ...]], list[Launch]] = {}
        for launch in self._late:
            alike.setdefault((launch.kernel, launch.shape), []).append(launch)
        return [
            Launch(
                kernel,
                np.concatenate([part.owners for part in launches]),
                tuple(np.concatenate(tables) for tables in zip(*(part.tables for part in launches), strict=True)),
                shape,
            )
            for (kernel, shape), launches in alike.items()
        ]


def _window_shape(operation: Depthwise | Pool) -> tuple[int, ...]:
    """Kernel, sides, stride, padding before dilation, and whether it is a mean."""
    mean = isinstance(operation, Pool) and not operation.largest
    padding = operation.padding if isinstance(operation, Pool) else operation.kernel // 2
    return operation.kernel, *operation.side_in, *operation.side_out, operation.stride, padding, int(mean)


def _owners(rows: Sequence[Row] | list[tuple[int, Conv]]) -> Table:
    return np.array([number for number, _ in rows])


def _read_as_they_are(program: NetworkProgram) -> set[int]:
    """Planes that something other than a normalisation reads, so that their values are needed after it."""
    planes = set(program.head.inputs)
    for operation in program.operations:
        if isinstance(operation, Combine):
            planes.update(plane for term in operation.terms if term.norm < 0 for plane in term.planes)
        elif not isinstance(operation, Norm):
            planes.update(read_planes(operation))
    return planes


def _combine_launch(
    rows: list[tuple[Table, Table, Table]], terms: list[Table], owners: list[Table], side: Sides
) -> Launch:
    outputs, sizes, counts = (np.concatenate([row[place] for row in rows]) for place in range(3))
    ends = np.cumsum(sizes)
    table = np.stack([outputs, ends - sizes, ends, counts], axis=1)
    listed = np.concatenate(terms) if sum(map(len, terms)) else np.zeros((1, 3), dtype=np.int64)
    return Launch("combine", np.concatenate(owners), (table, listed), side)
