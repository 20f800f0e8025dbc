"""A trial of a campaign, and its evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidMeasurement, nearest
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status

Key = tuple[tuple[int, ...], int, int]
"""Code, fidelity and seed, which a campaign evaluates only once."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One evaluation to be made: trial ``number`` of a campaign, proposed in a round by a method or another source."""

    number: int
    round: int
    architecture: Architecture
    fidelity: int
    seed: int
    method: str

    @property
    def key(self) -> Key:
        return self.architecture.code, self.fidelity, self.seed


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of a trial. ``values`` are by metric key; ``reason`` says why a trial is not ok. ``learning_curve``
    has the objective after each epoch where the trainer measures it, None where it was not a finite number. Where
    ``train_time_s`` comes from a calibration, ``measured_time_s`` is the trial's share of the measured time."""

    status: Status = Status.OK
    values: Mapping[str, float] = field(default_factory=dict)
    train_time_s: float | None = None
    reason: str = ""
    learning_curve: tuple[float | None, ...] = ()
    measured_time_s: float | None = None

    @classmethod
    def failed(cls, reason: str, train_time_s: float | None = None) -> Evaluation:
        return cls(Status.FAILED, train_time_s=train_time_s, reason=reason)


def checked(evaluation: Evaluation, metrics: Sequence[Metric], objective: Metric) -> Evaluation:
    """The evaluation in the form of a table's row. A value that is not finite makes an ok trial diverged. A value out
    of bounds, an unknown metric or a missing objective makes it failed. Only ok trials keep values."""
    evaluation = replace(
        evaluation, train_time_s=_time(evaluation.train_time_s), measured_time_s=_time(evaluation.measured_time_s)
    )
    return replace(_checked_values(evaluation, metrics, objective), measured_time_s=evaluation.measured_time_s)


def _time(seconds: float | None) -> float | None:
    """A time, None if it is not a finite number of seconds."""
    return seconds if seconds is not None and 0 <= seconds < math.inf else None


def _checked_values(evaluation: Evaluation, metrics: Sequence[Metric], objective: Metric) -> Evaluation:
    seconds = evaluation.train_time_s
    if evaluation.status is not Status.OK:
        return replace(evaluation, values={}, learning_curve=())
    by_key = {metric.key: metric for metric in metrics}
    values: dict[str, float] = {}
    for key, value in evaluation.values.items():
        if key not in by_key:
            return Evaluation.failed(f"the trainer has no metric {key!r}; {nearest(key, by_key)}", seconds)
        try:
            values[key] = float(value)
        except (TypeError, ValueError):
            return Evaluation.failed(f"{key} is a number, got {type(value).__name__}", seconds)
        if not math.isfinite(values[key]):
            return Evaluation(Status.DIVERGED, {}, seconds, f"{key} is {values[key]}")
        try:
            by_key[key].check(values[key])
        except InvalidMeasurement as error:
            return Evaluation.failed(str(error), seconds)
    if objective.key not in values:
        return Evaluation.failed(f"the trainer gave no {objective.key}", seconds)
    try:
        curve = tuple(_checked_point(point, objective) for point in evaluation.learning_curve)
    except (InvalidMeasurement, TypeError, ValueError) as error:
        return Evaluation.failed(f"the learning curve: {error}", seconds)
    return Evaluation(Status.OK, values, seconds, learning_curve=curve)


def _checked_point(point: float | None, objective: Metric) -> float | None:
    """A point of a learning curve within the bounds of its metric, None if it is not a finite number."""
    if point is None or not math.isfinite(point):
        return None
    objective.check(float(point))
    return float(point)


def observed(trial: Trial, evaluation: Evaluation, metrics: Sequence[Metric]) -> Observation:
    """The observation of a trial for a method: without test metrics, and without times, on which proposals must not
    depend."""
    values = {metric: evaluation.values[metric.key] for metric in metrics if metric.key in evaluation.values}
    return Observation(
        trial.architecture,
        {metric: value for metric, value in values.items() if metric.split != "test"},
        fidelity=trial.fidelity,
        seed=trial.seed,
        status=evaluation.status,
    )
