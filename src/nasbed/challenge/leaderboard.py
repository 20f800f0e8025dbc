"""Submissions in the order of their totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nasbed.challenge.results import Result
from nasbed.core.errors import InvalidOption

TIE = 1e-9
"""Totals that differ by less share a place."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A submission, its results by dataset, and its place; ``None`` where it was not run on every dataset."""

    submission: str
    results: Mapping[str, Result]
    total: float
    place: int | None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All submissions, the best first; ``notes`` are what a reader has to know before comparing them."""

    datasets: tuple[str, ...]
    standings: tuple[Standing, ...]
    notes: tuple[str, ...]

    @property
    def failures(self) -> list[Result]:
        return [result for each in self.standings for result in each.results.values() if result.failed]


def leaderboard(results: Sequence[Result]) -> Leaderboard:
    """Add up the scores. Those with the same total share a place, the next one is left out."""
    datasets = tuple(sorted({result.dataset for result in results}))
    for name in datasets:
        if len({(each.labels_sha256, each.benchmark) for each in results if each.dataset == name}) > 1:
            raise InvalidOption(
                f"a dataset has one set of labels and one benchmark, the runs of {name} have several; leave some out"
            )
    by_name: dict[str, dict[str, Result]] = {}
    for result in results:
        by_name.setdefault(result.submission, {})[result.dataset] = result
    totals = {name: sum(each.score for each in found.values()) for name, found in by_name.items()}
    whole = [totals[name] for name, found in by_name.items() if len(found) == len(datasets)]

    def place(name: str) -> int | None:
        if len(by_name[name]) < len(datasets):
            return None
        return 1 + sum(total > totals[name] + TIE for total in whole)

    standings = [
        Standing(name, {each: found[each] for each in datasets if each in found}, totals[name], place(name))
        for name, found in by_name.items()
    ]
    standings.sort(key=lambda each: (each.place is None, -each.total, each.submission))
    return Leaderboard(datasets, tuple(standings), tuple(_notes(results, standings)))


def _notes(results: Sequence[Result], standings: Sequence[Standing]) -> list[str]:
    notes = [
        f"{each.submission} was not run on every dataset and has no place" for each in standings if each.place is None
    ]
    for what, values in (
        ("limits", {str(sorted(each.limits.items())) for each in results}),
        ("device", {each.device for each in results}),
        ("isolation", {each.isolation for each in results}),
    ):
        if len(values) > 1:
            notes.append(f"not all had the same {what}: see each result.json")
    if any(each.isolation == "none" for each in results):
        notes.append("isolation: none for some runs, which could have read the test labels")
    return notes
