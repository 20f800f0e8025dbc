"""The tasks of a campaign: the check of its trainer, then trials."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from nasbed.core.errors import NasbedError, NotReady, exception_line
from nasbed.experiments.campaign.trainer import Trainer
from nasbed.experiments.campaign.trial import Evaluation, Trial


@dataclass(frozen=True, slots=True)
class CheckReady:
    """The first task of a campaign: whether the trainer can evaluate anything where its trials will run."""

    def run(self, trainer: Trainer) -> list[str]:
        """Notes of the check. Any error becomes a NotReady."""
        try:
            return trainer.check_ready()
        except NasbedError as error:
            raise NotReady(str(error)) from None
        except Exception as error:
            raise NotReady(f"the trainer cannot begin: {exception_line(error)}; fix it") from error


@dataclass(frozen=True, slots=True)
class TrialsTask:
    """Trials that are evaluated together. ``upcoming`` are those that the same worker probably gets next."""

    trials: tuple[Trial, ...]
    upcoming: tuple[Trial, ...] = ()

    def run(self, trainer: Trainer) -> list[Evaluation]:
        """One evaluation for each trial."""
        trainer.announce(self.upcoming)
        return trainer.evaluate(list(self.trials))


class TaskRunner:
    """A trainer as the function of an engine."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer

    def __call__(self, task: CheckReady | TrialsTask) -> list[str] | list[Evaluation]:
        """Notes of the check, or the evaluations of the trials."""
        return task.run(self._trainer)


def tasks_of_round(trials: Sequence[Trial], finished: Container[int], *, size: int, slots: int) -> Iterator[TrialsTask]:
    """The tasks of a round without the trials whose numbers are finished. With ``slots`` slots, the worker of a task
    probably gets the one that many places later."""
    unfinished = []
    for group in groups_of_round(trials, size):
        if remaining := tuple(trial for trial in group if trial.number not in finished):
            unfinished.append(remaining)
    for place, remaining in enumerate(unfinished):
        yield TrialsTask(remaining, unfinished[place + slots] if place + slots < len(unfinished) else ())


def groups_of_round(trials: Sequence[Trial], size: int) -> Iterator[list[Trial]]:
    """Trials that are evaluated together: of one fidelity, in their order. They depend on the round alone, so that a
    task whose results were lost is repeated as it was."""
    for fidelity in dict.fromkeys(trial.fidelity for trial in trials):
        of_fidelity = iter([trial for trial in trials if trial.fidelity == fidelity])
        while group := list(islice(of_fidelity, size)):
            yield group
