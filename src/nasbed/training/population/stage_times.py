"""What each stage of a population takes when torch's own operations run it: forward and backward, each timed alone."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nasbed.training.population.autograd import AutogradExecutor, ForwardPass
from nasbed.training.population.program import Norm
from nasbed.training.population.stages import Stage
from nasbed.training.population.work import MEANS, MEANS_BACKWARD, TimedLaunch, operation_kind, operation_units


def stage_times(executor: AutogradExecutor, images: Tensor) -> list[TimedLaunch]:
    """One entry a stage, with both passes; then the classifier, forward and backward.

    Between stages the graph is cut, so that the gradient of each is that of its own operations.
    """
    networks = len(executor.programs)
    step = ForwardPass(executor, executor.parameters.detach().requires_grad_(), images, True)
    times = []
    for stage in executor.stages:
        step.cut()
        inputs = step.leaves()
        first = len(step.tensors)
        start = perf_counter()
        step.run_stage(stage)
        outputs = [step.scale, step.shift] if stage.kind is Norm else step.tensors[first:]
        _backward(outputs, inputs)
        seconds = perf_counter() - start
        number, operation = stage.rows[0]
        times.append(
            TimedLaunch(operation_kind(operation, executor.programs[number]), _units(stage, networks), seconds)
        )
    step.cut()
    inputs, each = step.leaves(), np.ones(networks)
    start = perf_counter()
    logits = step.head()
    forward = perf_counter()
    _backward([logits], inputs)
    times.append(TimedLaunch(MEANS, each, forward - start))
    times.append(TimedLaunch(MEANS_BACKWARD, each, perf_counter() - forward))
    return times


def _backward(outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> None:
    """The gradient of outputs for inputs; a sum of nothing has none."""
    outputs = [output for output in outputs if output.requires_grad]
    if outputs:
        ones = [torch.ones_like(output) for output in outputs]
        torch.autograd.grad(outputs, list(inputs), ones, allow_unused=True)


def _units(stage: Stage, networks: int) -> NDArray[np.float64]:
    units = np.zeros(networks)
    for number, operation in stage.rows:
        units[number] += operation_units(operation)
    return units
