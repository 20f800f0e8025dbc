"""``nasbed space`` and ``nasbed list`` as a user meets them: output, files and exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import nasbed
from nasbed.experiments.architecture_lists import listed_architectures
from support.commands import run_command


def ok(*arguments: str, cwd: Path | None = None) -> str:
    outcome = run_command(*arguments, cwd=cwd)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_version() -> None:
    assert ok("--version").strip() == f"nasbed {nasbed.__version__}"


def test_list_spaces_shows_exact_sizes() -> None:
    sizes = {entry["name"]: entry["size"] for entry in json.loads(ok("list", "spaces", "--json"))}
    assert sizes["nb101"] == 423_624 and sizes["nb201"] == 15_625 and sizes["fbnet"] == 9**22
    assert "423 624" in ok("list", "spaces")
    assert [entry["name"] for entry in json.loads(ok("list", "spaces", "nb*", "--json"))] == ["nb101", "nb201"]


@pytest.mark.parametrize("name", ["nb101", "darts", "transnas-macro"])
def test_sample_is_what_the_library_samples(name: str) -> None:
    space = nasbed.space(name)
    rng = np.random.default_rng(5)
    expected = [space.format(space.sample(rng)) for _ in range(3)]
    assert ok("space", "sample", name, "-n", "3", "--seed", "5").splitlines() == expected
    assert [
        entry["text"] for entry in json.loads(ok("space", "sample", name, "-n", "3", "--seed", "5", "--json"))
    ] == expected


def test_sample_writes_a_design_as_a_list_for_a_campaign(tmp_path: Path) -> None:
    text = ok("space", "sample", "darts", "--design", "topologies", "--out", "cells.txt", cwd=tmp_path)
    assert text.strip() == "1800 architectures in cells.txt"
    assert len(listed_architectures("cells.txt", nasbed.space("darts"), tmp_path)) == 1800
    outcome = run_command("space", "sample", "nb201", "--design", "topologies")
    assert outcome.returncode == 2 and "nb201 has no design 'topologies'; known: lhs, random, sobol" in outcome.stderr


def test_parse_gives_the_published_hash_and_parameters() -> None:
    text = "conv1x1:0/conv3x3:0/conv3x3:0/conv3x3:3/maxpool3x3:0/output:1,2,4,5"
    output = json.loads(ok("space", "parse", "nb101", text, "--json"))
    assert output["hash"] == "28cfc7874f6d200472e1a9dcd8650aa0"
    assert output["parameters"] == 2_694_282
    assert "2 694 282" in ok("space", "parse", "nb101", text)


def test_info_names_the_paper() -> None:
    assert "arXiv:1902.09635" in ok("space", "info", "nb101")
    assert json.loads(ok("space", "info", "darts", "--json"))["size"] == 1_076_746_950_455_072_400


def test_neighbors_prints_one_a_line() -> None:
    assert len(ok("space", "neighbors", "transnas-micro", "102333").splitlines()) == 18


def test_enumerate_counts_and_lists() -> None:
    assert ok("space", "enumerate", "transnas-macro", "--count-only").split()[-1] == "256"
    assert len(set(ok("space", "enumerate", "transnas-macro").splitlines())) == 3_256


@pytest.mark.parametrize("suffix", ["parquet", "csv", "txt"])
def test_enumerate_writes_a_table(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cells.{suffix}"
    ok("space", "enumerate", "nb201", "--out", str(path))
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    if suffix == "parquet":
        table = pq.read_table(path)
        assert len(table) == 15_625 and max(table["parameters"].to_pylist()) == 1_531_546
    else:
        assert len(path.read_text().splitlines()) == 15_625 + (suffix == "csv")


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_draw_writes_the_picture(tmp_path: Path, suffix: str) -> None:
    ok("space", "draw", "darts", "--out", f"cell.{suffix}", cwd=tmp_path)
    assert (tmp_path / f"cell.{suffix}").stat().st_size > 1000
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("space", "sample", "nb102"), "did you mean nb101"),
        (("space", "parse", "nb201", "junk"), "an nb201 cell reads"),
        (("space", "enumerate", "darts"), "can be listed, darts has about 10^18"),
        (("space", "enumerate", "darts", "--out", "x.csv"), "can be listed"),
        (("space", "enumerate", "nb201", "--out", "x.xlsx"), ".parquet, .csv or .txt"),
        (("space", "draw", "nb201", "--out", "x.gif"), ".svg, .png or .pdf"),
        (("space", "draw", "nb201", "--out", "no/such/folder/x.svg"), "folder"),
        (("space", "draw", "nb201", "--out", "."), "name a file"),
        (("space", "enumerate", "nb201", "--out", "no/such/folder/x.csv"), "No such file"),
    ],
)
def test_user_errors_are_one_line_and_exit_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    outcome = run_command(*arguments, cwd=tmp_path)
    assert outcome.returncode == 2
    assert message in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1 and "Traceback" not in outcome.stderr
    assert list(tmp_path.iterdir()) == [], "nothing half-written is left"


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m nasbed space enumerate nb201 | head -n 1"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert process.stdout.startswith("|none~0|") and "Traceback" not in process.stderr
