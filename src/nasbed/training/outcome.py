"""Trainings and their outcomes, alone or in a population."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.core.status import Status

VALIDATION_ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
TEST_ACCURACY = Metric("accuracy", split="test", unit="%", bounds=(0, 100))
TRAIN_LOSS = Metric("loss", split="train", direction="minimize", unit="nat", bounds=(0, float("inf")))
TRAIN_ACCURACY = Metric("accuracy", split="train", unit="%", bounds=(0, 100))
METRICS = (VALIDATION_ACCURACY, TEST_ACCURACY, TRAIN_LOSS, TRAIN_ACCURACY)


@dataclass(frozen=True, slots=True)
class Job:
    """One training: an architecture, how long, and the seed of its weights, data order and augmentation."""

    architecture: Architecture
    epochs: int
    seed: int


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """The figures of a finished training, accuracies in per cent; a diverged one has only its time and, if it
    was trained alone, its curve until then.

    ``train_loss`` is the mean over the last epoch's batches, in nats, as it was trained on. ``train_accuracy`` is the
    share of the last epoch's training images that were classified correctly during training. The images are augmented,
    and the network is in training mode, before the step that used them. With MixUp an image counts as the label with
    the larger share. ``validation_curve`` has the validation accuracy after each epoch where a learning curve was asked
    for, None where an output of the network was not finite. ``train_time_s`` excludes evaluation. Where a calibration
    gave it, ``measured_time_s`` is the network's share of its population's measured time.
    """

    status: Status
    train_time_s: float
    validation_accuracy: float | None = None
    test_accuracy: float | None = None
    train_loss: float | None = None
    train_accuracy: float | None = None
    reason: str = ""
    validation_curve: tuple[float | None, ...] | None = None
    measured_time_s: float | None = None

    @classmethod
    def measured(
        cls,
        train_time_s: float,
        *,
        validation: float | None,
        test: float | None,
        train_loss: float,
        train_accuracy: float | None,
        curve: Sequence[float | None] | None = None,
    ) -> TrainingOutcome:
        """The outcome of a training that ended with a finite loss: ok, or diverged where an accuracy is NaN.

        Args:
            train_time_s: Without evaluation.
            validation: Accuracy in per cent; NaN where an output is not finite, None without images.
            test: The same on the test images.
            train_loss: Mean over the last epoch's batches, in nats.
            train_accuracy: On the last epoch's batches, in per cent.
            curve: The validation accuracy after each epoch, where a learning curve was asked for.
        """
        if any(value is not None and math.isnan(value) for value in (validation, test)):
            reason = "an output of the trained network is not a finite number"
            return cls.diverged(train_time_s, reason, curve=curve)
        points = _finite_points(curve)
        return cls(Status.OK, train_time_s, validation, test, train_loss, train_accuracy, validation_curve=points)

    @classmethod
    def diverged(
        cls, train_time_s: float, reason: str, *, curve: Sequence[float | None] | None = None
    ) -> TrainingOutcome:
        """The outcome of a training whose numbers left the finite, and its learning curve until then."""
        return cls(Status.DIVERGED, train_time_s, reason=reason, validation_curve=_finite_points(curve))

    def values(self) -> dict[Metric, float]:
        """What was measured, by metric."""
        by_metric = {
            VALIDATION_ACCURACY: self.validation_accuracy,
            TEST_ACCURACY: self.test_accuracy,
            TRAIN_LOSS: self.train_loss,
            TRAIN_ACCURACY: self.train_accuracy,
        }
        return {metric: value for metric, value in by_metric.items() if value is not None}


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """The report of a training after each epoch: completed and total epochs, the mean loss of this epoch, the learning
    rate of its last step, the seconds trained so far, and where a learning curve is measured, the validation accuracy
    in per cent."""

    done: int
    epochs: int
    loss: float
    learning_rate: float
    train_time_s: float
    validation_accuracy: float | None = None


def _finite_points(curve: Sequence[float | None] | None) -> tuple[float | None, ...] | None:
    return None if curve is None else tuple(None if math.isnan(point or 0) else point for point in curve)
