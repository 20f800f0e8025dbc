"""A small suite that was run, with a method of a user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nasbed.benchmarks.suites import Suite, SuiteEntry
from nasbed.core.execution import SerialEngine
from nasbed.experiments.suites import SuiteRuns, load_suite_runs, run_suite

NAMES = ("nb201-addnist-v1.0", "nb201-chesseract-v1.0")
SMALL = Suite("Two datasets", tuple(map(SuiteEntry, NAMES)), budget="25ev", seeds=3, name="small")
MINE = """
import nasbed
from helper import chosen

class Mine(nasbed.Optimizer):
    name, summary = "mine", "a draw, or a mutant of the best so far"
    best = None

    def ask(self, n=1):
        return [nasbed.Proposal(chosen(self.space, self.best, self.rng))]

    def tell(self, observations):
        for seen in observations:
            value = seen.values[self.problem.objective]
            if self.best is None or value > self.best[0]:
                self.best = value, seen.architecture
"""
HELPER = """
def chosen(space, best, rng):
    return space.sample(rng) if best is None or rng.random() < 0.5 else space.mutate(best[1], rng)
"""
HIDDEN = MINE.replace("self.rng)", "__import__('numpy').random.default_rng())").replace('"mine"', '"hidden"')
"""The same with random numbers that the seed does not determine."""


def run_small(folder: Path, methods: Sequence[str]) -> None:
    """Run methods on the small suite, into a folder of their own."""
    run_suite(SMALL, methods, out=folder, engine=SerialEngine())


def runs_of_methods(folder: Path, methods: Sequence[str]) -> SuiteRuns:
    """The runs of some methods in the folder of a suite."""
    stored = load_suite_runs(folder)
    parts = [
        replace(part, runs=replace(part.runs, runs=[run for run in part.runs.runs if run.method in methods]))
        for part in stored.benchmarks
    ]
    return replace(stored, benchmarks=parts)


def write_methods(folder: Path) -> tuple[str, str]:
    """Two methods in files: one that its seed determines, and one that it does not."""
    (folder / "helper.py").write_text(HELPER)
    (folder / "my.py").write_text(MINE)
    (folder / "hidden.py").write_text(HIDDEN)
    return f"{folder / 'my.py'}:Mine", f"{folder / 'hidden.py'}:Mine"
