"""docs/how-to/other-libraries.md is examples/07 to 11 word for word, and they run where their library is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nasbed import load
from nasbed.optimizers import Optimizer
from nasbed.spaces import SearchSpace, space
from support.documentation import python_blocks

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = {
    name: ROOT / "examples" / f"{number:02}_benchmark_in_{name}.py"
    for number, name in enumerate(("optuna", "smac", "ray_tune", "syne_tune"), start=7)
}
EXAMPLES["workers"] = ROOT / "examples" / "11_parallel_workers.py"
ADAPTED = ROOT / "examples" / "06_methods_from_other_libraries.py"
SHORTER = {"optuna": {"n_trials=20": "n_trials=12"}, "smac": {"n_trials=40": "n_trials=6"}}
"""What takes long, and what runs instead, unless the run is thorough."""


def blocks(page: str) -> list[str]:
    return python_blocks(page)


def test_page_on_other_libraries_has_the_examples_word_for_word() -> None:
    assert blocks("other-libraries") == [path.read_text() for path in EXAMPLES.values()]


@pytest.mark.filterwarnings("ignore")  # of the libraries
@pytest.mark.parametrize("name", ["optuna", "smac", pytest.param("syne_tune", marks=pytest.mark.thorough)])
def test_benchmark_is_searched_by_another_library(
    name: str, thorough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(name, reason=f"needs {name}")
    monkeypatch.chdir(tmp_path)
    code = EXAMPLES[name].read_text()
    for printed, shorter in {} if thorough else SHORTER.get(name, {}).items():
        assert printed in code
        code = code.replace(printed, shorter)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(code, names)
    check_last_line(capsys.readouterr().out, names["benchmark"].space)


@pytest.mark.thorough
@pytest.mark.ray
def test_benchmark_is_searched_by_ray_tune(tmp_path: Path) -> None:
    pytest.importorskip("ray.tune", reason="needs Ray Tune")
    check_last_line(output_of(EXAMPLES["ray_tune"], tmp_path), space("nb101"))


@pytest.mark.thorough
def test_workers_train_what_optuna_asks_for(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="needs optuna")
    output = output_of(EXAMPLES["workers"], tmp_path)
    check_last_line(output, space("nb101"))
    accuracy = load("snb-nb101-cifar10-16-lgb-mf-v1.0").query(output.split()[-1], seed=0)["validation_accuracy"]
    assert output.startswith(f"{accuracy:.2f} % of ")


@pytest.mark.thorough
def test_methods_from_other_libraries_run(tmp_path: Path) -> None:
    pytest.importorskip("smac", reason="needs smac")
    assert output_of(ADAPTED, tmp_path).count("after 60 evaluations") == 4


def test_page_on_methods_makes_methods_from_other_libraries() -> None:
    pytest.importorskip("optuna", reason="needs optuna")
    pytest.importorskip("smac", reason="needs smac")
    names: dict[str, Any] = {"__name__": "mine"}
    (block,) = blocks("methods")
    exec(block, names)
    methods = [value for value in names.values() if isinstance(value, type) and issubclass(value, Optimizer)]
    assert [kind.name for kind in methods] == ["optuna-random", "optuna-tpe", "optuna-nsga2", "smac-gp"]
    for line in block.splitlines()[5:8]:
        assert line in ADAPTED.read_text(), "the command on the page runs another file"


def check_last_line(output: str, space: SearchSpace) -> None:
    """The last line of an output ends with an architecture."""
    space.parse(output.splitlines()[-1].split()[-1])


def output_of(example: Path, folder: Path) -> str:
    """What an example prints when it is run as a script."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, example], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout
