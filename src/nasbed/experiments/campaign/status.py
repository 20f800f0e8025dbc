"""The status of a campaign from its journal, also while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from nasbed.core.metric import Metric
from nasbed.core.status import Status
from nasbed.experiments.campaign.facts import metrics_of, space_of_journal
from nasbed.experiments.campaign.growth import raised_numbers
from nasbed.experiments.campaign.journal import FORMER_CAMPAIGNS, Journal
from nasbed.experiments.campaign.plan import RealSearches
from nasbed.experiments.campaign.provenance import maker_notes

RECENT = 200
"""The number of latest results that give the rate."""
GAP_US = 600e6
"""The longest gap in seconds between two results that counts. In a longer gap the campaign was probably not running, so
only this much counts."""


@dataclass(frozen=True, slots=True)
class CampaignStatus:
    """The content of a journal in numbers. ``planned`` includes future trials; an exhausted space has fewer."""

    name: str
    path: Path
    space: str
    planned: int
    proposed: int
    rounds: int
    by_status: Mapping[str, int]
    by_method: Mapping[str, int]
    objective: Metric
    best: float | None
    best_architecture: str
    per_hour: float | None
    last_us: int | None
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why trials failed or diverged, the most frequent first."""
    notes: tuple[str, ...] = ()
    by_version: Mapping[str, int] = field(default_factory=dict)
    """How many results each version of nasbed made; an empty one where that was not recorded."""

    @property
    def done(self) -> int:
        return sum(self.by_status.values())

    @property
    def complete(self) -> bool:
        """Whether all planned trials have ended."""
        return self.done >= self.planned

    @property
    def all_failed(self) -> bool:
        """Whether trials have ended and every one failed."""
        return 0 < self.done == self.by_status[Status.FAILED.value]

    @property
    def eta_s(self) -> float | None:
        """Seconds to go at the rate of the latest results."""
        return (self.planned - self.done) / self.per_hour * 3600 if self.per_hour else None


def campaign_status(path: Path | str) -> CampaignStatus:
    """The status of the campaign in a journal."""
    with Journal.reading(Path(path)) as journal:
        return status_of(journal)


def status_of(journal: Journal) -> CampaignStatus:
    """The same of an open journal."""
    facts = journal.facts()
    objective = next(metric for metric in metrics_of(facts) if metric.key == facts["objective"])
    top = facts["fidelities"][-1]
    by_status, by_method, reasons = Counter[str](), Counter[str](), Counter[str]()
    best: tuple[float, Any] | None = None
    times = []
    for finished in journal.finished():
        evaluation = finished.evaluation
        by_status[evaluation.status.value] += 1
        by_method[finished.trial.method] += 1
        times.append(finished.ended_us)
        if evaluation.status is not Status.OK:
            reasons[evaluation.reason or "no reason given"] += 1
        elif finished.trial.fidelity == top:
            value = evaluation.values[objective.key]
            if best is None or objective.better(value, best[0]):
                best = value, finished.trial.architecture
    proposed, _ = journal.counts()
    makers = [maker for maker in journal.makers() if maker.results]
    versions = dict.fromkeys(maker.version for maker in makers)
    text = ""
    if best is not None:
        space = space_of_journal(facts)
        text = str(best[1].code) if space is None else space.format(best[1])
    return CampaignStatus(
        name=facts["campaign"]["name"],
        path=journal.path,
        space=facts["space"],
        planned=_planned_count(facts, proposed, journal.rounds()),
        proposed=proposed,
        rounds=journal.rounds(),
        by_status={status.value: by_status[status.value] for status in Status},
        by_method=dict(by_method),
        objective=objective,
        best=None if best is None else best[0],
        best_architecture=text,
        per_hour=_per_hour(sorted(times)),
        last_us=max(times, default=None),
        reasons=dict(reasons.most_common()),
        notes=(*maker_notes(makers), *journal.notes()),
        by_version={
            version: sum(maker.results for maker in makers if maker.version == version) for version in versions
        },
    )


def _planned_count(facts: Mapping[str, Any], proposed: int, rounds: int) -> int:
    """The number of proposed trials and of those that later rounds would add. A grid and trajectories are proposed
    first, as a whole."""
    stages: list[Mapping[str, Any]] = [*facts.get(FORMER_CAMPAIGNS, []), facts["campaign"]]
    campaign = stages[0]
    searched = campaign.get("trajectories")
    first_rounds = (campaign["grid"] is not None) + (searched is not None)
    sizes = _round_sizes(campaign)
    for former, stage in pairwise(stages):
        sizes += _added_sizes(former, stage)
    remaining = sum(sizes[max(rounds - first_rounds, 0) :])
    if searched is not None and rounds < first_rounds:
        remaining += searched["architectures"]
    return int(proposed + remaining)


def _round_sizes(campaign: Mapping[str, Any]) -> list[int]:
    """The trials of each round after those of a grid and of trajectories."""
    size, trials = campaign["round"], campaign["trials"]
    sizes = [min(size, trials - start) for start in range(0, trials, size)]
    if (searches := campaign.get("searches")) is not None:
        planned = RealSearches(**searches)
        sizes += [len(planned.names) * batch for batch in planned.batches]
    if (repeats := campaign["repeats"]) is not None:
        sizes.append(repeats["architectures"] * (repeats["seeds"] - 1))
    return sizes


def _added_sizes(former: Mapping[str, Any], stage: Mapping[str, Any]) -> list[int]:
    """The trials of each round that raised numbers add."""
    raised = raised_numbers(former, stage)
    added = {**stage, "trials": stage["trials"] - former["trials"], "repeats": None}
    if stage.get("searches") is not None:
        further = stage["searches"]["evaluations"] - former["searches"]["evaluations"]
        added["searches"] = {**stage["searches"], "evaluations": further} if further else None
    sizes = _round_sizes(added)
    if "[grid] seeds" in raised:
        sizes = [0, *sizes]  # proposed as a whole, at once
    if any(name.startswith("[repeats]") for name in raised):
        counts = [part["architectures"] * (part["seeds"] - 1) for part in (former["repeats"], stage["repeats"])]
        sizes.append(counts[1] - counts[0])
    return sizes


def _per_hour(times_us: list[int]) -> float | None:
    recent = times_us[-RECENT - 1 :]
    if len(recent) < 2:
        return None
    elapsed_us = sum(min(after - before, GAP_US) for before, after in pairwise(recent))
    return (len(recent) - 1) / (elapsed_us / 3.6e9) if elapsed_us > 0 else None
