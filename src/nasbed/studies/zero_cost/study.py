"""The study of "Zero-Cost Benchmarks: Towards Lower Reliance on Spearman Rank Correlation" for tasks of your own.

It has the paper's figures 1 to 3 and checks its statements one by one. It also measures what the paper does not control
for (restriction of range, noise of the truth), and combinations of proxies: rank averages, and scores as features of a
surrogate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.proxies.proxy_evaluation import JudgedTask, judge_proxies
from nasbed.evaluation.proxies.rank_average import SplitHalfResult, combine_proxies
from nasbed.evaluation.proxies.tasks import RankedTask
from nasbed.studies.zero_cost.few_points import SIZES, FewPoints, few_points
from nasbed.studies.zero_cost.samples import SampledMeasures, sample_measures
from nasbed.studies.zero_cost.statements import Statement, statements


@dataclass(frozen=True, slots=True)
class StudiedTask:
    """One task: the judged proxies, their measures on resamples, and their combinations.

    ``few_points`` is None where there are too few architectures to learn from. ``remark`` is a warning about the
    scores.
    """

    judged: JudgedTask
    measures: SampledMeasures
    combined: Mapping[str, SplitHalfResult]
    few_points: FewPoints | None
    remark: str = ""

    @property
    def name(self) -> str:
        return self.judged.name


@dataclass(frozen=True, slots=True)
class ZeroCostStudy:
    """The studied tasks and the paper's statements about them."""

    top_percent: float
    weight: float
    resamples: int
    halves: int
    tasks: tuple[StudiedTask, ...]
    statements: tuple[Statement, ...] = field(default=())

    def statement(self, key: str) -> Statement:
        """The statement with that key."""
        return next(statement for statement in self.statements if statement.key == key)


def stages(tasks: Sequence[str]) -> list[str]:
    """The names of the stages of a study, in order, for a progress bar."""
    return [f"{name}: {step}" for name in numbered(tasks) for step in ("judging", "averages", "few points")]


def numbered(names: Sequence[str]) -> list[str]:
    """The names of tasks, made unique: a repeated name gets a number.

    >>> numbered(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    counts: Counter[str] = Counter()
    unique_names = []
    for name in names:
        counts[name] += 1
        unique_names.append(f"{name} ({counts[name]})" if counts[name] > 1 else name)
    return unique_names


def zero_cost_study(
    tasks: Sequence[RankedTask],
    *,
    top_percent: float = 1,
    weight: float = 0.5,
    rng: np.random.Generator,
    resamples: int = 500,
    references: int = 300,
    halves: int = 20,
    repeats: int = 10,
    sizes: Sequence[int] = SIZES,
    remarks: Mapping[str, str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> ZeroCostStudy:
    """Study tasks together.

    Args:
        tasks: The architectures of each task with their scores and true values.
        top_percent: The size of the top, in per cent.
        weight: The weight of the top in rank-biased overlap.
        rng: Draws the resamples, the references, the halves and the training sets.
        resamples: The number of bootstrap resamples of the architectures.
        references: The number of draws of the reference for a smaller range.
        halves: How often the architectures are split in halves to average proxies.
        repeats: How often the training set of a surrogate is drawn.
        sizes: The numbers of architectures that a surrogate learns from.
        remarks: By the name of a task, a remark about its scores.
        progress: Called with the name of each of :func:`stages` when it starts.
    """
    if not tasks:
        raise InvalidOption("a study needs 1 task or more, got none; name scores and a table")
    start_stage = progress or (lambda _: None)
    named = [replace(task, name=name) for task, name in zip(tasks, numbered([t.name for t in tasks]), strict=True)]
    studied_tasks = []
    for task, original in zip(named, tasks, strict=True):
        start_stage(f"{task.name}: judging")
        resample_seed = int(rng.integers(2**62))  # the same resamples for both
        judged = judge_proxies(
            task, np.random.default_rng(resample_seed), top_percent=top_percent, weight=weight, resamples=resamples
        )
        measures = sample_measures(
            task, judged.yardstick, np.random.default_rng(resample_seed), resamples=resamples, references=references
        )
        start_stage(f"{task.name}: averages")
        combined = combine_proxies(task, rng, halves=halves, top_percent=top_percent, weight=weight)
        start_stage(f"{task.name}: few points")
        learned = few_points(task, rng, repeats=repeats, sizes=sizes) if len(task) >= 2 * min(sizes) else None
        studied_tasks.append(StudiedTask(judged, measures, combined, learned, (remarks or {}).get(original.name, "")))
    stated = statements([task.measures for task in studied_tasks])
    return ZeroCostStudy(top_percent, weight, resamples, halves, tuple(studied_tasks), stated)
