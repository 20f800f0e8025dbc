"""Zero-cost proxies in a search: as its start, or as a filter of what it draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.execution import Engine
from nasbed.experiments.proxy_scores import CLOSED_FORMS, ClosedForm, ProxyScores, read_scores
from nasbed.experiments.scoring import random_architectures, score_architectures
from nasbed.optimizers.base import Optimizer, Problem
from nasbed.optimizers.guidance import FilteredProposals, FilteredSpace, WarmStarted
from nasbed.proxies import PROXIES
from nasbed.proxies.table import ScoreTable, scores_path

POOL_STREAM = 0x706F6F6C
"""The stream of a seed from which its pool is drawn."""
OWN_SCORES = "proxy-scores.parquet"
"""The name of the file of scores, in the folder of the runs."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """The role of a proxy in a run. As a start: ``count`` random architectures are scored, and the method begins with
    the ``start`` best, by default as many as it usually begins with. As a filter: the best of each ``count`` candidates
    is used.

    ``scores`` is the file that has the scores, empty for closed forms. Pools are drawn from the architectures in it;
    with a ``dataset``, they are drawn from the space and scored into it on these images.
    """

    kind: Literal["start", "filter"]
    proxy: str
    count: int
    start: int | None = None
    scores: str = ""
    dataset: str = ""

    @classmethod
    def warm_start(cls, text: str) -> Guidance:
        """Read ``PROXY:N`` or ``PROXY:N:START``.

        >>> Guidance.warm_start("synflow:1000:20").start
        20
        """
        proxy, numbers = _parts(text, ("--warm-start", "PROXY:N or PROXY:N:START", "synflow:1000"), most=2)
        guidance = cls("start", proxy, numbers[0], numbers[1] if len(numbers) > 1 else None)
        if guidance.start is not None and guidance.start > guidance.count:
            raise InvalidOption(
                f"a method begins with architectures of its pool of {guidance.count}, got {guidance.start}; begin with "
                "fewer"
            )
        return guidance

    @classmethod
    def filter(cls, text: str) -> Guidance:
        """Read ``PROXY:M``."""
        proxy, numbers = _parts(text, ("--filter", "PROXY:M", "synflow:10"), most=1)
        return cls("filter", proxy, numbers[0])

    @property
    def text(self) -> str:
        """The guidance as its option is written."""
        return ":".join([self.proxy, str(self.count), *([] if self.start is None else [str(self.start)])])

    def name(self, method: str) -> str:
        """The name of a method's runs with this guidance.

        >>> Guidance.warm_start("synflow:1000").name("re"), Guidance.filter("synflow:10").name("re")
        ('re+synflow', 're~synflow')
        """
        return f"{method}{'+' if self.kind == 'start' else '~'}{self.proxy}"

    def settings(self, benchmark: Benchmark) -> dict[str, str]:
        """The guidance as a setting of the method: its kind, the source of the scores, and their cost."""
        origin = f"on {self.dataset}, with the time they took" if self.dataset else self.open(benchmark).origin
        return {"warm_start" if self.kind == "start" else "filter": self.text, "scores": origin}

    def open(self, benchmark: Benchmark) -> ProxyScores:
        """The scores of the proxy."""
        if not self.scores:
            return ClosedForm(benchmark.space, self.proxy)
        path = Path(self.scores)
        stamp = path.stat().st_mtime_ns if path.is_file() else 0
        return read_scores(self.scores, stamp, benchmark.space, self.proxy)

    def pool(self, benchmark: Benchmark, seed: int) -> list[Architecture]:
        """The architectures that a run with this seed scores, in the order of the draw. They are the same for all
        methods; a larger count includes those of a smaller one."""
        rng = np.random.default_rng([seed, POOL_STREAM])
        if self.dataset:
            return random_architectures(benchmark.space, self.count, rng)
        return self.open(benchmark).draw(self.count, benchmark, rng)

    def best_first(self, benchmark: Benchmark, seed: int) -> tuple[list[Architecture], float]:
        """The pool of a seed by falling score, and the seconds that scoring it takes."""
        pool, scores = self.pool(benchmark, seed), self.open(benchmark)
        if np.isnan(scores.of(pool)).all():
            raise InvalidOption(
                f"a pool needs architectures with a score, none of {self.count} has one by {self.proxy} in "
                f"{self.scores}; request more"
            )
        return scores.best_first(pool), scores.seconds(pool)


class ProxyFilter:
    """Chooses the best of several candidates, the first of equal ones; each is scored once per run."""

    def __init__(self, scores: ProxyScores) -> None:
        self._scores = scores
        self._score_by_arch: dict[Architecture, float] = {}
        self.spent_s = 0.0

    def __call__(self, candidates: Sequence[Architecture]) -> Architecture:
        new = [arch for arch in dict.fromkeys(candidates) if arch not in self._score_by_arch]
        if new:
            self.spent_s += self._scores.seconds(new)
            scores = self._scores.of(new)
            self._score_by_arch.update(zip(new, np.where(np.isnan(scores), -np.inf, scores).tolist(), strict=True))
        return max(candidates, key=self._score_by_arch.__getitem__)


def guided(
    guidance: Guidance,
    kind: type[Optimizer],
    problem: Problem,
    rng: np.random.Generator,
    settings: Mapping[str, Any],
    *,
    benchmark: Benchmark,
    seed: int,
) -> tuple[Optimizer, Callable[[], float]]:
    """A method with its guidance, and a function that returns the seconds spent on scoring so far.

    Args:
        guidance: what the proxy does.
        kind: the class of the method.
        problem: what it searches.
        rng: the source of its random numbers.
        settings: those of the method.
        benchmark: what it searches on.
        seed: of the run.
    """
    if guidance.kind == "start":
        pool, seconds = guidance.best_first(benchmark, seed)
        return WarmStarted(kind(problem, rng, **settings), pool, start=guidance.start), lambda: seconds
    sieve = ProxyFilter(guidance.open(benchmark))
    if kind.filtered == "proposals":
        optimizer: Optimizer = FilteredProposals(kind(problem, rng, **settings), guidance.count, sieve)
    else:
        searched = FilteredSpace(problem.space, guidance.count, sieve)
        optimizer = kind(replace(problem, space=searched), rng, **settings)
    return optimizer, lambda: sieve.spent_s


def resolved(
    guidance: Guidance, benchmark: Benchmark, *, scores: str | Path | None, dataset: str, out: Path
) -> Guidance:
    """The guidance with the source of its scores: the file, a closed form or, for a start, images to score on. Errors
    that would affect all runs are raised here.

    Args:
        guidance: what the proxy does.
        benchmark: what is searched.
        scores: a file of scores, if there is one.
        dataset: the images to score on, or empty.
        out: the folder of the runs, where new scores are kept.
    """
    scores = None if scores is None else scores_path(scores)
    if scores is not None and guidance.proxy in ScoreTable.read(scores).proxies:
        result = replace(guidance, scores=str(scores.resolve()))
    elif guidance.proxy in CLOSED_FORMS and ClosedForm.is_counted(benchmark.space):
        result = guidance
    elif scores is not None:
        result = replace(guidance, scores=str(scores.resolve()))
    else:
        PROXIES.check(guidance.proxy)
        if guidance.kind == "filter" or not dataset:
            images = "" if guidance.kind == "filter" else ", or the images to score on with --proxy-dataset"
            raise InvalidOption(
                f"{guidance.proxy} needs scores, and {benchmark.space.name} has none in closed form; give a file with "
                f"--scores{images}"
            )
        return replace(guidance, scores=str((out / OWN_SCORES).resolve()), dataset=dataset)
    result.open(benchmark)
    if result.kind == "start":
        result.best_first(benchmark, 0)
    return result


def score_pools(
    guidance: Sequence[Guidance],
    benchmark: Benchmark,
    *,
    seeds: int,
    engine: Engine | None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Score the pools of runs that no file has scores of; existing scores are not repeated.

    Args:
        guidance: those of the runs.
        benchmark: what is searched.
        seeds: how many, from 0.
        engine: where networks are scored.
        progress: called with how many of how many networks are scored.
    """
    unscored = [guide for guide in guidance if guide.dataset]
    for count in dict.fromkeys(guide.count for guide in unscored):
        alike = [guide for guide in unscored if guide.count == count]
        union = dict.fromkeys(arch for seed in range(seeds) for arch in alike[0].pool(benchmark, seed))
        score_architectures(
            list(union),
            dataset=alike[0].dataset,
            proxies=[guide.proxy for guide in alike],
            out=Path(alike[0].scores),
            engine=engine,
            progress=progress,
        )


def _parts(text: str, form: tuple[str, str, str], *, most: int) -> tuple[str, list[int]]:
    option, pattern, example = form
    proxy, *numbers = text.split(":")
    fits = bool(proxy) and 1 <= len(numbers) <= most
    if not fits or not all(number.isascii() and number.isdigit() and int(number) > 0 for number in numbers):
        raise InvalidOption(
            f"{option} is {pattern} with whole numbers of at least 1, such as {example}, got {shorten(text)}"
        )
    return proxy, [int(number) for number in numbers]
