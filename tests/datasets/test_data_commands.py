"""``nasbed data`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from support.commands import run_command
from support.dataset_files import competition


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "home"))


def run(*arguments: str) -> CompletedProcess[str]:
    return run_command("data", *arguments)


def test_prepare_list_and_info(tmp_path: Path) -> None:
    images = {part: np.ones((2, 1, 4, 4), np.float32) for part in ("train", "valid", "test")}
    competition(tmp_path / "x", images, {part: np.array([0, 1]) for part in images})
    result = run("prepare", "own@2", "--source", str(tmp_path / "x"), "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["shape"] == [1, 2, 2]
    output = json.loads(run("info", "digits", "--verify", "--json").stdout)
    assert (output["train"], output["test"], output["shape"]) == (1_437, 360, [1, 8, 8])
    assert sum(output["train images a class"]) == 1_437
    assert len(output["hash"]) == 16
    listed = {dataset["name"]: dataset for dataset in json.loads(run("list", "--json").stdout)}
    assert {"own", "own@2", "digits", "mnist", "fashion-mnist", "cifar10", "cifar100"} == set(listed)
    assert [listed[name]["present"] for name in ("own@2", "digits", "cifar10")] == [True, True, False]
    assert "nasbed data prepare cifar10" in listed["cifar10"]["get"]


def test_user_errors_are_one_line_and_status_2(tmp_path: Path) -> None:
    for arguments in (("info", "cifar10"), ("info", "nothing"), ("prepare", "mnist", "--source", str(tmp_path))):
        result = run(*arguments)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert result.stderr.startswith("nasbed: ")
