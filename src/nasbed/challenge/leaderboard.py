"""Submissions in the order of their totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nasbed.challenge.results import SubmissionResult
from nasbed.core.errors import InvalidOption

TIE = 1e-9
"""Totals that differ by less share a place."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A submission, its results by dataset, and its place; ``None`` where it was not run on every dataset."""

    submission: str
    results: Mapping[str, SubmissionResult]
    total: float
    place: int | None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All submissions, the best first; ``notes`` are warnings for comparing them."""

    datasets: tuple[str, ...]
    standings: tuple[Standing, ...]
    notes: tuple[str, ...]

    @property
    def failures(self) -> list[SubmissionResult]:
        return [result for standing in self.standings for result in standing.results.values() if result.failed]


def leaderboard(results: Sequence[SubmissionResult]) -> Leaderboard:
    """Rank submissions by the sum of their scores. Equal totals share a place, and the next place is skipped."""
    datasets = tuple(sorted({result.dataset for result in results}))
    for name in datasets:
        if len({(item.labels_sha256, item.benchmark) for item in results if item.dataset == name}) > 1:
            raise InvalidOption(
                f"a dataset has one set of labels and one benchmark, the runs of {name} have several; omit some"
            )
    by_name: dict[str, dict[str, SubmissionResult]] = {}
    for result in results:
        by_name.setdefault(result.submission, {})[result.dataset] = result
    totals = {name: sum(item.score for item in by_dataset.values()) for name, by_dataset in by_name.items()}
    complete = [totals[name] for name, by_dataset in by_name.items() if len(by_dataset) == len(datasets)]

    def place(name: str) -> int | None:
        if len(by_name[name]) < len(datasets):
            return None
        return 1 + sum(total > totals[name] + TIE for total in complete)

    standings = [
        Standing(name, {item: by_dataset[item] for item in datasets if item in by_dataset}, totals[name], place(name))
        for name, by_dataset in by_name.items()
    ]
    standings.sort(key=lambda item: (item.place is None, -item.total, item.submission))
    return Leaderboard(datasets, tuple(standings), tuple(_notes(results, standings)))


def _notes(results: Sequence[SubmissionResult], standings: Sequence[Standing]) -> list[str]:
    notes = [
        f"{item.submission} was not run on every dataset and has no place" for item in standings if item.place is None
    ]
    for aspect, values in (
        ("limits", {str(sorted(item.limits.items())) for item in results}),
        ("device", {item.device for item in results}),
        ("isolation", {item.isolation for item in results}),
    ):
        if len(values) > 1:
            notes.append(f"not all had the same {aspect}: see each result.json")
    if any(item.isolation == "none" for item in results):
        notes.append("isolation: none for some runs, which could have read the test labels")
    return notes
