"""Benchmarks: tables, surrogates and live training, behind one query."""

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import cards, load
from nasbed.benchmarks.former_parts import nas_bench_mini, without_pooling
from nasbed.benchmarks.live import LiveBenchmark
from nasbed.benchmarks.observations import Observations
from nasbed.benchmarks.registered import BENCHMARKS
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.benchmarks.wrappers import NoiseFree, Restricted, SubSpace

__all__ = [
    "BENCHMARKS",
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
