"""A trainer whose learning curves are known: no network, one formula."""

from __future__ import annotations

from collections.abc import Sequence

import nasbed
from nasbed.core.metric import Metric
from nasbed.experiments.campaign import Campaign, Evaluation, Grid, Trainer, Trial
from nasbed.spaces.nb201 import NB201

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
CELLS = [nasbed.Architecture("nb201", code) for code in ((1, 2, 3, 3, 2, 1), (3, 0, 1, 2, 4, 3), (0,) * 6)]
TEXTS = tuple(map(NB201().format, CELLS))
CAMPAIGN = Campaign("few", grid=Grid(TEXTS, seeds=(0, 1)))


def points(trial: Trial) -> tuple[float | None, ...]:
    """One value an epoch; the second one of a cell of nothing was no number."""
    rising = [10.0 * epoch + trial.seed + sum(trial.architecture.code) for epoch in range(trial.fidelity)]
    return tuple(
        None if epoch == 1 and not any(trial.architecture.code) else point for epoch, point in enumerate(rising)
    )


class CurveTrainer(Trainer):
    """Fails where a cell begins with a 3x3 convolution."""

    kind = "curved"

    def __init__(self, fidelities: tuple[int, ...] = (2, 4)) -> None:
        self.space, self.metrics, self.objective, self.fidelities = NB201(), (ACCURACY,), ACCURACY, fidelities

    def identity(self) -> dict[str, object]:
        return {"kind": self.kind}

    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        return [
            Evaluation.failed("no memory")
            if trial.architecture.code[0] == 3
            else Evaluation(values={ACCURACY.key: points(trial)[-1] or 0.0}, learning_curve=points(trial))
            for trial in trials
        ]
