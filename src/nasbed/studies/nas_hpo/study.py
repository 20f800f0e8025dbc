"""NAS-Bench-101's section 5.1: do architectures rank alike with tuned and with fixed hyperparameters?

The study needs every pair of architecture and hyperparameters. NAS-HPO-Bench (Klein & Hutter, 2019) has them: two
hidden layers with units, activation and dropout each, trained with a learning rate, a schedule and a batch size. The
paper does not say whether activation and dropout are architecture; :data:`DEFINITIONS` has every sensible reading.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks import Benchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.evaluation.transfer import Transfer, hyperparameter_transfer
from nasbed.spaces.facts import Choices
from nasbed.studies.table import Table, table_of

DEFINITIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "units": ("n_units",),
        "units, activations": ("n_units", "activation_fn"),
        "units, dropout": ("n_units", "dropout"),
        "units, activations, dropout": ("n_units", "activation_fn", "dropout"),
    }
)
"""Readings of "architecture": prefixes of the choices that count; all others are hyperparameters."""

PUBLISHED = 0.9155
"""The Spearman correlation in section 5.1 for the protein data."""


@dataclass(frozen=True, slots=True)
class NasHpoResult:
    """One reading of "architecture" on one table. ``by_seed`` repeats the study with each single training run."""

    name: str
    definition: str
    metric: Metric
    architectures: int
    hyperparameters: int
    transfer: Transfer
    fixed: Mapping[str, str]  # H†, by the names of its choices
    by_seed: NDArray[np.float64]


def nas_hpo_study(benchmark: Benchmark) -> list[NasHpoResult]:
    """The results of all :data:`DEFINITIONS` on a table that holds every combination of its choices.

    f is the mean over repeats of the table's objective at the highest fidelity.
    """
    table = table_of(benchmark)
    choices = table.space.choices_of(table.codes)
    combinations = math.prod(map(len, choices.options))
    if len(table) != table.space.size or len(table) != combinations:
        raise InvalidOption(
            f"this study needs every combination of a row of choices, {table.name} has {len(table)} of "
            f"{max(table.space.size, combinations)}; use the tables fcnet/*"
        )
    prefixes = {prefix for kinds in DEFINITIONS.values() for prefix in kinds}
    missing = sorted(prefix for prefix in prefixes if not any(name.startswith(prefix) for name in choices.names))
    if missing:
        raise InvalidOption(
            f"this study needs choices called {', '.join(missing)} …, {table.name} has none; use fcnet/*"
        )
    return [_result(table, choices, definition, kinds) for definition, kinds in DEFINITIONS.items()]


def _result(table: Table, choices: Choices, definition: str, kinds: tuple[str, ...]) -> NasHpoResult:
    names = choices.names
    inside = [position for position, name in enumerate(names) if name.startswith(kinds)]
    outside = [position for position in range(len(names)) if position not in inside]
    architecture, architecture_count = _number(choices, inside)
    hyperparameter, setting_count = _number(choices, outside)
    objective = table.objective
    position = table.measured(objective)

    def grid(column: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = np.full((architecture_count, setting_count), np.nan)
        cells[architecture, hyperparameter] = column
        return cells

    transfer = hyperparameter_transfer(grid(table.mean(objective, position)), direction=objective.direction)
    repeats = table.values[objective.key][:, position].T
    complete_repeats = [column for column in repeats if not np.isnan(column).any()]
    by_seed = [
        hyperparameter_transfer(grid(column), direction=objective.direction).spearman for column in complete_repeats
    ]
    row = int(np.flatnonzero(hyperparameter == transfer.chosen)[0])
    fixed = {names[place]: choices.options[place][choices.values[row, place]] for place in outside}
    return NasHpoResult(
        table.name,
        definition,
        objective,
        architecture_count,
        setting_count,
        transfer,
        fixed,
        np.array(by_seed, dtype=np.float64),
    )


def _number(choices: Choices, positions: list[int]) -> tuple[NDArray[np.int64], int]:
    """The number of each row among all combinations of the choices at these positions, and their count."""
    sizes = tuple(len(choices.options[position]) for position in positions)
    numbers = np.ravel_multi_index(tuple(choices.values[:, position] for position in positions), sizes)
    return np.asarray(numbers, dtype=np.int64), int(np.prod(sizes))
