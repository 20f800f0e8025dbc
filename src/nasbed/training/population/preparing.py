"""What a population needs of each network before training: its program and its initial weights.

Building and tracing a network takes some ten milliseconds of Python, as long as training it takes on a GPU. So where
there are many, other processes do it.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import torch
from numpy.typing import NDArray

from nasbed.networks import build
from nasbed.spaces.sides import Image
from nasbed.training.building import recipe_skeleton
from nasbed.training.draws import uniform_weights, weight_bounds
from nasbed.training.outcome import Job
from nasbed.training.population.program import Program
from nasbed.training.population.tracing import trace
from nasbed.training.recipe import Recipe

_ENOUGH = 64
"""So many networks are worth the start of other processes."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program and the flattened weights that :func:`initial_weights` gives its network."""

    program: Program
    weights: NDArray[np.float32]


def prepared(jobs: Sequence[Job], recipe: Recipe, *, classes: int, channels: int, side: Image) -> list[Prepared]:
    """Every job's, in their order."""
    one = partial(_prepare, recipe=recipe, classes=classes, channels=channels, side=side)
    if len(jobs) < _ENOUGH or multiprocessing.current_process().daemon:
        return [one(job) for job in jobs]
    return list(_pool().map(one, jobs, chunksize=4))


def _prepare(job: Job, *, recipe: Recipe, classes: int, channels: int, side: Image) -> Prepared:
    with torch.device("meta"):
        network = build(
            job.architecture,
            classes=classes,
            channels_in=channels,
            image=side,
            skeleton=recipe_skeleton(job.architecture.space, recipe),
        )
    bounds = weight_bounds(network)
    parameters = dict(network.named_parameters())
    weights = uniform_weights(job.seed, sum(each.numel() for each in parameters.values()))
    start = 0
    for name, parameter in parameters.items():
        span = slice(start, start := start + parameter.numel())
        if bounds[name]:
            weights[span] *= np.float32(bounds[name])
        else:
            weights[span] = 1.0 if name.endswith("weight") else 0.0
    return Prepared(trace(network, channels=channels, side=side), weights)


@cache
def _pool() -> ProcessPoolExecutor:
    """One for as long as this process lives; its processes have their imports done."""
    cores = max((os.cpu_count() or 1) - 1, 1)
    pool = ProcessPoolExecutor(
        cores, multiprocessing.get_context("spawn"), initializer=torch.set_num_threads, initargs=(1,)
    )
    atexit.register(pool.shutdown)
    return pool
