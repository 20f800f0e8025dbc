"""Expected values of architectures, of many at once on all cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.observations import Observations
from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.spaces.base import Codes

PART = 256
"""Architectures that one core takes at a time."""


def expected_parallel(benchmark: Benchmark, archs: Codes, fidelity: int | None = None) -> Observations:
    """``benchmark.expected_many`` in parts side by side: what predicts in compiled code uses all cores. A benchmark
    that does not know its means answers the query with seed 0."""
    if not benchmark.knows_means:
        return benchmark.query_many(archs, fidelity=fidelity)
    if len(archs) == 1:
        (arch,) = benchmark.space.architectures(archs)
        return _alone(benchmark, archs, benchmark.expected(arch, fidelity=fidelity))
    if not benchmark.predicts or len(archs) <= PART:
        return benchmark.expected_many(archs, fidelity=fidelity)
    parts = [archs[first : first + PART] for first in range(0, len(archs), PART)]
    return joined(list(_pool().map(lambda part: benchmark.expected_many(part, fidelity=fidelity), parts)))


def queried_parallel(benchmark: Benchmark, archs: Codes, *, fidelity: int | None, seed: int) -> Observations:
    """``benchmark.query_many`` in parts side by side."""
    if len(archs) == 1:
        (arch,) = benchmark.space.architectures(archs)
        return _alone(benchmark, archs, benchmark.query(arch, fidelity=fidelity, seed=seed))
    if not benchmark.predicts or len(archs) <= PART:
        return benchmark.query_many(archs, fidelity=fidelity, seed=seed)
    parts = [archs[first : first + PART] for first in range(0, len(archs), PART)]
    answers = _pool().map(lambda part: benchmark.query_many(part, fidelity=fidelity, seed=seed), parts)
    return joined(list(answers))


def _alone(benchmark: Benchmark, codes: Codes, answer: Observation) -> Observations:
    """A single answer as a batch: to ask for one alone is faster."""
    return Observations.of(benchmark.space.name, codes, [answer], metrics=benchmark.metrics, fidelity=answer.fidelity)


def joined(parts: Sequence[Observations]) -> Observations:
    """Several batches of answers as one."""
    first = parts[0]
    return Observations(
        space=first.space,
        codes=np.concatenate([part.codes for part in parts]),
        values={metric: np.concatenate([part.column(metric) for part in parts]) for metric in first.values},
        fidelity=first.fidelity,
        seeds=np.concatenate([part.seeds for part in parts]),
        cost_s=np.concatenate([part.cost_s for part in parts]),
        status=np.concatenate([part.status for part in parts]),
    )


def objective_means(
    benchmark: Benchmark, archs: Sequence[Architecture], fidelity: int | None = None
) -> NDArray[np.float64]:
    """The mean of the objective as ``benchmark.expected`` answers it, NaN for what the benchmark does not hold."""
    means = np.full(len(archs), np.nan)
    held = held_places(benchmark, archs, fidelity)
    if held:
        codes = benchmark.space.codes([archs[place] for place in held])
        answers = expected_parallel(benchmark, codes, fidelity)
        means[held] = answers.column(benchmark.objective)
    return means


def held_places(benchmark: Benchmark, archs: Sequence[Architecture], fidelity: int | None = None) -> list[int]:
    """The places of the architectures that a benchmark answers for."""
    if benchmark.holds_all:
        return list(range(len(archs)))
    return [place for place, arch in enumerate(archs) if benchmark.holds(arch, fidelity=fidelity)]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="explorer-values")
