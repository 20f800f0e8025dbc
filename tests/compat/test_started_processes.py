"""Drop-ins in the processes that a script starts, and in modules that are run by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nasbed.compat import PACKAGES
from support.surrogates import small_surrogate

SCRIPT = """
import multiprocessing
import sys
from collections import namedtuple

import nasbench301 as nb
from nasbench import api
from nats_bench import create

Genotype = namedtuple("Genotype", "normal normal_concat reduce reduce_concat")
PAIRS = [("sep_conv_3x3", 0), ("skip_connect", 1)] * 4
GENOTYPE = Genotype(PAIRS, [2, 3, 4, 5], PAIRS, [2, 3, 4, 5])


def predict(ensemble):
    import nasbench301.api

    assert nasbench301.api.load_ensemble is nb.load_ensemble
    return [ensemble.predict(GENOTYPE, "genotype") for _ in range(2)]


if __name__ == "__main__":
    ensemble = nb.load_ensemble(sys.argv[1])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.map(predict, [ensemble])
    print(__spec__ and __spec__.name, sys.argv[1:] == [str(sys.argv[1])], there == [predict(ensemble)])
"""


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nasbed.compat", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


@pytest.mark.parametrize("replace", [pytest.param(True, marks=pytest.mark.thorough), False])
def test_module_run_by_name_starts_processes_with_drop_ins(tmp_path: Path, replace: bool) -> None:
    """A spawned process imports the module anew, and gets the ensemble as a pickle."""
    if replace:
        (tmp_path / "nats_bench.py").write_text("create = None")
    folder = small_surrogate(tmp_path, "darts").save(tmp_path / "surrogate")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "search.py").write_text(SCRIPT)
    process = run(*(["--replace"] if replace else []), "-m", "package.search", folder, cwd=tmp_path)
    assert process.stderr == ""
    assert process.stdout.split() == ["package.search", "True", "True"]


@pytest.mark.thorough
def test_script_starts_processes_with_drop_ins(tmp_path: Path) -> None:
    folder = small_surrogate(tmp_path, "darts").save(tmp_path / "surrogate")
    (tmp_path / "search.py").write_text(SCRIPT)
    process = run("search.py", folder, cwd=tmp_path)
    assert (process.stderr, process.stdout.split()) == ("", ["None", "True", "True"])


def test_runner_refuses_a_module_that_cannot_be_run_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty_package").mkdir()
    (tmp_path / "empty_package" / "__init__.py").write_text("")
    process = run("-m", "empty_package", cwd=tmp_path)
    assert process.returncode == 2 and len(process.stderr.splitlines()) == 1
    assert "-m takes the name of a module that can be run, got 'empty_package'" in process.stderr


def test_every_drop_in_has_a_module_for_started_processes() -> None:
    import nasbed.compat.spawned

    [folder] = nasbed.compat.spawned.__path__
    assert {path.stem for path in Path(folder).glob("*.py")} - {"__init__"} == set(PACKAGES)
