"""Benchmarks that installed packages add."""

from __future__ import annotations

from collections.abc import Callable

from nasbed.benchmarks.base import Benchmark
from nasbed.core.registry import Registry

BENCHMARKS: Registry[Benchmark | Callable[[], Benchmark]] = Registry("benchmark", group="nasbed.benchmarks")
"""Benchmarks other than tables and surrogates, which are found by their files. An entry is an object or a callable that
makes it, such as its class. nasbed itself adds none."""


def registered_benchmark(name: str) -> Benchmark:
    """The benchmark of that id in the registry."""
    entry = BENCHMARKS.get(name)
    return entry if isinstance(entry, Benchmark) else entry()
