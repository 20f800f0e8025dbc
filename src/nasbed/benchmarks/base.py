"""The interface of all benchmarks: tables, surrogates and live training."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.observations import Observations
from nasbed.core.architecture import Architecture
from nasbed.core.calls.arguments import one_or_several
from nasbed.core.errors import InvalidOption, UnknownName, nearest
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.presentation.upward import html_view
from nasbed.spaces.base import ArchitectureLike, Batch, SearchSpace

if TYPE_CHECKING:
    from nasbed.results.store import Results


class Benchmark(ABC):
    """Answers ``query`` for the architectures of one space.

    The protocol is that of NAS-Bench-101's section 2.6: a query trains one network once, so its answer is noisy, has a
    cost, and depends on ``seed``. It never has a test metric. A finished search is judged by :meth:`mean_test`.

    A subclass sets the attributes and writes ``_query``, ``test_metric``, ``mean_test`` and ``optimum``. It writes
    ``_query_many`` to answer a batch faster than one by one. A benchmark that knows the means of its answers writes
    :meth:`expected`, :meth:`expected_many` or both: each is derived from the other. It is then judged by them where it
    has no test results, see :attr:`judge`.

    Benchmarks can be pickled and deep-copied. A pickled table is its path and checksums: other processes need the
    folder, and refuse it if the table changed.
    """

    name: str
    space: SearchSpace
    metrics: tuple[Metric, ...]
    """The metrics that a query answers; test metrics are not among them."""
    objective: Metric
    """The validation metric that a search optimises."""
    fidelities: tuple[int, ...]
    """The available budgets, rising; the last one is the default."""
    results: Results | None = None
    """The table that queries look up, where the benchmark is a whole table."""
    summary: str = ""
    """One line that says what it is, for lists of benchmarks."""

    @property
    def is_one_training(self) -> bool:
        """Whether the fidelities are epochs of one training, as of a learning curve. A longer training then continues
        a shorter one. Budgets with learning-rate schedules of their own are separate trainings."""
        return False

    def query(self, arch: ArchitectureLike, *, fidelity: int | None = None, seed: int = 0) -> Observation:
        """Evaluate one architecture, which may be given as its text or its configuration. The same arguments give the
        same answer."""
        return self._query(self.space.architecture(arch), self._fidelity(fidelity), _whole_seed(seed))

    def query_many(
        self, archs: Batch | Sequence[ArchitectureLike], *, fidelity: int | None = None, seed: int = 0
    ) -> Observations:
        """:meth:`query` of a batch, vectorised: the same answers."""
        return self._query_many(self._batch(archs), self._fidelity(fidelity), _whole_seed(seed))

    def _batch(self, archs: Batch | Sequence[ArchitectureLike]) -> Batch:
        """A batch with every text and every configuration replaced by its architecture."""
        if isinstance(archs, np.ndarray):
            return archs
        if isinstance(archs, str | Mapping | Architecture):
            raise InvalidOption(f"a batch is a list of architectures, got a single {type(archs).__name__}; use query")
        return [self.space.architecture(arch) for arch in one_or_several("a batch", archs)]

    def resume(self, arch: Architecture, *, paused: Observation, fidelity: int, seed: int) -> Observation:
        """Continue the training of an earlier answer to a higher fidelity: the answer and the cost of the whole
        training. By default that is the query with the same seed.

        Args:
            arch: The architecture, or one isomorphic to it.
            paused: The earlier answer.
            fidelity: The higher fidelity.
            seed: What the earlier answer was queried with.
        """
        return self.query(arch, fidelity=fidelity, seed=seed)

    def _fidelity(self, fidelity: int | None) -> int:
        if fidelity is None:
            return self.fidelities[-1]
        if fidelity in self.fidelities:
            return self.fidelities[self.fidelities.index(fidelity)]
        raise InvalidOption(
            f"{self.name} has the fidelities {', '.join(map(str, self.fidelities))}, got {fidelity!r}; choose one of "
            "them"
        )

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def predicts(self) -> bool:
        """Whether answers are predicted by a model, not measured."""
        return False

    @property
    def model_family(self) -> str:
        """The family of models that predicts the answers, such as ``trees``; empty where they are measured."""
        return ""

    @property
    def dataset_name(self) -> str:
        """The dataset that networks were trained on; empty where that is not known."""
        return ""

    @property
    def has_times(self) -> bool:
        """Whether evaluations have a cost in seconds, at least some of them."""
        return True

    @property
    def is_live(self) -> bool:
        """Whether a query really trains: too costly to repeat for another version of nasbed alone."""
        return False

    @property
    def unwrapped(self) -> Benchmark:
        """The benchmark itself, beneath all wrappers."""
        return self

    @property
    def held_count(self) -> int | None:
        """How many architectures it holds; ``None`` where it answers for its whole space, see :meth:`holds`."""
        return None

    @property
    def holds_all(self) -> bool:
        """Whether it answers for its whole space by design. Faster than :attr:`held_count`, which may have to count."""
        return self.held_count is None

    def architectures(self) -> Iterator[Architecture]:
        """Every architecture that it answers for, where they can be listed."""
        return self.space.enumerate()

    def holds(self, arch: Architecture, *, fidelity: int | None = None) -> bool:
        """Whether it answers for an architecture of its space, by default at the highest fidelity. A table may hold a
        few only."""
        return True

    def repeats(self, arch: Architecture, *, fidelity: int | None = None) -> list[Observation]:
        """All stored evaluations of an architecture at one fidelity; empty if the benchmark stores none."""
        return []

    def stored_rows(self) -> tuple[Results, NDArray[np.int64]]:
        """A table, and which rows of its columns this benchmark answers from, test results included. Not for
        searching. Raises where queries do not look up a table."""
        raise InvalidOption(f"a study needs a table, {self.name} is not one; name a table or its folder")

    def drawn_repeat(self, arch: Architecture, *, fidelity: int | None = None, seed: int = 0) -> int:
        """The position, in :meth:`repeats`, of the evaluation that a query with this seed answers."""
        raise InvalidOption(f"{self.name} does not draw from stored evaluations; use a table")

    @abstractmethod
    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation: ...

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        return self._one_by_one(archs, fidelity, lambda arch: self._query(arch, fidelity, seed))

    def expected(self, arch: Architecture, *, fidelity: int | None = None) -> Observation:
        """The mean answer for an architecture over all seeds, if the benchmark knows it; by default that of a batch of
        one."""
        self._check_knows_means()
        return self.expected_many([arch], fidelity=fidelity)[0]

    def expected_many(self, archs: Batch, *, fidelity: int | None = None) -> Observations:
        """:meth:`expected` of a batch, by default one by one."""
        self._check_knows_means()
        budget = self._fidelity(fidelity)
        return self._one_by_one(archs, budget, lambda arch: self.expected(arch, fidelity=budget))

    def _one_by_one(self, archs: Batch, fidelity: int, answer: Callable[[Architecture], Observation]) -> Observations:
        """The answers for a batch, each queried singly."""
        codes = self.space.codes(archs)
        answers = [answer(arch) for arch in self.space.architectures(codes)]
        return Observations.of(self.space.name, codes, answers, metrics=self.metrics, fidelity=fidelity)

    def _check_knows_means(self) -> None:
        if not self.knows_means:
            raise InvalidOption(f"{self.name} does not know the means of its answers; use a table or a surrogate")

    # --- for evaluation only -----------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def test_metric(self) -> Metric | None:
        """The metric by which a finished search is judged, or ``None`` if no test results are known."""

    @abstractmethod
    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        """The mean test metric of architectures at the highest fidelity that has one, NaN where unknown. Not for
        searching."""

    @abstractmethod
    def optimum(self) -> tuple[Architecture, float]:
        """The architecture with the best mean test metric (validation, where there is no test metric) and that mean."""

    @property
    def knows_means(self) -> bool:
        """Whether :meth:`expected` and :meth:`expected_many` answer: the class has written at least one of them."""
        kind = type(self)
        return kind.expected is not Benchmark.expected or kind.expected_many is not Benchmark.expected_many

    @property
    def judge(self) -> Metric | None:
        """The metric by which a finished search is judged: the test metric; without test results the objective, if the
        benchmark knows its means; else none."""
        return self.test_metric or (self.objective if self.knows_means else None)

    def mean_judgement(self, archs: Batch) -> tuple[Metric | None, NDArray[np.float64]]:
        """:attr:`judge`, and its mean for each of these architectures, NaN where unknown. Not for searching."""
        if self.test_metric is not None:
            return self.test_metric, self.mean_test(archs)
        if self.knows_means:
            return self.objective, self.mean_objective(archs)
        return None, np.full(len(archs), np.nan)

    def mean_objective(self, archs: Batch) -> NDArray[np.float64]:
        """The mean of the objective at the highest fidelity that has one. Not for searching."""
        return self.expected_many(archs).column(self.objective)

    def best_answer(self, fidelities: Sequence[int]) -> float:
        """The best objective that any query can answer at one of these fidelities; NaN where that is not known."""
        return float("nan")

    def best_mean(self, fidelities: Sequence[int]) -> float:
        """The best mean of the objective at one of these fidelities; NaN where that is not known."""
        return float("nan")

    def metric(self, key: str) -> Metric:
        """The metric with that key."""
        for metric in self.metrics:
            if metric.key == key:
                return metric
        raise UnknownName(f"{self.name} has no metric {key!r}; {nearest(key, (metric.key for metric in self.metrics))}")

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of everything that determines the answers, to which stored runs are bound; empty if unknown.
        The same content has the same one in every folder and on every machine."""
        return ""

    def _repr_html_(self) -> str | None:
        return html_view("views:benchmark_html", self)

    def __repr__(self) -> str:
        count = len(self.fidelities)
        return f"<benchmark {self.name}: {self.space.name}, {count} {'fidelity' if count == 1 else 'fidelities'}>"


def _whole_seed(seed: int) -> int:
    """A seed as a Python integer, whose arithmetic does not overflow as numpy's does."""
    try:
        return operator.index(seed)
    except TypeError:
        raise InvalidOption(f"the seed of a query is a whole number, got {seed!r}; pass one such as 0") from None
