"""What a population needs before training: the program and initial weights of each network, and for kernels the layout.

Building and tracing a network takes some ten milliseconds of Python, as long as training it takes on a GPU. So where
there are many, other processes do it; and they can do it for the next population while one is trained.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.core.execution.processes import ProcessPool
from nasbed.datasets.dataset import Dataset
from nasbed.networks import build
from nasbed.networks.shapes import shapes_only
from nasbed.spaces.image_size import Image
from nasbed.training.network_factory import recipe_skeleton
from nasbed.training.outcome import Job
from nasbed.training.population.launches import PopulationLayout
from nasbed.training.population.program import NetworkProgram
from nasbed.training.population.tracing import trace
from nasbed.training.random_streams import uniform_weights, weight_bounds
from nasbed.training.recipe import Recipe

ENOUGH = 32
"""From this many networks on, it pays to start other processes."""
_CHUNK = 4
"""The networks that one process traces at a time."""


@dataclass(frozen=True, slots=True)
class PreparationTarget:
    """What networks are prepared for: a recipe, the classes and images of a dataset, and whether by kernels."""

    recipe: Recipe
    classes: int
    channels: int
    side: Image
    kernels: bool

    @classmethod
    def of(cls, dataset: Dataset, recipe: Recipe, device: torch.device) -> Self:
        """The target of a training with a recipe on a dataset and a device."""
        channels, height, width = dataset.shape
        return cls(recipe, len(dataset.classes), channels, (height, width), device.type == "cuda")


@dataclass(frozen=True, slots=True)
class PreparedPopulation:
    """The programs of networks, and their initial weights: where kernels run them as their layout packs them, else
    ``[networks, most parameters]`` filled up with zeros."""

    programs: Sequence[NetworkProgram]
    weights: NDArray[np.float32]
    layout: PopulationLayout | None


def prepare_population(jobs: Sequence[Job], target: PreparationTarget) -> PreparedPopulation:
    """All that a population needs before training, in the order of its jobs: made by other processes where there are
    enough networks and this process may have any, else here."""
    return _prepared(jobs, target, _processes.pool(len(jobs)))


def _prepared(jobs: Sequence[Job], target: PreparationTarget, pool: ProcessPool | None) -> PreparedPopulation:
    if pool is not None:
        chunks = [jobs[start : start + _CHUNK] for start in range(0, len(jobs), _CHUNK)]
        try:
            parts = pool.map(partial(_pickled_networks, target=target), chunks)
            return pool.submit(_assemble_pickled, parts, target).result()
        except BrokenExecutor:  # as in a script that starts itself again in each process
            _processes.give_up()
    return _assemble([_prepare(job, target) for job in jobs], target)


_Network = tuple[NetworkProgram, NDArray[np.float32]]
"""A program and the flattened weights that :func:`nasbed.training.random_streams.initial_weights` gives its network."""


def _shapes_of(architecture: Architecture, target: PreparationTarget) -> nn.Module:
    """A network without values."""
    with shapes_only():
        return build(
            architecture,
            classes=target.classes,
            channels_in=target.channels,
            image=target.side,
            skeleton=recipe_skeleton(architecture.space, target.recipe),
        )


def target_program(architecture: Architecture, target: PreparationTarget) -> NetworkProgram:
    """The program of an architecture."""
    return trace(_shapes_of(architecture, target), channels=target.channels, side=target.side)


def _prepare(job: Job, target: PreparationTarget) -> _Network:
    network = _shapes_of(job.architecture, target)
    bounds = weight_bounds(network)
    parameters = dict(network.named_parameters())
    weights = uniform_weights(job.seed, sum(tensor.numel() for tensor in parameters.values()))
    start = 0
    for name, parameter in parameters.items():
        span = slice(start, start := start + parameter.numel())
        if bounds[name]:
            weights[span] *= np.float32(bounds[name])
        else:
            weights[span] = 1.0 if name.endswith("weight") else 0.0
    return trace(network, channels=target.channels, side=target.side), weights


def _pickled_networks(jobs: Sequence[Job], target: PreparationTarget) -> bytes:
    """Networks as bytes, which pass through the process that trains without being read there."""
    return pickle.dumps([_prepare(job, target) for job in jobs], pickle.HIGHEST_PROTOCOL)


def _assemble_pickled(parts: Sequence[bytes], target: PreparationTarget) -> PreparedPopulation:
    return _assemble([network for part in parts for network in pickle.loads(part)], target)


def _assemble(networks: Sequence[_Network], target: PreparationTarget) -> PreparedPopulation:
    programs, weights = [program for program, _ in networks], [values for _, values in networks]
    if target.kernels:
        value_bytes = 2 if target.recipe.precision == "bfloat16" else 4
        layout = PopulationLayout(programs, target.recipe.batch, value_bytes=value_bytes)
        return PreparedPopulation(programs, layout.packed(weights), layout)
    table = np.zeros((len(networks), max(map(len, weights))), dtype=np.float32)
    for place, values in enumerate(weights):
        table[place, : len(values)] = values
    return PreparedPopulation(programs, table, None)


class PopulationPreparer:
    """Prepares one population ahead, in the background, while another is trained."""

    def __init__(self, target: PreparationTarget) -> None:
        self._target = target
        self._upcoming: tuple[Job, ...] = ()
        self._preparation: Future[PreparedPopulation] | None = None
        self._thread: ThreadPoolExecutor | None = None

    def take(self, jobs: Sequence[Job], upcoming: Sequence[Job] = ()) -> PreparedPopulation:
        """The population of the jobs: the one that was prepared ahead if it has these jobs, else a new one. Then the
        population of the upcoming jobs is started; any other preparation is dropped."""
        prepared = None
        if self._preparation is not None and self._upcoming == tuple(jobs):
            prepared = self._preparation.result()
        if self._upcoming != tuple(upcoming):
            self._drop()
        prepared = prepared or prepare_population(jobs, self._target)
        if upcoming and self._preparation is None:
            self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="preparing")
            self._upcoming = tuple(upcoming)
            pool = _processes.pool(len(upcoming))
            self._preparation = self._thread.submit(_prepared, self._upcoming, self._target, pool)
        return prepared

    def _drop(self) -> None:
        if self._preparation is not None:
            self._preparation.cancel()
        self._upcoming, self._preparation = (), None

    def close(self) -> None:
        """Stop the background work and its processes. Taking another population starts them again."""
        self._drop()
        _processes.close()
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None


class _Processes:
    """The processes that prepare for this one: as many as cores but one, with their imports done once started."""

    def __init__(self) -> None:
        self._pool: ProcessPool | None = None
        self._usable = True
        self._lock = Lock()

    def pool(self, networks: int) -> ProcessPool | None:
        """The processes; None for few networks, in a daemonic process, and after a process has broken."""
        if networks < ENOUGH or not self._usable or multiprocessing.current_process().daemon:
            return None
        with self._lock:
            if self._pool is None:
                self._pool = ProcessPool(max((os.cpu_count() or 1) - 1, 1), _one_thread)
            return self._pool

    def give_up(self) -> None:
        """Use no other processes from now on."""
        self._usable = False
        self.close()

    def close(self) -> None:
        """Stop the processes, whatever they do."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def _one_thread() -> None:
    torch.set_num_threads(1)


_processes = _Processes()
