"""The checks of stored runs. A file that another version wrote, or that was edited, is refused by name before any
number of it is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidArchitecture, InvalidMeasurement, InvalidOption, shorten
from nasbed.core.metric import Metric
from nasbed.core.status import OK, STATUSES
from nasbed.experiments.budget import Budget
from nasbed.experiments.provenance import Provenance

if TYPE_CHECKING:
    from nasbed.experiments.runs import Run, Runs, Setup

LONGEST_S = 1e15
"""An upper limit of the simulated seconds of a run."""
LARGEST = 1e100
"""An upper limit of metrics, far from overflow."""
LARGEST_SEED = 2**63 - 1
OTHER = "other-"
COLUMNS = {"codes": "iu", "fidelity": "iu", "value": "f", "status": "iu", "start_s": "f", "end_s": "f"}
"""The arrays of a run and the kinds of numbers in them."""

Kind = tuple[str, Callable[[Any], bool]]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_text, value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_SEED


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LONGEST_S


def _is_text_mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_made_by(value: Any) -> bool:
    names = {item.name for item in fields(Provenance)}
    return value is None or (_is_text_mapping(value) and set(value) == names)


def _is_settings(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(values, dict) for values in value.values())


def _is_budget(value: Any) -> bool:
    try:
        return _is_text(value) and bool(Budget.parse(value))
    except InvalidOption:
        return False


TEXT, TEXTS = ("a text", _is_text), ("a list of texts", _is_texts)
WHOLE, SECONDS = ("a whole number from 0 on", _is_whole), ("a number of seconds", _is_seconds)
FACTS: dict[str, Kind] = {
    "method": TEXT,
    "seed": WHOLE,
    "error": TEXT,
    "thinking_s": SECONDS,
    "scoring_s": SECONDS,
    "refusals": TEXTS,
    "random_start": ("a whole number from 0 on, or null", lambda value: value is None or _is_whole(value)),
    "remarks": TEXTS,
    "made_by": ("the record of what made the run, or null", _is_made_by),
}
"""The fields of a run other than its arrays."""
SETUP: dict[str, Kind] = {
    "benchmark": TEXT,
    "space": TEXT,
    "objective": ("a metric", lambda value: isinstance(value, dict)),
    "budget": ("a budget, such as 500ev or 1e6s", _is_budget),
    "workers": ("a whole number from 1 on", lambda value: _is_whole(value) and value > 0),
    "settings": ("settings by method", _is_settings),
    "charge_thinking": ("true or false", lambda value: isinstance(value, bool)),
    "continue_trainings": ("true or false", lambda value: isinstance(value, bool)),
    "command": TEXT,
    "versions": ("texts by package", _is_text_mapping),
    "benchmark_sha256": TEXT,
    "methods": TEXTS,
    "presets": ("texts by method", _is_text_mapping),
}
"""The fields of ``setup.json``."""


def check_fields(content: Any, kinds: Mapping[str, Kind], needed: tuple[str, ...]) -> None:
    """Raise a ValueError unless a JSON object has these fields, of these kinds, and no others."""
    if not isinstance(content, dict):
        raise ValueError(f"it holds a JSON object, got {shorten(content)}")
    for name in needed:
        if name not in content:
            raise ValueError(f"it has no field {name!r}")
    for name, value in content.items():
        if name not in kinds:
            raise ValueError(f"it has the field {shorten(name)}, which this nasbed does not know")
        rule, fits = kinds[name]
        if not fits(value):
            raise ValueError(f"the field {name!r} is {rule}, got {shorten(value)}")


def check_columns(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise a ValueError unless these are the arrays of a run: all of one length, of finite numbers, rising in time."""
    for name in (*COLUMNS, *arrays):
        if name not in arrays:
            raise ValueError(f"it has no array {name!r}")
        kinds = COLUMNS.get(name, "f" if name.startswith(OTHER) else "")
        if arrays[name].dtype.kind not in kinds or arrays[name].ndim != (2 if name == "codes" else 1):
            actual = f"{arrays[name].dtype} {list(arrays[name].shape)}"
            raise ValueError(f"the array {shorten(name)} is not one of a run, or has other numbers, got {actual}")
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"its arrays have one length, got {shorten(lengths, 200)}")
    value, status = arrays["value"], arrays["status"]
    start_s, end_s = arrays["start_s"], arrays["end_s"]
    if not np.isin(status, range(len(STATUSES))).all():
        raise ValueError(f"a status is 0 to {len(STATUSES) - 1}, got {shorten(np.unique(status).tolist())}")
    if not np.isnan(value[status != OK]).all():
        raise ValueError("an evaluation that did not end well has no value, got one")
    for name, array in arrays.items():
        if name == "value" or name.startswith(OTHER):
            if not (np.isnan(array) | (np.abs(array) <= LARGEST)).all():
                raise ValueError(f"{name} holds finite numbers, got {shorten(array[np.abs(array) > LARGEST].tolist())}")
        elif name.endswith("_s") and not ((array >= 0) & (array <= LONGEST_S)).all():
            raise ValueError(f"{name} holds seconds from 0 on, got {shorten(array.tolist())}")
    if (start_s > end_s).any() or (np.diff(end_s) < 0).any():
        raise ValueError("evaluations end after they start and are sorted by their ends, got other times")
    codes = arrays["codes"]
    if codes.size and np.abs(codes.astype(np.float64)).max() > LARGEST_SEED:
        raise ValueError("codes are whole numbers of 64 bits, got larger ones")


def objective_of(content: Any) -> Metric:
    """The metric that a JSON object describes; bounds beyond :data:`LARGEST` are refused. Raises a ValueError."""
    metric = Metric.from_json(content)
    if any(LARGEST < abs(bound) < math.inf for bound in metric.bounds):
        raise ValueError(f"the bounds of a metric are two numbers, got {shorten(content['bounds'])}")
    return metric


def check_run(run: Run, setup: Setup) -> None:
    """Raise a ValueError unless the values of a run lie within the bounds of what its folder optimises."""
    present = run.value[~np.isnan(run.value)]
    try:
        for value in (present.min(), present.max()) if len(present) else ():
            setup.objective.check(float(value))
    except InvalidMeasurement as error:
        raise ValueError(str(error).partition(";")[0]) from None


def check_runs_fit(runs: Runs, benchmark: Benchmark) -> None:
    """Raise if runs cannot be of a benchmark: another space or objective, or fidelities or architectures that it lacks.
    A failed evaluation may have an invalid architecture."""
    setup = runs.setup
    for name, stored, has in (
        ("space", setup.space, benchmark.space.name),
        ("objective", setup.objective, benchmark.objective),
    ):
        if stored != has:
            raise BadFile(f"runs on {setup.benchmark} have its {name}, {shorten(has, 100)}, got {shorten(stored, 100)}")
    for run in runs.runs:
        label = f"the run of {run.method} with seed {run.seed}"
        if run.codes.shape[1] != benchmark.space.code_length:
            raise BadFile(
                f"{label} has codes of {run.codes.shape[1]} numbers, {benchmark.space.name} has "
                f"{benchmark.space.code_length}; delete it"
            )
        valued = ~np.isnan(run.value)
        unknown = sorted(set(np.unique(run.fidelity[valued]).tolist()) - set(benchmark.fidelities))
        if unknown:
            raise BadFile(f"{label} has fidelities that {benchmark.name} lacks, {shorten(unknown)}; delete it")
        for code in np.unique(run.codes[valued], axis=0).tolist():
            try:
                benchmark.space.validate(Architecture(benchmark.space.name, tuple(code)))
            except (InvalidArchitecture, InvalidOption) as error:
                raise BadFile(f"{label} has no architecture where it has a value: {error}; delete it") from None
