"""Expected values of architectures, of many at once on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.observations import Observations
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.spaces.base import Codes

CORES = os.cpu_count() or 1
LEAST_PART = 256
"""Architectures that are worth a core of their own."""
ROWS_A_QUERY = 150
"""Rows of a table whose mean takes as long as one query."""


def expected_parallel(benchmark: Benchmark, codes: Codes, fidelity: int | None = None) -> Observations:
    """``benchmark.expected_many`` in parts side by side: what predicts in compiled code uses all cores. A benchmark
    that does not know its means answers the query with seed 0."""
    if not benchmark.knows_means:
        return benchmark.query_many(codes, fidelity=fidelity)
    if _are_few(benchmark, codes):
        archs = benchmark.space.architectures(codes)
        return _singly(benchmark, codes, [benchmark.expected(arch, fidelity=fidelity) for arch in archs])
    return _in_parts(benchmark, codes, lambda part: benchmark.expected_many(part, fidelity=fidelity))


def queried_parallel(benchmark: Benchmark, codes: Codes, *, fidelity: int | None, seed: int) -> Observations:
    """``benchmark.query_many`` in parts side by side."""
    if len(codes) == 1:
        archs = benchmark.space.architectures(codes)
        return _singly(benchmark, codes, [benchmark.query(arch, fidelity=fidelity, seed=seed) for arch in archs])
    return _in_parts(benchmark, codes, lambda part: benchmark.query_many(part, fidelity=fidelity, seed=seed))


def _are_few(benchmark: Benchmark, codes: Codes) -> bool:
    """Whether it is faster to ask for each alone. A table takes the means of all its rows for a batch."""
    few = len(benchmark) // ROWS_A_QUERY if isinstance(benchmark, TabularBenchmark) else 1
    return len(codes) <= max(few, 1)


def _in_parts(benchmark: Benchmark, codes: Codes, answer: Callable[[Codes], Observations]) -> Observations:
    count = min(CORES, len(codes) // LEAST_PART) if benchmark.predicts else 1
    return answer(codes) if count < 2 else joined(list(_pool().map(answer, np.array_split(codes, count))))


def _singly(benchmark: Benchmark, codes: Codes, answers: Sequence[Observation]) -> Observations:
    """Single answers as a batch."""
    fidelity = answers[0].fidelity
    return Observations.of(benchmark.space.name, codes, answers, metrics=benchmark.metrics, fidelity=fidelity)


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
    return ThreadPoolExecutor(CORES, thread_name_prefix="explorer-values")
