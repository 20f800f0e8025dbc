"""The benchmarks that the explorer shows: which there are, and each opened once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import Card, card, cards, load
from nasbed.core.errors import InvalidOption, NasbedError, UnknownName, nearest
from nasbed.explorer.points import Points


@dataclass(frozen=True, slots=True)
class OpenBenchmark:
    """A benchmark with the points of its overview. ``id`` is what it was opened by."""

    id: str
    benchmark: Benchmark
    points: Points

    @property
    def is_table(self) -> bool:
        """Whether its answers are looked up, not predicted."""
        return self.points.is_table


class Catalogue:
    """The benchmarks that can be opened: those that are present here, and the ``default`` by whatever it was named.

    Nothing else is ever opened: a text from the web names an entry of this list, never a path.
    """

    def __init__(self, default: str | None = None) -> None:
        present = [entry for entry in cards() if entry.present]
        self._cards: Mapping[str, Card | None] = {entry.name: entry for entry in present}
        if default is not None and default not in self._cards:
            self._cards = {default: None, **self._cards}
        if not self._cards:
            raise InvalidOption("an explorer needs a benchmark, none is here; get one with: nasbed fetch")
        self.default = next(iter(self._cards)) if default is None else default
        self._opened: dict[str, OpenBenchmark] = {}
        self._lock = Lock()
        if default is not None:
            self.open(default)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._cards)

    def open(self, name: str) -> OpenBenchmark:
        """A benchmark of this list, opened when it is first asked for."""
        if name not in self._cards:
            raise UnknownName(f"no benchmark is called {name[:80]!r} here; {nearest(name[:80], self._cards)}")
        with self._lock:
            if name not in self._opened:
                benchmark = load(name)
                self._opened[name] = OpenBenchmark(name, benchmark, Points(name, benchmark))
            return self._opened[name]

    def entries(self) -> list[dict[str, Any]]:
        """What the list of benchmarks shows of each."""
        return [self._entry(name) for name in self._cards]

    def _entry(self, name: str) -> dict[str, Any]:
        entry = self._cards[name]
        if entry is None:
            opened = self.open(name)
            benchmark = opened.benchmark
            facts = {
                "title": benchmark.summary or benchmark.name,
                "space": benchmark.space.name,
                "kind": "table" if opened.is_table else "surrogate",
                "rows": opened.points.rows if opened.is_table else None,
                "dataset": benchmark.dataset_name,
            }
        else:
            is_surrogate = entry.fitted_on > 0
            facts = {
                "title": entry.what,
                "space": entry.space,
                "kind": "surrogate" if is_surrogate else "table",
                "rows": None if is_surrogate else entry.architectures,
                "dataset": self._dataset(name),
            }
        return {"id": name, **facts, "default": name == self.default}

    def _dataset(self, name: str) -> str:
        try:
            return self.open(name).benchmark.dataset_name
        except NasbedError:
            return ""
