"""The benchmarks that the explorer shows: which there are, and each opened once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import Card, cards, load
from nasbed.core.errors import InvalidOption, UnknownName, nearest
from nasbed.explorer.overview.columns import metric_title
from nasbed.explorer.overview.points import Points


@dataclass(frozen=True, slots=True)
class BenchmarkView:
    """A benchmark with the points of its overview. ``id`` is what it was opened by."""

    id: str
    benchmark: Benchmark
    points: Points

    @classmethod
    def load(cls, name: str) -> BenchmarkView:
        """A benchmark by its id or path."""
        benchmark = load(name)
        return cls(name, benchmark, Points(name, benchmark))

    @property
    def kind(self) -> str:
        """Whether answers are looked up or predicted."""
        return "table" if self.points.is_table else "surrogate"

    @property
    def is_complete(self) -> bool:
        """Whether it answers for its whole space."""
        return self.benchmark.holds_all or self.benchmark.held_count == self.benchmark.space.size

    def facts(self) -> dict[str, Any]:
        """What the page shows of a benchmark before any of its architectures."""
        benchmark, points = self.benchmark, self.points
        test, operations = benchmark.test_metric, benchmark.space.operations
        return {
            "id": self.id,
            "title": benchmark.summary or benchmark.name,
            "space": benchmark.space.name,
            "space_title": benchmark.space.title,
            "kind": self.kind,
            "rows": points.rows,
            "complete": self.is_complete,
            "dataset": benchmark.dataset_name,
            "metrics": [
                {
                    "key": metric.key,
                    "title": metric_title(metric),
                    "unit": metric.unit,
                    "maximise": metric.direction == "maximize",
                }
                for metric in points.metrics
            ],
            "objective": benchmark.objective.key,
            "test": None if test is None else test.key,
            "fidelities": list(benchmark.fidelities),
            "operations": [] if operations is None else list(operations.names),
            "columns": [column.facts() for column in points.columns.values()],
            "sampled": points.sampled,
            "cost_note": points.costs.note if points.costs.known else "",
        }


class Catalogue:
    """The benchmarks that can be opened: those that work now, and the ``default``, by whatever it was named.

    Nothing else is ever opened: a text from the web names an entry of this list, never a path.
    """

    def __init__(self, default: str | None = None) -> None:
        self._cards: Mapping[str, Card] = {entry.name: entry for entry in cards() if entry.works_now}
        self._views: dict[str, BenchmarkView] = {}
        self._locks: dict[str, Lock] = {name: Lock() for name in self._cards}
        if default is not None:
            self._views[default] = BenchmarkView.load(default)
            self._locks.setdefault(default, Lock())
        if not self._locks:
            raise InvalidOption("an explorer needs a benchmark, none is here; get one with: nasbed fetch nb101")
        self.default = default or next(iter(self._cards))

    def open(self, name: str) -> BenchmarkView:
        """A benchmark of this list, opened when it is first asked for."""
        if name not in self._locks:
            raise UnknownName(f"no benchmark is called {name[:80]!r} here; {nearest(name[:80], self._locks)}")
        with self._locks[name]:
            if name not in self._views:
                self._views[name] = BenchmarkView.load(name)
            return self._views[name]

    @property
    def ids(self) -> tuple[str, ...]:
        """What can be opened."""
        return tuple(self._locks)

    def entries(self) -> list[dict[str, Any]]:
        """What the list of benchmarks shows of each."""
        return [self._entry(name) for name in sorted(self._locks)]

    def _entry(self, name: str) -> dict[str, Any]:
        facts = self._card_facts(self._cards[name]) if name in self._cards else self._view_facts(self._views[name])
        return {"id": name, **facts, "default": name == self.default}

    @staticmethod
    def _card_facts(card: Card) -> dict[str, Any]:
        is_surrogate = card.fitted_on > 0
        return {
            "title": card.what,
            "space": card.space,
            "kind": "surrogate" if is_surrogate else "table",
            "rows": None if is_surrogate else card.architectures,
            "dataset": card.dataset,
        }

    @staticmethod
    def _view_facts(view: BenchmarkView) -> dict[str, Any]:
        benchmark = view.benchmark
        return {
            "title": benchmark.summary or benchmark.name,
            "space": benchmark.space.name,
            "kind": view.kind,
            "rows": view.points.rows if view.points.is_table else None,
            "dataset": benchmark.dataset_name,
        }

    def tables(self, space: str | None = None) -> list[str]:
        """The ids of the tables, of one space or of all, that need not be imported first."""
        return [
            entry["id"]
            for entry in self.entries()
            if entry["kind"] == "table" and space in (None, entry["space"]) and self._is_here(entry["id"])
        ]

    def _is_here(self, name: str) -> bool:
        return name in self._views or self._cards[name].present
