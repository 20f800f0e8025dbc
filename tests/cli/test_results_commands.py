"""``nasbed results …`` as a user meets it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow.csv as pa_csv
import pytest

from support.commands import run_command

CELLS = [
    "|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_3x3~1|skip_connect~2|",
    "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|",
]


def run(*arguments: object, home: Path) -> CompletedProcess[str]:
    return run_command(*arguments, cwd=home, env={**os.environ, "NASBED_HOME": str(home)})


def ok(*arguments: object, home: Path) -> str:
    outcome = run(*arguments, home=home)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small tables, imported where nasbed looks for them by name."""
    folder = tmp_path_factory.mktemp("home")
    for name, accuracies in (("one", (93.5, 10.0)), ("two", (93.5, 11.0))):
        rows = "".join(f'"{cell}",{accuracy},1\n' for cell, accuracy in zip(CELLS, accuracies, strict=True))
        (folder / f"{name}.csv").write_text("architecture,acc,seed\n" + rows)
        options = ["space=nb201", f"name=mine/{name}", "metrics=test_accuracy=acc:%:maximize:0:100", "fidelity=200"]
        options += ["seed=seed", "dataset=cifar10", "citation=Somebody 2024", "licence=CC0"]
        flags = [part for option in options for part in ("--option", option)]
        ok("import", "table", folder / f"{name}.csv", *flags, home=folder)
    return folder


def test_info_by_name_and_by_folder(home: Path) -> None:
    by_name = json.loads(ok("results", "info", "mine/one", "--json", home=home))
    assert by_name == json.loads(ok("results", "info", home / "tables" / "mine" / "one", "--json", home=home))
    assert by_name["rows"] == 2 and by_name["best"]["test_accuracy"]["architecture"] == CELLS[0]
    output = ok("results", "info", "mine/one", home=home)
    for part in ("mine/one", "Somebody 2024", "CC0", "200 (2)", "93.5", CELLS[0]):
        assert part in output


def test_verify_says_yes_or_exits_with_2(home: Path) -> None:
    assert "as their checksums say" in ok("results", "verify", "mine/two", home=home)
    assert json.loads(ok("results", "verify", "mine/two", "--json", home=home))["files"] >= 5
    [path] = (home / "tables" / "mine" / "two").glob("data-*/cache/codes.npy")
    original, status = path.read_bytes(), path.stat()
    path.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    outcome = run("results", "verify", "mine/two", home=home)
    path.write_bytes(original)
    assert outcome.returncode == 2 and len(outcome.stderr.strip().splitlines()) == 1 and "SHA-256" in outcome.stderr


def test_export_writes_the_file(home: Path) -> None:
    assert "2 rows in" in ok("results", "export", "mine/one", "--out", home / "out.csv", home=home)
    read = pa_csv.read_csv(home / "out.csv")
    assert read["architecture"].to_pylist() == CELLS and read["test_accuracy"].to_pylist() == [93.5, 10.0]


def test_merge_takes_shared_rows_once_and_says_so(home: Path) -> None:
    output = ok("results", "merge", "mine/one", "mine/two", "--out", home / "both", "--name", "mine/both", home=home)
    assert "mine/both: 3 rows, 2 architectures" in output and "1 shared rows taken once" in output
    assert json.loads(ok("results", "info", home / "both", "--json", home=home))["rows"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "no/such"), "no/such does not exist"),
        (("info", "../up"), "../up does not exist"),
        (("verify", "."), "is not a results folder, it lacks manifest.json"),
        (("export", "mine/one", "--out", "x.json"), "exported as .csv or .parquet"),
        (("export", "mine/one", "--out", "no/such/folder/x.csv"), "No such file"),
        (("merge", "mine/one", "mine/two", "--out", "new"), "name the merged one (--name)"),
        (("merge", "mine/one", "--out", "new"), "two tables or more"),
    ],
)
def test_user_errors_are_one_line_and_exit_2(home: Path, arguments: tuple[str, ...], message: str) -> None:
    before = sorted(home.iterdir())
    outcome = run("results", *arguments, home=home)
    assert outcome.returncode == 2 and message in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1 and "Traceback" not in outcome.stderr
    assert sorted(home.iterdir()) == before
