"""What an unknown benchmark's error says: how to fetch it, that a path does not exist, or which id is spelt nearly so."""

from __future__ import annotations

from pathlib import Path

import pytest

from nasbed.benchmarks import load
from nasbed.core.errors import UnknownName
from support.commands import run_command

FETCHABLE = "nb301 can be fetched: nasbed fetch nb301 --unverified"
NO_PATH = "runs/x.parquet does not exist; give the path"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and working directory."""
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("query", "NAME", "x"),
        ("run", "NAME"),
        ("study", "landscape", "NAME", "--out", "out"),
        ("fit", "NAME"),
        ("explore", "NAME"),
        ("proxies", "evaluate", "darts-cifar10-16", "NAME"),
        ("results", "info", "NAME"),
        ("list", "benchmarks", "NAME"),
    ],
    ids=" ".join,
)
def test_every_command_calls_a_path_a_path(words: tuple[str, ...]) -> None:
    output = run_command(*("runs/x.parquet" if word == "NAME" else word for word in words))
    assert output.returncode == 2 and output.stderr.startswith(f"nasbed: {NO_PATH}"), output.stderr
    assert output.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nb301", FETCHABLE),
        ("nb301:mean", FETCHABLE),
        ("snb-darts/cifar10", "snb-darts/cifar10 can be fetched: nasbed fetch nb301"),
        ("transnas", "transnas can be fetched: nasbed fetch transnas says where to download it by hand"),
        ("./nb301", "./nb301 does not exist; did you mean"),
        ("~/tables/mine", "~/tables/mine does not exist"),
        ("mine.snb", "mine.snb does not exist"),
        ("nb201/cifar1O", "no benchmark is called 'nb201/cifar1O'; did you mean nb201/cifar10"),
        ("nb201-cifar10-16-v1.1", "no benchmark is called 'nb201-cifar10-16-v1.1'; did you mean nb201-cifar10-16-v1.0"),
        ("nothing", "no benchmark is called 'nothing'; known: "),
    ],
)
def test_unknown_name_is_answered_by_what_was_most_likely_meant(name: str, message: str) -> None:
    with pytest.raises(UnknownName) as refusal:
        load(name)
    assert str(refusal.value).startswith(message)


def test_existing_folder_that_is_no_benchmark_is_not_called_absent(folder: Path) -> None:
    (folder / "runs").mkdir()
    output = run_command("query", "runs", "x")
    assert "runs exists, but is neither a table (a folder with manifest.json) nor a surrogate" in output.stderr
