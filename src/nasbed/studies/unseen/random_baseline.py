"""Architectures that a method found, compared with random ones from the same space that were trained alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from nasbed.drawing.number_texts import count_text
from nasbed.experiments.unseen.budget import random_method
from nasbed.experiments.unseen.results import Setting, UnseenResult

DIGITS = 4
"""Digits of accuracies: far below one image's worth, far above the last bits in which machines differ."""


@dataclass(frozen=True, slots=True)
class ChanceComparison:
    """A found architecture and random ones. ``accuracies`` are its test accuracies in per cent, one per training;
    ``by_chance`` has the mean over trainings per random architecture, and is empty where none was trained."""

    dataset: str
    model: str
    space: str
    search_seed: int
    search_epochs: int
    epochs: int
    accuracies: tuple[float, ...]
    by_chance: tuple[float, ...]

    @property
    def mean(self) -> float:
        return round(fmean(self.accuracies), DIGITS)

    @property
    def difference(self) -> float | None:
        """Points above the mean of the random architectures."""
        return round(self.mean - fmean(self.by_chance), DIGITS) if self.by_chance else None

    @property
    def beaten(self) -> int:
        """How many random architectures are below its mean."""
        return sum(value < self.mean for value in self.by_chance)

    @property
    def equalled(self) -> int:
        """How many random architectures have its mean."""
        return self.by_chance.count(self.mean)


def chance_comparisons(results: Sequence[UnseenResult]) -> list[ChanceComparison]:
    """Every found architecture that was trained, with random ones of the same dataset, recipe, epochs and network.

    Of several settings of random architectures, the one with the most counts. Diverged trainings are skipped.
    """
    accuracies: dict[Setting, dict[int, dict[int, float]]] = {}
    examples: dict[Setting, UnseenResult] = {}
    for result in results:
        if result.search and result.search_seed is not None and result.test_accuracy is not None:
            examples.setdefault(result.setting, result)
            by_seed = accuracies.setdefault(result.setting, {}).setdefault(result.search_seed, {})
            by_seed[result.seed] = round(result.test_accuracy, DIGITS)
    comparisons = []
    for setting, searches in accuracies.items():
        first = examples[setting]
        space = str(first.search.get("space"))
        if "space" not in first.search or first.model == random_method(space):
            continue
        references = [
            tuple(round(fmean(values.values()), DIGITS) for _, values in sorted(accuracies[reference].items()))
            for reference, result in examples.items()
            if result.model == random_method(space) and result.training == first.training
        ]
        for search_seed, values in sorted(searches.items()):
            comparisons.append(
                ChanceComparison(
                    dataset=first.dataset,
                    model=first.model,
                    space=space,
                    search_seed=search_seed,
                    search_epochs=first.search_epochs,
                    epochs=first.epochs,
                    accuracies=tuple(value for _, value in sorted(values.items())),
                    by_chance=max(references, key=len, default=()),
                )
            )
    return comparisons


def comparison_text(comparison: ChanceComparison, dataset: str) -> str:
    """One comparison in words."""
    search = f"{count_text(comparison.search_epochs, 'epoch')} of search with seed {comparison.search_seed}"
    trainings = f"{count_text(len(comparison.accuracies), 'training')} of {count_text(comparison.epochs, 'epoch')}"
    result = f"{dataset}, {comparison.model}, {search}: {spread(comparison.accuracies)} % over {trainings}"
    if comparison.difference is None:
        return f"{result}; no random architecture was trained alike: measure {random_method(comparison.space)}."
    by_chance, count = comparison.by_chance, len(comparison.by_chance)
    between = f", from {min(by_chance):.2f} to {max(by_chance):.2f}" if count > 1 else ""
    side = "above" if comparison.difference >= 0 else "below"
    equal = f" and equals {comparison.equalled}" if comparison.equalled else ""
    return (
        f"{result}; {count_text(count, 'random architecture')}: {spread(by_chance)} %{between}. It is "
        f"{abs(comparison.difference):.2f} points {side} {'their mean' if count > 1 else 'that'}; it beats "
        f"{comparison.beaten} of {count}{equal}{_luck(comparison)}."
    )


def _luck(comparison: ChanceComparison) -> str:
    """The probability that another random architecture would do as well, as all ranks are equally likely.

    Empty where it beats none, or where some are equal.
    """
    count = len(comparison.by_chance)
    if not comparison.beaten or comparison.equalled:
        return ""
    odds = f"{count - comparison.beaten + 1} in {count + 1}"
    return f"; another random architecture would beat as many with a probability of {odds}"


def summary_lines(comparisons: Sequence[ChanceComparison]) -> list[str]:
    """A summary of the comparisons that have random architectures; empty where none has."""
    usable = [comparison for comparison in comparisons if comparison.by_chance]
    if not usable:
        return []
    above = sum((comparison.difference or 0.0) > 0 for comparison in usable)
    first = sum(comparison.beaten == len(comparison.by_chance) for comparison in usable)
    by_luck = sum(1 / (len(comparison.by_chance) + 1) for comparison in usable)
    are = "is" if above == 1 else "are"
    return [
        f"Of {count_text(len(usable), 'found architecture')} {above} {are} above the mean of the random ones, and "
        f"{first} above all of them; {by_luck:.1f} are expected by luck alone. No difference was tested for "
        "significance."
    ]


def spread(values: Sequence[float]) -> str:
    """The mean, and the standard deviation of several values."""
    return f"{fmean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")
