"""Training times by a calibration, for results of populations that were collected before."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.experiments.campaign.journal import FinishedTrial
from nasbed.spaces.base import SearchSpace

if TYPE_CHECKING:
    from nasbed.training.population import CostCalibration
    from nasbed.training.recipe import Recipe

MEASURED_TIME = Metric("measured_time_s", direction="minimize", unit="s", bounds=(0, math.inf))
"""A network's share of the measured time of its population, beside a ``train_time_s`` that a calibration gives."""


class Retiming:
    """Gives finished trials of a campaign the times of a calibration, and keeps the measured ones.

    Args:
        file: the calibration.
        facts: those of the campaign's journal.
        space: that of its architectures.
    """

    def __init__(self, file: Path | str, facts: Mapping[str, Any], space: SearchSpace) -> None:
        from nasbed.training.population import CostCalibration
        from nasbed.training.population.calibration import CostSetting

        self.calibration: CostCalibration = CostCalibration.load(file)
        self._file, self._costs = file, dict[Architecture, float]()
        self._recipe = population_recipe(facts)
        setting = self.calibration.setting
        shape = setting.channels, *setting.side
        self.calibration.check_setting(CostSetting.of(space.name, self._recipe, classes=setting.classes, shape=shape))
        dataset = self.calibration.dataset
        if dataset and dataset != facts["dataset"]:
            raise InvalidOption(
                f"the calibration {file} is for {dataset}, the journal has {facts['dataset']}; make another: nasbed "
                "collect calibrate"
            )

    @property
    def note(self) -> str:
        """What the times of a table mean, for its manifest."""
        calibration = self.calibration
        company = "alone" if calibration.population == 1 else f"in populations of {calibration.population}"
        return (
            f"train_time_s is what a network costs on {calibration.device} {company}, by the calibration "
            f"{calibration.sha256[:12]}; {MEASURED_TIME.key} is its share of the measured time of its population"
        )

    def __call__(self, finished: FinishedTrial) -> FinishedTrial:
        """The trial with its cost as ``train_time_s``."""
        evaluation, trial = finished.evaluation, finished.trial
        measured = evaluation.train_time_s if evaluation.measured_time_s is None else evaluation.measured_time_s
        seconds = self.calibration.steps(self._recipe, trial.fidelity) * self._cost(trial.architecture)
        return replace(finished, evaluation=replace(evaluation, train_time_s=seconds, measured_time_s=measured))

    def _cost(self, architecture: Architecture) -> float:
        from nasbed.training.population.preparing import PreparationTarget, target_program

        if architecture not in self._costs:
            setting = self.calibration.setting
            kernels = self.calibration.lanes is not None
            target = PreparationTarget(self._recipe, setting.classes, setting.channels, setting.side, kernels)
            (work,) = self.calibration.works([target_program(architecture, target)])
            if unmeasured := self.calibration.unmeasured(work):
                raise InvalidOption(
                    f"the calibration {self._file} lacks {len(unmeasured)} kinds of launches of a network of the "
                    f"journal, such as {unmeasured[0]}; make one from the journal: nasbed collect calibrate JOURNAL"
                )
            self._costs[architecture] = self.calibration.cost(work)
        return self._costs[architecture]


def population_recipe(facts: Mapping[str, Any]) -> Recipe:
    """The recipe of a journal whose networks were trained as populations."""
    from nasbed.training.recipe import Recipe

    trainer = facts["trainer"]
    if trainer.get("kind") != "population":
        raise InvalidOption(
            f"a calibration is for networks that are trained as populations, the journal's trainer is of the kind "
            f"{trainer.get('kind')}; omit it"
        )
    return Recipe(**trainer["recipe"])
