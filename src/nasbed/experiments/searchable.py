"""Whether methods can search a benchmark: a table that holds almost nothing of its space cannot be searched."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import MEAN, surrogates_of
from nasbed.benchmarks.listed import LISTED
from nasbed.core.errors import InvalidOption, TooLarge
from nasbed.experiments.budget import Budget
from nasbed.optimizers import Optimizer
from nasbed.spaces.base import SearchSpace

DRAWS = 200
"""How many random architectures a table is asked for before methods search it."""
LEAST_HELD = 0.5
"""The share of random architectures that a table must hold to be searched."""
MOST_NAMED = 3
"""How many surrogates a refusal names."""


def check_searchable(name: str, benchmark: Benchmark, methods: Mapping[str, type[Optimizer]]) -> None:
    """Refuse a table that holds few of the architectures that methods draw, and name alternatives. If the benchmark is
    a list of architectures, refuse methods that cannot keep to it.

    Args:
        name: What the benchmark is loaded by.
        benchmark: The same, opened.
        methods: The classes of the methods, by the names of their runs.
    """
    if benchmark.holds_all:
        return
    table = benchmark.unwrapped
    instead = _surrogates(table.name)
    if benchmark.space.is_listed:
        for method, kind in methods.items():
            if not kind.draws_from_space:
                raise InvalidOption(
                    f"{method} builds architectures from its own parameters and would rarely propose one that "
                    f"{benchmark.name} holds; omit it, or {instead}"
                )
        return
    rng = np.random.default_rng(0)
    hits = sum(benchmark.holds(benchmark.space.sample(rng)) for _ in range(DRAWS))
    if hits < LEAST_HELD * DRAWS:
        listed_id = f"{name.removesuffix(f':{MEAN}')}:{LISTED}"
        raise InvalidOption(
            f"a table is searched if it holds {100 * LEAST_HELD:.0f} % of random architectures, {table.name} holds "
            f"{hits} of {DRAWS} ({benchmark.held_count} in all, of {_size(benchmark.space)}); {instead}, or search "
            f"what it holds, {listed_id}"
        )


def check_budget(benchmark: Benchmark, budget: Budget) -> None:
    """Refuse a budget in seconds if no evaluation has a time: it would never be exhausted."""
    if math.isfinite(budget.seconds) and not benchmark.has_times:
        raise InvalidOption(
            f"a budget in seconds needs evaluations that take time, {benchmark.name} has no times; give a number of "
            "evaluations, such as 500ev"
        )


def continues(benchmark: Benchmark, continue_trainings: bool | None) -> bool:
    """Whether the trainings of a run are continued; by default where fidelities are epochs of one training. Refuses to
    if there is no higher fidelity to continue to."""
    if continue_trainings is None:
        return benchmark.is_one_training and len(benchmark.fidelities) > 1
    if continue_trainings and len(benchmark.fidelities) == 1:
        raise InvalidOption(
            f"trainings are continued from one fidelity to a higher one, {benchmark.name} has only "
            f"{benchmark.fidelities[0]}; omit --continue-trainings"
        )
    return continue_trainings


def _surrogates(table: str) -> str:
    """Advice that leads to a benchmark of the whole space."""
    names = surrogates_of(table)
    if not names:
        return f"fit a surrogate with: nasbed fit {table}"
    return f"search a surrogate of the whole space, such as {', '.join(names[:MOST_NAMED])}"


def _size(space: SearchSpace) -> str:
    try:
        size = space.size
    except TooLarge:
        return "a space that cannot be counted"
    return str(size) if size < 1e9 else f"about 10^{len(str(size)) - 1}"
