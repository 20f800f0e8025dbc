"""Former functions for parts of tables, which have ids now: ``TABLE:mini`` and ``TABLE:no-pooling``."""

from __future__ import annotations

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.wrappers import SubSpace, part_of
from nasbed.core.former_names import warn_former


def nas_bench_mini(inner: Benchmark) -> SubSpace:
    """The cells of a NAS-Bench-101 table with at most six vertices."""
    warn_former("nasbed.benchmarks.nas_bench_mini", 'nasbed.load("TABLE:mini")', until="0.3")
    return part_of(inner, "mini")


def without_pooling(inner: Benchmark) -> SubSpace:
    """The cells of a NAS-Bench-201 table without average pooling."""
    warn_former("nasbed.benchmarks.without_pooling", 'nasbed.load("TABLE:no-pooling")', until="0.3")
    return part_of(inner, "no-pooling")
