"""How much a network asks of a device in one training step: units of each kind of launch.

The kind of a launch is its kernel and the shape that this is compiled for. A unit is one row of its table. Rows of sums
and of normalisations' gradients read several planes: they count one unit for each plane that they read or write.

The work of a network does not depend on the other networks of its population. So a table of seconds a unit
(:mod:`~nasbed.training.population.calibration`) makes its cost a function of the architecture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.training.population.launches import Launch, PopulationLayout
from nasbed.training.population.program import Combine, Conv, NetworkProgram, Operation
from nasbed.training.population.stages import kind_of

Work = Mapping[str, float]
"""The units of each kind of launch in a training step of one network."""

DRAW, MEANS, MEANS_BACKWARD, UPDATE = "draw", "mean_forward", "mean_backward", "update"
"""What every network needs once a step: a batch of images, its features and their gradient; and the optimizer's step,
whose units are parameters."""


@dataclass(frozen=True, slots=True)
class TimedLaunch:
    """The seconds of one launch that ran alone, and the units that each network of the population had in it."""

    kind: str
    units: NDArray[np.float64]
    seconds: float


def launch_kind(launch: Launch) -> str:
    """The kernel and its shape.

    >>> launch_kind(Launch("combine", np.zeros(1, int), (np.zeros((1, 4), int),), (8, 8)))
    'combine 8,8'
    """
    return f"{launch.kernel} {','.join(map(str, launch.shape))}"


def launch_units(launch: Launch, networks: int) -> NDArray[np.float64]:
    """The units of each network in a launch."""
    units = np.zeros(networks)
    np.add.at(units, launch.owners, _row_units(launch))
    return units


def _row_units(launch: Launch) -> NDArray[np.int64]:
    table = launch.tables[0]
    units = np.ones(len(table), dtype=np.int64)
    if launch.kernel == "combine":
        units += table[:, 2] - table[:, 1]
    if launch.kernel == "norm_backward":
        units += table[:, 5] - table[:, 4]
    return units


def layout_work(layout: PopulationLayout) -> list[Work]:
    """The work of each network of a population that kernels run."""
    networks = len(layout.programs)
    units: dict[str, NDArray[np.float64]] = {}
    for waves in (layout.forward, layout.backward):
        for wave in waves:
            for launch in wave:
                kind = launch_kind(launch)
                units[kind] = units.get(kind, 0.0) + launch_units(launch, networks)
    return [
        {kind: float(counts[number]) for kind, counts in units.items() if counts[number]} | _once_a_step(program)
        for number, program in enumerate(layout.programs)
    ]


def operation_kind(operation: Operation, program: NetworkProgram) -> str:
    """The kind of an operation that torch runs: what operations share that become one stage."""
    name, shape = kind_of(operation, program)
    return f"{name} {','.join(map(str, shape))}"


def operation_units(operation: Operation) -> int:
    """The planes that an operation writes; a convolution of all channels is one unit, and a sum counts every pass over
    a plane."""
    if isinstance(operation, Conv):
        return 1
    if isinstance(operation, Combine):
        passes = sum(2 + 2 * (term.norm >= 0) + term.relu for term in operation.terms)
        return len(operation.outputs) * (1 + passes)
    return len(operation.inputs)


def operation_work(program: NetworkProgram) -> Work:
    """The work of a network that torch's own operations run."""
    units: Counter[str] = Counter()
    for operation in program.operations:
        units[operation_kind(operation, program)] += operation_units(operation)
    return {kind: float(count) for kind, count in units.items()} | _once_a_step(program)


def works(programs: Sequence[NetworkProgram], *, batch: int, value_bytes: int, lanes: int | None) -> list[Work]:
    """The work of each network, whatever others it is trained with.

    Args:
        programs: The networks.
        batch: Images in a step.
        value_bytes: Bytes of a value of an activation.
        lanes: The channels of a bundle where kernels run the networks; None where torch's own operations do.
    """
    if lanes is None:
        return [operation_work(program) for program in programs]
    layouts = (PopulationLayout([program], batch, value_bytes=value_bytes, lanes=lanes) for program in programs)
    return [work for layout in layouts for work in layout_work(layout)]


def _once_a_step(program: NetworkProgram) -> dict[str, float]:
    return {DRAW: 1.0, MEANS: 1.0, MEANS_BACKWARD: 1.0, UPDATE: float(program.parameters)}
