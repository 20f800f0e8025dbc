"""Architectures that a method found against ones taken by chance from the same space and trained alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from nasbed.experiments.unseen.budget import RANDOM
from nasbed.experiments.unseen.results import Setting, UnseenResult

DIGITS = 4
"""Accuracies are rounded to so many: far below an image's worth, far above the last bits in which machines differ."""


@dataclass(frozen=True, slots=True)
class Compared:
    """``found`` are the test accuracies in per cent of a found architecture, one a training; ``by_chance`` those of the
    random ones, each the mean of its trainings. Without random ones there is nothing to compare with."""

    dataset: str
    model: str
    space: str
    search_seed: int
    search_epochs: int
    epochs: int
    found: tuple[float, ...]
    by_chance: tuple[float, ...]

    @property
    def mean(self) -> float:
        return round(fmean(self.found), DIGITS)

    @property
    def difference(self) -> float | None:
        """Points above the mean of the random ones."""
        return round(self.mean - fmean(self.by_chance), DIGITS) if self.by_chance else None

    @property
    def beaten(self) -> int:
        """The random ones below its mean."""
        return sum(value < self.mean for value in self.by_chance)

    @property
    def equalled(self) -> int:
        """The random ones that have its mean."""
        return self.by_chance.count(self.mean)


def compared(results: Sequence[UnseenResult]) -> list[Compared]:
    """Every found architecture that was trained, beside random ones of the same dataset, recipe, epochs and network. Of
    several ways to take by chance that with the most architectures counts. Diverged trainings are left out."""
    accuracies: dict[Setting, dict[int, dict[int, float]]] = {}
    about: dict[Setting, UnseenResult] = {}
    for each in results:
        if each.search and each.search_seed is not None and each.test_accuracy is not None:
            about.setdefault(each.setting, each)
            of = accuracies.setdefault(each.setting, {}).setdefault(each.search_seed, {})
            of[each.seed] = round(each.test_accuracy, DIGITS)
    found = []
    for setting, by_seed in accuracies.items():
        first = about[setting]
        space = str(first.search.get("space"))
        if first.model in RANDOM.values() or space not in RANDOM:
            continue
        others = [
            tuple(round(fmean(values.values()), DIGITS) for _, values in sorted(accuracies[other].items()))
            for other, one in about.items()
            if one.model == RANDOM[space] and one.training == first.training
        ]
        for search_seed, values in sorted(by_seed.items()):
            found.append(
                Compared(
                    dataset=first.dataset,
                    model=first.model,
                    space=space,
                    search_seed=search_seed,
                    search_epochs=first.search_epochs,
                    epochs=first.epochs,
                    found=tuple(value for _, value in sorted(values.items())),
                    by_chance=max(others, key=len, default=()),
                )
            )
    return found


def said(each: Compared, dataset: str) -> str:
    """One comparison in words."""
    runs = len(each.found)
    who = f"{dataset}, {each.model}, {_counted(each.search_epochs, 'epoch')} of search with seed {each.search_seed}"
    has = f"{spread(each.found)} % over {_counted(runs, 'training')} of {_counted(each.epochs, 'epoch')}"
    if each.difference is None:
        return f"{who}: {has}; no architecture by chance was trained alike: measure {RANDOM[each.space]}."
    count = len(each.by_chance)
    least, most = min(each.by_chance), max(each.by_chance)
    between = f", from {least:.2f} to {most:.2f}" if count > 1 else ""
    side = "above" if each.difference >= 0 else "below"
    equal = f" and equals {each.equalled}" if each.equalled else ""
    return (
        f"{who}: {has}; {_counted(count, 'architecture')} by chance: {spread(each.by_chance)} %{between}. It is "
        f"{abs(each.difference):.2f} points {side} {'their mean' if count > 1 else 'that'}; it beats {each.beaten} of "
        f"{count}{equal}{_luck(each)}."
    )


def _luck(each: Compared) -> str:
    """How likely one more random one would do as well: where none are equal, every rank of it is as likely as another.
    Nothing where that says nothing."""
    count = len(each.by_chance)
    if not each.beaten or each.equalled:
        return ""
    return f"; one more by chance would beat as many with a chance of {count - each.beaten + 1} in {count + 1}"


def summed_up(every: Sequence[Compared]) -> list[str]:
    """What all comparisons say together, which is little where they are few."""
    known = [each for each in every if each.by_chance]
    if not known:
        return []
    above = sum((each.difference or 0.0) > 0 for each in known)
    first = sum(each.beaten == len(each.by_chance) for each in known)
    by_luck = sum(1 / (len(each.by_chance) + 1) for each in known)
    are = "is" if above == 1 else "are"
    return [
        f"Of {_counted(len(known), 'found architecture')} {above} {are} above the mean of those by chance, and {first} "
        f"above all of them, where {by_luck:.1f} would be by luck alone. No difference was tested for significance."
    ]


def spread(values: Sequence[float]) -> str:
    """Mean, and standard deviation where there is one."""
    return f"{fmean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
