"""Running a campaign: an engine evaluates rounds of trials, and the journal stores the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from nasbed.core.errors import InvalidOption, NotReady
from nasbed.core.execution import WAIT, Engine, LocalEngine, SerialEngine, TaskOutcome
from nasbed.core.former_names import FormerAttribute
from nasbed.core.metric import Metric
from nasbed.core.status import Status
from nasbed.experiments.campaign.facts import campaign_code, facts_of, metrics_of
from nasbed.experiments.campaign.journal import Journal
from nasbed.experiments.campaign.plan import Campaign
from nasbed.experiments.campaign.proposals import Rounds
from nasbed.experiments.campaign.status import CampaignStatus, status_of
from nasbed.experiments.campaign.tasks import CheckReady, TaskRunner, tasks_of_round
from nasbed.experiments.campaign.trainer import Trainer
from nasbed.experiments.campaign.trial import Evaluation, Trial, checked

FAILED_IN_A_ROW = 100
"""After this many failures in a row, the trainer is at fault, not the architectures."""


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """The progress of a campaign after each task. Of ``total`` trials, ``done`` have ended, ``new`` of them since it
    was started or resumed ``seconds`` ago. ``best`` is the incumbent at the highest fidelity."""

    done: int
    total: int
    diverged: int
    failed: int
    best: float | None
    new: int
    seconds: float
    latest: tuple[tuple[Trial, Evaluation], ...] = ()
    """The trials of the task that ended just now."""

    @property
    def rate(self) -> float:
        """Trials a second since the start."""
        return self.new / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta_s(self) -> float | None:
        """Seconds to go at that rate."""
        return (self.total - self.done) / self.rate if self.rate else None

    ended = FormerAttribute("latest", until="0.3")


OnProgress = Callable[[CampaignProgress], None]


def collect(
    campaign: Campaign,
    trainer: Trainer,
    journal: Path | str,
    *,
    engine: Engine | None = None,
    progress: OnProgress | None = None,
    on_note: Callable[[str], None] | None = None,
    accept_changes: bool = False,
) -> CampaignStatus:
    """Carry out a campaign. An existing journal is resumed. Its numbers may have been raised since
    (:mod:`nasbed.experiments.campaign.growth`).

    First the trainer is checked where its trials will run. If it can evaluate nothing there, this raises
    :class:`~nasbed.core.errors.NotReady` and writes nothing. Other messages of the check go to ``on_note``.

    Each round is in the journal before any of its trials runs, and each result before it counts. Which trials there are
    depends on the campaign and its results alone, so a campaign that was killed ends with the same trials; none is
    evaluated twice. A trial that raises, dies twice or exceeds the trainer's timeout has failed, and the campaign
    continues. A hundred failures in a row stop it, since the trainer is probably at fault. So does a first task that
    the trainer refuses as a whole; none of it is recorded.

    Each result records the version of nasbed and the user's code that made it. A journal whose results were made by
    another content of that code is refused, unless ``accept_changes``: then it holds both kinds of results, and its
    status and its table say so. Another version of nasbed alone is recorded and reported.

    Without an engine, trials run one after the other: in this process or, where the trainer has a timeout, in another
    that can be stopped.

    Args:
        campaign: what to evaluate.
        trainer: what evaluates it.
        journal: the file of the results.
        engine: where trials run.
        progress: called after each task.
        on_note: called with each note of the trainer's check, one line each.
        accept_changes: whether to continue although the user's code has changed.
    """
    trainer.check()
    _check_space(campaign, trainer)
    campaign = replace(campaign, round=campaign.round or trainer.usual_round)
    facts = facts_of(campaign, trainer)
    runner = engine or _usual_engine(trainer)
    collection: _Collection | None = None

    def tasks() -> Iterator[Any]:
        yield CheckReady()
        while collection is None:
            yield WAIT
        yield from collection.tasks(runner.slots)

    outcomes = runner.map_unordered(TaskRunner(trainer), tasks(), timeout_s=trainer.timeout_s)
    try:
        with _closing(outcomes):
            _report_check(next(outcomes), on_note)
            code = campaign_code(campaign, trainer)
            writing = Journal.writing(Path(journal), facts, code=code, accept_changes=accept_changes)
            with writing as log, _closing(outcomes):
                if on_note is not None and log.raised:
                    on_note(f"extended: {', '.join(f'{n} {old} → {new}' for n, (old, new) in log.raised.items())}")
                collection = _Collection(campaign, trainer, log, progress)
                collection.run(outcomes)
                return status_of(log)
    finally:
        trainer.close()


@contextmanager
def _closing(outcomes: Iterator[TaskOutcome]) -> Iterator[None]:
    """Ends the processes of an engine on the way out, before the journal is closed."""
    try:
        yield
    finally:
        close = getattr(outcomes, "close", None)
        if close is not None:
            close()


def _report_check(outcome: TaskOutcome, on_note: Callable[[str], None] | None) -> None:
    """Raise if the trainer is not ready. A check that was cut short, by a timeout or a dead process, says nothing."""
    if outcome.refusal:
        raise NotReady(outcome.refusal)
    if on_note is not None and not outcome.error:
        for line in outcome.result:
            on_note(line)


def _check_space(campaign: Campaign, trainer: Trainer) -> None:
    if campaign.space and ":" not in campaign.space and campaign.space != trainer.space.name:
        raise InvalidOption(f"the campaign is of the space {campaign.space}, the trainer of {trainer.space.name}")


def _usual_engine(trainer: Trainer) -> Engine:
    return SerialEngine() if trainer.timeout_s is None else LocalEngine(1)


class _Collection:
    """The trials that are out, and the tally."""

    def __init__(self, campaign: Campaign, trainer: Trainer, journal: Journal, progress: OnProgress | None) -> None:
        self._trainer, self._journal, self._progress = trainer, journal, progress
        self._rounds = Rounds(campaign, trainer, journal)
        self._journal_metrics = {metric.key for metric in metrics_of(journal.facts())}
        self._submitted: list[tuple[Trial, ...]] = [()]  # by the number of their task, of which the first is the check
        self._open: set[int] = set()
        self._tally = _Tally(trainer.objective, trainer.fidelities[-1])
        self._in_a_row = 0
        self._trainer_works = False

    def run(self, outcomes: Iterator[TaskOutcome]) -> None:
        """Record outcomes until there are no more."""
        for finished in self._journal.finished():
            self._tally.add(finished.trial, finished.evaluation)
        self._initial_count, self._start = self._tally.done, monotonic()
        self._planned_count = self._rounds.most
        for outcome in outcomes:
            self._end(outcome)

    def tasks(self, slots: int) -> Iterator[Any]:
        """The tasks of all rounds, for an engine with ``slots`` slots."""
        proposed = 0
        for trials in self._rounds.proposed():
            proposed += len(trials)
            finished_numbers = (
                {row.trial.number for row in self._journal.finished(trials[0].round)} if trials else set()
            )
            self._open = {trial.number for trial in trials} - finished_numbers
            for task in tasks_of_round(trials, finished_numbers, size=self._trainer.trials_per_task, slots=slots):
                self._submitted.append(task.trials)
                yield task
            while self._open:
                yield WAIT
        self._planned_count = proposed

    def _end(self, outcome: TaskOutcome) -> None:
        if outcome.refusal and not self._trainer_works:
            raise NotReady(
                f"{outcome.refusal}; its trials were not recorded: fix this, then resume {self._journal.path} or "
                "start again"
            )
        trials = self._submitted[outcome.task]
        results = list(zip(trials, self._evaluations(outcome, len(trials)), strict=True))
        self._journal.end(results)
        for trial, evaluation in results:
            self._open.discard(trial.number)
            self._tally.add(trial, evaluation)
            self._in_a_row = self._in_a_row + 1 if evaluation.status is Status.FAILED else 0
            self._trainer_works |= evaluation.status is not Status.FAILED
        if self._progress is not None:
            tally, seconds = self._tally, monotonic() - self._start
            self._progress(
                CampaignProgress(
                    tally.done,
                    self._planned_count,
                    tally.diverged,
                    tally.failed,
                    tally.best,
                    tally.done - self._initial_count,
                    seconds,
                    tuple(results),
                )
            )

        if self._in_a_row >= FAILED_IN_A_ROW:
            raise InvalidOption(
                f"{self._in_a_row} trials in a row failed, the last because of this: {results[-1][1].reason}; fix "
                f"the trainer, then resume {self._journal.path} or start again"
            )

    def _evaluations(self, outcome: TaskOutcome, count: int) -> list[Evaluation]:
        if outcome.error:
            return [Evaluation.failed(outcome.error)] * count
        evaluations = outcome.result
        if not isinstance(evaluations, list) or len(evaluations) != count:
            actual = len(evaluations) if isinstance(evaluations, list) else type(evaluations).__name__
            return [Evaluation.failed(f"a trainer gives {count} evaluations for {count} trials, got {actual}")] * count
        return [
            self._with_journal_metrics(checked(evaluation, self._trainer.metrics, self._trainer.objective))
            if isinstance(evaluation, Evaluation)
            else Evaluation.failed(f"a trainer gives evaluations, got {type(evaluation).__name__}")
            for evaluation in evaluations
        ]

    def _with_journal_metrics(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with the metrics that the journal was created with, so that all of its rows have the same: a
        newer trainer may measure more."""
        values = {key: value for key, value in evaluation.values.items() if key in self._journal_metrics}
        return replace(evaluation, values=values)


class _Tally:
    """Counts, and the best of the highest fidelity."""

    def __init__(self, objective: Metric, top: int) -> None:
        self._objective, self._top = objective, top
        self.done = self.diverged = self.failed = 0
        self.best: float | None = None

    def add(self, trial: Trial, evaluation: Evaluation) -> None:
        self.done += 1
        self.diverged += evaluation.status is Status.DIVERGED
        self.failed += evaluation.status is Status.FAILED
        value = evaluation.values.get(self._objective.key)
        if value is not None and trial.fidelity == self._top and evaluation.status is Status.OK:
            self.best = value if self.best is None or self._objective.better(value, self.best) else self.best
