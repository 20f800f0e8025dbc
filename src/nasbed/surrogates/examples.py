"""What a surrogate learns from: evaluated architectures with one metric, and who proposed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, nearest
from nasbed.core.metric import Metric
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.evaluations import Evaluations, evaluations

if TYPE_CHECKING:
    from nasbed.results.store import Results


TRAIN_TIME = Metric("train_time_s", direction="minimize", unit="s")
"""What a runtime model predicts; it learns the logarithm."""


@dataclass(frozen=True, slots=True)
class Levels:
    """What trainings reached at each of several fidelities, ``[n, fidelities]``; times are NaN where not recorded."""

    fidelities: tuple[int, ...]
    y: NDArray[np.float64]
    cost_s: NDArray[np.float64]

    def take(self, rows: NDArray[Any]) -> Levels:
        """Some of the trainings, by number or mask."""
        return Levels(self.fidelities, self.y[rows], self.cost_s[rows])


@dataclass(frozen=True, slots=True)
class Examples:
    """Evaluations that ended well, one a row; an architecture evaluated with several seeds has several rows."""

    codes: NDArray[np.int64]  # [n, code_length]
    y: NDArray[np.float64]
    cost_s: NDArray[np.float64]  # NaN where it was not recorded
    architecture: NDArray[np.int64]  # numbers the architectures up to isomorphism
    method: NDArray[np.str_]
    seed: NDArray[np.int64]
    fidelity: int = -1  # of every row; -1 where it is not recorded
    levels: Levels | None = None  # of trainings at several fidelities, of which ``y`` and ``cost_s`` are the highest

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[Any]) -> Examples:
        """Some of the rows, by number or mask."""
        return Examples(
            self.codes[rows],
            self.y[rows],
            self.cost_s[rows],
            self.architecture[rows],
            self.method[rows],
            self.seed[rows],
            self.fidelity,
            None if self.levels is None else self.levels.take(rows),
        )

    def at(self, fidelity: int) -> Examples:
        """The same trainings at one of their fidelities."""
        if self.levels is None:
            return self
        place = self.levels.fidelities.index(fidelity)
        return replace(
            self, y=self.levels.y[:, place], cost_s=self.levels.cost_s[:, place], fidelity=fidelity, levels=None
        )

    def of(self, y: NDArray[np.float64]) -> Examples:
        """The same rows with another target, those without one left out."""
        has_target = np.isfinite(y)
        return replace(self, y=y).take(has_target)

    def log_seconds(self) -> NDArray[np.float64]:
        """The logarithm of the training times; not finite where none is recorded."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(self.cost_s)

    def canonical(self, space: SearchSpace) -> Examples:
        """The evaluations of the canonical forms, which are what a surrogate benchmark predicts."""
        return replace(self, codes=space.canonical_codes(self.codes))

    def is_by(self, methods: Sequence[str]) -> NDArray[np.bool_]:
        """Which rows are of evaluations by some search methods; raises for a method without any."""
        names = np.unique(self.method).tolist()
        for method in methods:
            if method not in names:
                raise InvalidOption(f"no evaluation is by a method {method!r}; {nearest(method, names)}")
        mask: NDArray[np.bool_] = np.isin(self.method, list(methods))
        return mask

    def is_of_architectures_by(self, methods: Sequence[str]) -> NDArray[np.bool_]:
        """Which rows are of architectures that some search methods evaluated, repeats and other methods' rows too."""
        mask: NDArray[np.bool_] = np.isin(self.architecture, self.architecture[np.isin(self.method, list(methods))])
        return mask

    def by(self, methods: Sequence[str]) -> Examples:
        """What some search methods evaluated."""
        return self.take(self.is_by(methods))

    @classmethod
    def plain(cls, codes: NDArray[np.int64], y: NDArray[np.float64]) -> Examples:
        """Examples with only architecture and target; equal codes are one architecture."""
        count = len(codes)
        _, architecture = np.unique(codes, axis=0, return_inverse=True)
        return cls(
            np.asarray(codes, dtype=np.int64),
            np.asarray(y, dtype=np.float64),
            np.full(count, np.nan),
            architecture.reshape(-1).astype(np.int64),
            np.full(count, ""),
            np.full(count, -1, dtype=np.int64),
        )


def examples(results: Results, *, metric: Metric | None = None, fidelity: int | None = None) -> Examples:
    """The evaluations of a results table at one fidelity with one metric, by default the first that is measured on
    validation data. Rows that diverged, failed or lack the metric are left out. The default fidelity is the highest
    that has any other row. An epoch of the table's learning curves is a fidelity too."""
    every = evaluations(results, metric or validation_metric(results))
    budget = int(every.fidelity.max()) if fidelity is None else fidelity
    used = every.fidelity == budget
    if not used.any():
        offered = ", ".join(map(str, np.unique(every.fidelity)))
        raise InvalidOption(f"{results.about.name} has the fidelities {offered}, got {budget}; choose one of them")
    return _examples(results, every.take(used), budget)


def examples_at_all_fidelities(results: Results, *, metric: Metric | None = None) -> Examples:
    """The trainings of a results table that have a metric at each of its fidelities, see :class:`Levels`. Evaluations
    of one architecture with one seed are one training, whether they are epochs of a learning curve or not."""
    every = evaluations(results, metric or validation_metric(results))
    fidelities, level = np.unique(every.fidelity, return_inverse=True)
    if len(fidelities) < 2 or fidelities[0] < 0:
        raise InvalidOption(
            f"{results.about.name} has one fidelity, or does not record it; fit that one: omit --all-fidelities"
        )
    training = every.training_numbers()
    y, cost_s = (np.full((int(training.max()) + 1, len(fidelities)), np.nan) for _ in range(2))
    y[training, level], cost_s[training, level] = every.y, every.cost_s
    complete = ~np.isnan(y).any(axis=1)
    if not complete.any():
        raise InvalidOption(
            f"no architecture of {results.about.name} has one seed at each of its fidelities "
            f"{', '.join(map(str, fidelities))}; fit one of them (--fidelity)"
        )
    used = (level == len(fidelities) - 1) & complete[training]
    levels = Levels(tuple(fidelities.tolist()), y[training[used]], cost_s[training[used]])
    return replace(_examples(results, every.take(used), levels.fidelities[-1]), levels=levels)


def _examples(results: Results, used: Evaluations, fidelity: int) -> Examples:
    forms = results.space.canonical_codes(used.codes)
    _, architecture = np.unique(forms, axis=0, return_inverse=True)
    numbers = architecture.reshape(-1).astype(np.int64)
    return Examples(used.codes, used.y, used.cost_s, numbers, used.method, used.seed, fidelity)


def validation_metric(results: Results) -> Metric:
    """The validation metric of a table: what a search on it would optimise."""
    for metric in results.about.metrics:
        if metric.split == "validation":
            return metric
    raise InvalidOption(f"{results.about.name} has no validation metric; name the metric to be predicted")
