"""How well a runtime model fits: the clock of searches on a surrogate (section 3.1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nasbed.core.errors import InvalidOption
from nasbed.studies.validation.data import ValidationData
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.quality import runtime_figures
from nasbed.surrogates.runtime import RUNTIME_MODEL, fit_runtime, timed


@dataclass(frozen=True, slots=True)
class RuntimeFit:
    """The figures of a runtime model on the test part, in seconds and of their logarithm."""

    model: str
    tested: int
    seconds_r2: float
    seconds_sparse_kendall: float
    log_r2: float
    log_sparse_kendall: float
    relative_error: float


def runtime_of_table(data: ValidationData, *, seed: int) -> RuntimeFit:
    """Fit the runtime model that a surrogate has by default on the train and validation parts, and test it."""
    fitted, test = check_times(data)
    return _figures(RUNTIME_MODEL, fit_runtime(RUNTIME_MODEL, data.space, fitted, seed=seed), test)


def runtime_of_artefact(artefact: Artefact, data: ValidationData) -> RuntimeFit:
    """Test the runtime model of a surrogate."""
    if artefact.runtime is None or artefact.manifest.runtime is None:
        raise InvalidOption(f"{artefact.name} has no runtime model; fit it with one")
    return _figures(artefact.manifest.runtime.model, artefact.runtime, _tested(data))


def check_times(data: ValidationData) -> tuple[Examples, Examples]:
    """The times to fit on and to test with; raises where they are too few."""
    fitted = timed(data.rows.take(data.split.fitted))
    if fitted is None:
        raise InvalidOption(f"{data.name} has too few training times")
    return fitted, _tested(data)


def _tested(data: ValidationData) -> Examples:
    test = timed(data.test)
    if test is None:
        raise InvalidOption(f"the test part of {data.name} has too few training times")
    return test


def _figures(model: str, clock: Surrogate[Any], test: Examples) -> RuntimeFit:
    figures = runtime_figures(clock, test)
    return RuntimeFit(
        model,
        len(test),
        seconds_r2=figures["runtime_seconds_r2"],
        seconds_sparse_kendall=figures["runtime_seconds_sparse_kendall"],
        log_r2=figures["runtime_r2"],
        log_sparse_kendall=figures["runtime_sparse_kendall"],
        relative_error=figures["runtime_relative_error"],
    )
