"""A stored comparison of random search and a method of the user's own, and the commands that show it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
from typer.testing import CliRunner, Result

from nasbed import Metric, NasbedError, space
from nasbed.cli import app
from nasbed.results import Rows, TableInfo, write_results
from support.tables import additive

METHOD = """
from nasbed.optimizers import Optimizer, Proposal
from step import probability


class Greedy(Optimizer):
    name, summary = "Greedy", "mutates the best"

    def __init__(self, problem, rng, *, patience=1):
        super().__init__(problem, rng)
        self.best, self.loss = None, float("inf")

    def ask(self, n=1):
        if self.best is None or self.rng.random() < probability:
            return [Proposal(self.space.sample(self.rng))]
        return [Proposal(self.space.mutate(self.best, self.rng))]

    def tell(self, observations):
        for observation in observations:
            loss = self.problem.loss(observation)
            if loss < self.loss:
                self.best, self.loss = observation.architecture, loss
"""


def write_table(folder: Path, *, seed: int, searched: str = "nb201") -> None:
    codes = space(searched).codes(list(space(searched).enumerate())[:15_625])
    metric = Metric("accuracy", split="validation", unit="%", bounds=(0, 200))
    values = additive(codes) + 3 * np.random.default_rng(seed).random(len(codes))
    rows = Rows.of(codes, {metric.key: values}, fidelity=200, seed=0, train_time_s=10.0)
    shutil.rmtree(folder, ignore_errors=True)
    write_results(folder, TableInfo("made-up", searched, (metric,)), [rows])


def run(folder: Path, *options: str, out: str = "out", methods: str = "rs,mine.py:Greedy") -> Result:
    optimizers = [f"{folder / name}" if ":" in name else name for name in methods.split(",")]
    return CliRunner().invoke(
        app,
        ["run", str(folder / "table"), "--optimizers", ",".join(optimizers), "--seeds", "2", "--budget", "15ev", "--engine",
         "serial", "--out", str(folder / out), *options],
    )  # fmt: skip


def report(folder: Path) -> Result:
    return CliRunner().invoke(app, ["report", str(folder / "out")])


def numbers(result: Result) -> dict[str, str]:
    """The mean regret that the terminal shows, by method."""
    assert result.exit_code == 0, result.output
    return dict(re.findall(r"^(\S+)(?: \(out of date\))?(?: \*)? +\d+ +(\S+ \[\S+\])", result.stdout, re.MULTILINE))


def refusal(result: Result) -> str:
    assert isinstance(result.exception, NasbedError), result.output
    line = str(result.exception)
    assert "\n" not in line and "regret" not in result.stdout
    return line


def write_project(folder: Path) -> Path:
    """A folder with a table, a method of the user's own and their comparison, and a copy of it beside."""
    folder.mkdir(parents=True)
    write_table(folder / "table", seed=0)
    (folder / "mine.py").write_text(METHOD)
    (folder / "step.py").write_text("probability = 0.0\n")
    assert run(folder).exit_code == 0
    shutil.copytree(folder, folder.with_name("copy"))
    return folder


def restore(folder: Path) -> Path:
    """The folder as it was, at the path that its runs name."""
    shutil.rmtree(folder)
    return Path(shutil.copytree(folder.with_name("copy"), folder))
