"""The study of "Zero-Cost Benchmarks: Towards Lower Reliance on Spearman Rank Correlation" for tasks of your own.

Figures 1 to 3, the paper's statements one by one, what it does not control for (restriction of range, noise of the
truth), and what several proxies are worth together: averaged, and as features of a surrogate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.proxies.combining import Halves, combine_proxies
from nasbed.evaluation.proxies.few_points import SIZES, FewPoints, few_points
from nasbed.evaluation.proxies.judgement import JudgedTask, judge_proxies
from nasbed.evaluation.proxies.tasks import RankedTask
from nasbed.studies.zero_cost.samples import Sampled, sampled
from nasbed.studies.zero_cost.statements import Statement, statements


@dataclass(frozen=True, slots=True)
class StudiedTask:
    """One task: its figures, what its measures rest on, and its combinations. ``few`` is None where there are too few
    architectures to learn from; ``remark`` is what a reader has to know of the scores."""

    judged: JudgedTask
    sampled: Sampled
    combined: Mapping[str, Halves]
    few: FewPoints | None
    remark: str = ""

    @property
    def name(self) -> str:
        return self.judged.name


@dataclass(frozen=True, slots=True)
class ZeroCostStudy:
    top_percent: float
    weight: float
    resamples: int
    halves: int
    tasks: tuple[StudiedTask, ...]
    statements: tuple[Statement, ...] = field(default=())

    def statement(self, key: str) -> Statement:
        """The statement with that key."""
        return next(each for each in self.statements if each.key == key)


def stages(tasks: Sequence[str]) -> list[str]:
    """What a study does, in its order, for a bar."""
    return [f"{name}: {step}" for name in numbered(tasks) for step in ("judging", "averages", "few points")]


def numbered(names: Sequence[str]) -> list[str]:
    """Names of tasks, all different: those that come again have a number.

    >>> numbered(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return found


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
    """Study tasks together. ``repeats`` is how often what a surrogate learns from is drawn, ``halves`` how often the
    architectures are split to average proxies, ``references`` how often the reference for a smaller range is drawn,
    ``remarks`` by task what to say of its scores, and ``progress`` is told each of :func:`stages` when it starts."""
    if not tasks:
        raise InvalidOption("a study has 1 task or more, got none; give scores and a table")
    tell = progress or (lambda _: None)
    named = [replace(task, name=name) for task, name in zip(tasks, numbered([t.name for t in tasks]), strict=True)]
    found = []
    for task, original in zip(named, tasks, strict=True):
        tell(f"{task.name}: judging")
        drawn = int(rng.integers(2**62))  # both draw the same resamples
        judged = judge_proxies(
            task, np.random.default_rng(drawn), top_percent=top_percent, weight=weight, resamples=resamples
        )
        measured = sampled(
            task,
            np.random.default_rng(drawn),
            top_percent=top_percent,
            weight=weight,
            resamples=resamples,
            references=references,
        )
        tell(f"{task.name}: averages")
        combined = combine_proxies(task, rng, halves=halves, top_percent=top_percent, weight=weight)
        tell(f"{task.name}: few points")
        few = few_points(task, rng, repeats=repeats, sizes=sizes) if len(task) >= 2 * min(sizes) else None
        found.append(StudiedTask(judged, measured, combined, few, (remarks or {}).get(original.name, "")))
    stated = statements([each.sampled for each in found])
    return ZeroCostStudy(top_percent, weight, resamples, halves, tuple(found), stated)
