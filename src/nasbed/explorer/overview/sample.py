"""A sample of a space as the overview of a benchmark that is not a table: architectures and their expected values."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.errors import NasbedError
from nasbed.explorer.overview.disk_cache import Arrays, remembered
from nasbed.explorer.values import expected_parallel
from nasbed.spaces.base import Codes

SAMPLE = 10_000
"""How many random architectures are shown."""
MOST_DRAWS = 100_000
"""How many are drawn at the most, in a space where many draws are the same architecture."""
MOST_FITTED = 10_000
"""How many architectures of the table that a surrogate was fitted on are shown beside them."""
CHUNK = 1_000
BUDGET_S = 8.0
"""Seconds after which a slow benchmark shows what it has predicted by then."""
SEED = 0
CODES, FITTED, COST = "codes", "fitted", "cost_s"


def predicted_sample(benchmark: Benchmark) -> Arrays:
    """The canonical codes of a sample, whether each is of the table that the benchmark was fitted on, the metrics that
    the benchmark expects by key, and the cost in seconds."""
    return remembered((benchmark.fingerprint, SAMPLE, MOST_DRAWS, SEED), lambda: _predicted(benchmark))


def fitted_table(benchmark: Benchmark) -> TabularBenchmark | None:
    """The table that a surrogate was fitted on, if it is here."""
    if not isinstance(benchmark, SurrogateBenchmark):
        return None
    try:
        table = load(str(benchmark.artefact.manifest.provenance.get("table", "")))
    except NasbedError:
        return None
    same_space = table.space.name == benchmark.space.name
    return table if isinstance(table, TabularBenchmark) and same_space else None


def _predicted(benchmark: Benchmark) -> Arrays:
    codes, fitted = _codes(benchmark)
    chunks, start = [], perf_counter()
    for first in range(0, len(codes), CHUNK):
        chunks.append(expected_parallel(benchmark, codes[first : first + CHUNK]))
        if perf_counter() - start > BUDGET_S:
            break
    count = sum(map(len, chunks))
    columns = {metric.key: np.concatenate([chunk.column(metric) for chunk in chunks]) for metric in benchmark.metrics}
    cost_s = np.concatenate([chunk.cost_s for chunk in chunks])
    return {CODES: codes[:count], FITTED: fitted[:count], COST: cost_s, **columns}


def _codes(benchmark: Benchmark) -> tuple[Codes, NDArray[np.bool_]]:
    """Canonical codes, each once, in random order so that the first of them are a fair sample of all."""
    rng, space = np.random.default_rng(SEED), benchmark.space
    table = fitted_table(benchmark)
    known = np.empty((0, space.code_length), dtype=np.int64) if table is None else table.held_codes()
    known = known[rng.permutation(len(known))[:MOST_FITTED]]
    both = known
    for _ in range(0, MOST_DRAWS, SAMPLE):
        drawn = space.canonical_codes([space.sample(rng) for _ in range(SAMPLE)])
        both = np.concatenate([both, drawn])
        _, first = np.unique(both, axis=0, return_index=True)
        both = both[np.sort(first)][: len(known) + SAMPLE]
        if len(both) == len(known) + SAMPLE:
            break
    order = rng.permutation(len(both))
    return both[order], order < len(known)
