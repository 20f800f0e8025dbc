"""Benchmarks: tables, surrogates and live training, behind one query."""

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import cards, load
from nasbed.benchmarks.live import LiveBenchmark
from nasbed.benchmarks.observations import Observations
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.benchmarks.wrappers import NoiseFree, Restricted, SubSpace, nas_bench_mini, without_pooling

__all__ = [
    "Benchmark",
    "LiveBenchmark",
    "NoiseFree",
    "Observations",
    "Restricted",
    "SubSpace",
    "SurrogateBenchmark",
    "TabularBenchmark",
    "cards",
    "load",
    "nas_bench_mini",
    "without_pooling",
]
