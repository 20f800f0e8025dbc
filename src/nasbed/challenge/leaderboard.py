"""Submissions in the order of their totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nasbed.challenge.contest_data import ContestData
from nasbed.challenge.results import SubmissionResult
from nasbed.challenge.scoring import WORST, score_of
from nasbed.challenge.zero import zero_of
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

    def result_on(self, dataset: str) -> SubmissionResult:
        """A result on a dataset; all have the same zero."""
        return next(standing.results[dataset] for standing in self.standings if dataset in standing.results)

    @property
    def failures(self) -> list[SubmissionResult]:
        return [result for standing in self.standings for result in standing.results.values() if result.failed]


def rescore(results: Sequence[SubmissionResult], datasets: Sequence[ContestData], zero: str) -> list[SubmissionResult]:
    """The results with scores by another kind of zero, from the datasets that they were run on, told by their bytes."""
    zeros = {data.sha256: zero_of(data, zero) for data in datasets}
    rescored = []
    for result in results:
        if result.data_sha256 not in zeros:
            raise InvalidOption(
                f"a score is computed anew with the dataset of the run, no folder has the bytes of {result.dataset} "
                f"that {result.submission} was run on; name it with --datasets"
            )
        new_zero = zeros[result.data_sha256]
        score = WORST if result.raw is None else score_of(result.raw, new_zero.accuracy)
        rescored.append(
            replace(result, benchmark=new_zero.accuracy, zero=new_zero.kind, zero_source=new_zero.source, score=score)
        )
    return rescored


def leaderboard(results: Sequence[SubmissionResult]) -> Leaderboard:
    """Rank submissions by the sum of their scores. Equal totals share a place, and the next place is skipped."""
    datasets = tuple(sorted({result.dataset for result in results}))
    for name in datasets:
        runs = [item for item in results if item.dataset == name]
        if len({item.labels_sha256 for item in runs}) > 1:
            raise InvalidOption(f"a dataset has one set of labels, the runs of {name} have several; omit some")
        if len({(item.benchmark, item.zero, item.zero_source) for item in runs}) > 1:
            raise InvalidOption(
                f"the scores of a dataset have one zero, the runs of {name} have several; name its folder with "
                "--datasets and choose a --zero for all"
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
    by_zero: dict[str, set[str]] = {}
    for item in results:
        by_zero.setdefault(item.zero, set()).add(item.dataset)
    if len(by_zero) > 1:
        kinds = "; ".join(f"{kind}: {', '.join(sorted(names))}" for kind, names in sorted(by_zero.items()))
        notes.append(f"a total adds scores with two kinds of zero, {kinds}")
    if "paper" in by_zero:
        notes.append(
            f"the zero of {', '.join(sorted(by_zero['paper']))} is the figure in the metadata, not measured on these "
            "bytes: 'nasbed challenge baseline' measures it"
        )
    for aspect, values in (
        ("limits", {str(sorted(item.limits.items())) for item in results}),
        ("total time", {str(item.total_time_s) for item in results}),
        ("disguise", {item.disguise for item in results}),
        ("device", {item.device for item in results}),
        ("isolation", {item.isolation for item in results}),
    ):
        if len(values) > 1:
            notes.append(f"not all had the same {aspect}: see each result.json")
    if any(item.isolation == "none" for item in results):
        notes.append("isolation: none for some runs, which could have read the test labels")
    return notes
