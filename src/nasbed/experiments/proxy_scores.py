"""ProxyScores by one proxy as a search uses them: from a file, or in closed form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption, NasbedError
from nasbed.core.files import file_sha256
from nasbed.experiments.scoring import random_architectures
from nasbed.proxies.table import ScoreTable
from nasbed.spaces.base import SearchSpace

Floats = NDArray[np.float64]

CLOSED_FORMS = {"params": "parameters", "flops": "multiply_adds"}
"""The proxies that spaces know without a network, by what the spaces call them."""


class ProxyScores(ABC):
    """Higher is better, NaN where there is none."""

    @property
    @abstractmethod
    def origin(self) -> str:
        """Where the scores come from, and whether it is known how long they took."""

    @abstractmethod
    def of(self, archs: Sequence[Architecture]) -> Floats:
        """The scores of architectures."""

    @abstractmethod
    def seconds(self, archs: Sequence[Architecture]) -> float:
        """The seconds that scoring all of them takes."""

    def draw(self, count: int, benchmark: Benchmark, rng: np.random.Generator) -> list[Architecture]:
        """``count`` random architectures of a benchmark that can be scored; by default of its whole space."""
        return random_architectures(benchmark.space, count, rng)

    def best_first(self, archs: Sequence[Architecture]) -> list[Architecture]:
        """By falling score, equal ones in the order given; those without come last."""
        scores = self.of(archs)
        return [archs[index] for index in np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")]


class ClosedForm(ProxyScores):
    """Parameters or multiply-adds as counted by the space, at no cost."""

    def __init__(self, searched: SearchSpace, proxy: str) -> None:
        self._space = searched
        self._column = list(CLOSED_FORMS).index(proxy)

    @property
    def origin(self) -> str:
        return "in closed form, without any time"

    @staticmethod
    def is_counted(searched: SearchSpace) -> bool:
        """Whether the space counts them."""
        return len(searched.costs([searched.sample(np.random.default_rng(0))])[0]) == len(CLOSED_FORMS)

    def of(self, archs: Sequence[Architecture]) -> Floats:
        return self._space.costs(archs)[:, self._column].astype(np.float64)

    def seconds(self, archs: Sequence[Architecture]) -> float:
        return 0.0


class ScoreFile(ProxyScores):
    """The mean over the seeds of a file, up to isomorphism. An architecture without a time takes the median of the
    file's times, or none if the file has no times."""

    def __init__(self, path: Path, searched: SearchSpace, proxy: str) -> None:
        table = ScoreTable.read(path)
        if table.about.space != searched.name:
            raise InvalidOption(
                f"{path} has scores of the space {table.about.space}, the benchmark's is {searched.name}; score "
                "that one"
            )
        scores = table.mean(proxy)
        if np.isnan(scores).all():
            raise BadFile(f"{path} has no score by {proxy} for any architecture; score some by it")
        seconds = table.seconds.get(proxy, np.full(table.of(proxy).shape, np.nan))
        timed_cells = np.isfinite(seconds)
        usual = float(np.median(seconds[timed_cells])) if timed_cells.any() else 0.0
        totals = np.where(timed_cells, seconds, usual).sum(axis=1)
        self._path, self._space = path, searched
        forms = searched.architectures(searched.canonical_codes(table.codes))
        self._rows: dict[Architecture, tuple[float, float]] = {}
        for form, score, took in zip(forms, scores.tolist(), totals.tolist(), strict=True):
            if form not in self._rows or np.isnan(self._rows[form][0]):
                self._rows[form] = score, took
        timed = "with the time they took" if timed_cells.any() else "without any time"
        self._origin = f"{path.name}, sha256 {file_sha256(path)[:12]}, {timed}"

    @property
    def origin(self) -> str:
        return self._origin

    def of(self, archs: Sequence[Architecture]) -> Floats:
        return np.array([self._row(arch)[0] for arch in archs], dtype=np.float64)

    def seconds(self, archs: Sequence[Architecture]) -> float:
        return float(sum(self._row(arch)[1] for arch in archs))

    def _row(self, arch: Architecture) -> tuple[float, float]:
        return self._rows.get(self._space.canonical(arch), (np.nan, 0.0))

    def draw(self, count: int, benchmark: Benchmark, rng: np.random.Generator) -> list[Architecture]:
        """``count`` random architectures of the file that the benchmark has, whatever the order of its rows."""
        forms = sorted(self._rows)
        pool: list[Architecture] = []
        for index in rng.permutation(len(forms)).tolist():
            if len(pool) < count and _answers(benchmark, forms[index]):
                pool.append(forms[index])
        if len(pool) < count:
            raise InvalidOption(
                f"{count} scored architectures were requested, {self._path} has {len(pool)} of {benchmark.name}; "
                "request fewer"
            )
        return pool


@lru_cache(maxsize=16)
def read_scores(path: str, stamp: int, searched: SearchSpace, proxy: str) -> ScoreFile:
    """The scores of a file, read once a process; ``stamp`` changes with the file."""
    return ScoreFile(Path(path), searched, proxy)


def _answers(benchmark: Benchmark, arch: Architecture) -> bool:
    """Whether a benchmark holds an architecture; it may lack some of its space."""
    try:
        benchmark.space.validate(arch)
    except NasbedError:
        return False
    return benchmark.holds(arch)
