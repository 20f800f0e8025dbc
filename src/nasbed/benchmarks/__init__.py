"""Benchmarks: tables, and in time surrogates and live training, behind one query."""

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import cards, load
from nasbed.benchmarks.observations import Observations
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.benchmarks.wrappers import NoiseFree, Restricted, SubSpace, nas_bench_mini

__all__ = [
    "Benchmark",
    "NoiseFree",
    "Observations",
    "Restricted",
    "SubSpace",
    "TabularBenchmark",
    "cards",
    "load",
    "nas_bench_mini",
]
