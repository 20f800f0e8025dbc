"""The trainers of campaigns, which evaluate trials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.experiments.campaign.plan import Campaign
from nasbed.experiments.campaign.provenance import CodeVersion
from nasbed.experiments.campaign.trial import Evaluation, Trial
from nasbed.spaces.base import SearchSpace

USUAL_ROUND = 32
"""The default number of trials per round: a few for each worker of one machine."""


class Trainer(ABC):
    """Evaluates architectures. It is pickled to each worker process once and keeps its state there, such as loaded
    data.

    ``objective`` is the metric of ``metrics`` that methods optimise, never one of the test split. ``fidelities`` rise.
    A task is up to ``trials_per_task`` trials of one fidelity, evaluated together and ended after ``timeout_s``.
    """

    kind: ClassVar[str]
    space: SearchSpace
    metrics: tuple[Metric, ...]
    objective: Metric
    fidelities: tuple[int, ...]
    trials_per_task: int = 1
    timeout_s: float | None = None
    usual_workers: int | None = 1
    """The default number of local processes; ``None`` is one per core."""
    fidelity_unit: str = "epochs"
    dataset: str = ""
    recipe_name: str = ""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything that determines the results, as plain values; the journal stores it and compares it on resume."""

    def code(self) -> dict[str, CodeVersion]:
        """The user's code that determines the results, by name. nasbed's own code has a version instead."""
        versions = {}
        for name, item in ((f"trainer {type(self).__qualname__}", self), (f"space {self.space.name}", self.space)):
            fingerprint = object_fingerprint(item)
            if fingerprint:
                versions[name] = CodeVersion(fingerprint)
        return versions

    @abstractmethod
    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        """One evaluation for each trial. What it raises makes all of them failed; a
        :class:`~nasbed.core.errors.NotReady` before any trial of a run has succeeded stops the campaign instead."""

    def check_ready(self) -> list[str]:
        """Raise a NasbedError if no architecture can be evaluated on this machine; otherwise return notes for the user,
        one line each. A campaign calls it before its first trial, on the machine of the trials."""
        return []

    def announce(self, trials: Sequence[Trial]) -> None:  # noqa: B027
        """Announce the trials that probably follow those that are evaluated next; none if unknown. A trainer may
        prepare for them meanwhile. Results do not depend on it."""

    def close(self) -> None:  # noqa: B027
        """End what runs in the background. A later evaluation may start it again."""

    @property
    def usual_round(self) -> int:
        return self.trials_per_task if self.trials_per_task > 1 else USUAL_ROUND

    def check(self) -> None:
        """Raise if the trainer is not valid for a campaign."""
        if self.objective not in self.metrics or self.objective.split == "test":
            raise InvalidOption(
                f"the objective is a metric of the trainer, not of the test split, got {self.objective.key}"
            )
        if not self.fidelities or list(self.fidelities) != sorted(set(self.fidelities)):
            raise InvalidOption(f"the fidelities of a trainer rise, got {self.fidelities}")
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise InvalidOption(f"a timeout is a number of seconds above 0, got {self.timeout_s}")
        if self.trials_per_task < 1:
            raise InvalidOption(f"a task has at least one trial, got {self.trials_per_task}")


def trainer_of(campaign: Campaign) -> Trainer:
    """The trainer that a campaign's file describes."""
    from nasbed.experiments.campaign.function_trainer import FunctionTrainer
    from nasbed.experiments.campaign.network_trainers import NetworkTrainer, PopulationTrainer

    settings = dict(campaign.trainer)
    kind = settings.pop("kind", None)
    for trainer in (FunctionTrainer, NetworkTrainer, PopulationTrainer):
        if kind == trainer.kind:
            return trainer.of_file(campaign.space, settings, campaign.folder)
    raise InvalidOption(f"[trainer] kind is training, population or function, got {kind!r}; choose one")


def check_keys(kind: str, settings: Mapping[str, Any], needed: Sequence[str], optional: Sequence[str]) -> None:
    """Raise unless the table of a trainer has the keys that its kind needs, and no others than it knows."""
    for name in needed:
        if name not in settings:
            raise InvalidOption(f"[trainer] of kind {kind} has {' and '.join(needed)}, got no {name}; add it")
    for name in settings:
        if name not in (*needed, *optional):
            raise InvalidOption(
                f"[trainer] of kind {kind} has no key {name!r}; it has {', '.join((*needed, *optional))}"
            )
