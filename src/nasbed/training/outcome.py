"""What is trained and what came of it, whichever way it is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric

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
class Trained:
    """The figures of a finished training, accuracies in per cent; of a diverged one there are none but its time.

    ``train_loss`` is the mean over the last epoch's batches, in nats, as it was trained on. ``train_accuracy`` is the
    share of the last epoch's training images that were classified correctly while they were trained on: augmented, by
    the network in training mode, before the step that used them. With MixUp an image counts as the label with the
    larger share. ``train_time_s`` excludes evaluation.
    """

    status: Literal["ok", "diverged"]
    train_time_s: float
    validation_accuracy: float | None = None
    test_accuracy: float | None = None
    train_loss: float | None = None
    train_accuracy: float | None = None
    reason: str = ""

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
    """What a training tells after each epoch: how many of how many are done, the mean loss of this one, the learning
    rate of its last step, the seconds trained so far."""

    done: int
    epochs: int
    loss: float
    learning_rate: float
    train_time_s: float
