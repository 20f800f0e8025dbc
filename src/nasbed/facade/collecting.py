"""``nasbed.collect``: evaluate many architectures, and keep every result as a table."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from nasbed.core.errors import InvalidOption
from nasbed.experiments import campaign as campaigns
from nasbed.experiments.campaign import Campaign, CampaignProgress, Trainer, export_journals, trainer_of
from nasbed.facade.arguments import engine_of
from nasbed.results import Results
from nasbed.terminal.progress import count_bar, note


def collect(
    campaign: Campaign | str | Path,
    trainer: Trainer | None = None,
    *,
    out: str | Path,
    journal: str | Path | None = None,
    processes: int | None = None,
    accept_changes: bool = False,
    progress: bool = True,
) -> Results:
    """Carry out a campaign and write its results as a table, as ``nasbed collect`` and its ``export`` do.

    Every result is in the journal before it counts: call again after an interruption, and the campaign resumes.

    Args:
        campaign: what to evaluate: a :class:`~nasbed.experiments.campaign.Campaign`, or the path of its file.
        trainer: what evaluates it, such as a :class:`~nasbed.experiments.campaign.FunctionTrainer`. Without one, the
            campaign's file describes it.
        out: the folder of the table.
        journal: the file of the results so far; by default next to the table, with the suffix ``.sqlite``.
        processes: how many trials run at once. By default one after the other, in this process unless the trainer has a
            timeout.
        accept_changes: whether to continue although the code of your function, space or method has changed.
        progress: whether a notebook or a terminal shows a progress bar.
    """
    planned = campaign if isinstance(campaign, Campaign) else Campaign.read(campaign)
    evaluator = trainer_of(planned) if trainer is None else trainer
    log = Path(f"{out}.sqlite") if journal is None else Path(journal)
    engine = None if processes is None else engine_of(processes)
    with ExitStack() as stack:
        report = stack.enter_context(count_bar(planned.name)) if progress else None

        def on_progress(state: CampaignProgress) -> None:
            if report is not None:
                report(state.done, state.total)

        status = campaigns.collect(
            planned,
            evaluator,
            log,
            engine=engine,
            progress=on_progress,
            on_note=note,
            accept_changes=accept_changes,
        )
    if status.all_failed:
        reason = next(iter(status.reasons), "no reason given")
        raise InvalidOption(f"all {status.done} trials failed: {reason}; fix the trainer, then name another journal")
    return export_journals([log], out, space=evaluator.space)
