"""``nasbed oneshot`` as a user meets it: a search from end to end, killed and gone on with, and refused in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import nasbed
from nasbed.cli import main
from nasbed.core.locks import waiting_lock
from nasbed.oneshot import METHODS
from nasbed.oneshot.record import SearchRecord, read_record
from nasbed.results.store import Results
from support.forks import Fork, fork_script

SMALL = ("--batch", "16", "--epoch-images", "16", "--device", "cpu", "--set", "supernet.split=[200,64]")
DARTS = ("pc-darts", "--epochs", "3", "--channels", "4", "--cells", "3", *SMALL)
NB201 = ("gdas", "--space", "nb201", "--epochs", "3", "--channels", "4", "--cells", "1", "--seed", "3", *SMALL)
RECIPE = """
name = "quick"
epochs = [1]
batch = 32
learning_rate = 0.1
epoch_images = 64

[skeleton]
channels = 4
cells_per_stage = 1
"""


PAUSED = """
import sys
from nasbed.cli import main
from nasbed.cli.oneshot import search

print_line = search._print_beside_bar

def print_and_wait(*arguments, **options):
    print_line(*arguments, **options)
    sys.stdin.readline()

search._print_beside_bar = print_and_wait
sys.argv = ["nasbed", "oneshot", *sys.argv[1:]]
main()
"""
"""The command, which waits after each line about an epoch until its standard input has another or ends."""


@contextmanager
def paused_search(*arguments: str) -> Iterator[Fork]:
    """A search in a process of its own that has ended its first epoch."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with fork_script(PAUSED, *arguments, **streams) as running:
        assert running.stdout is not None and running.stdout.readline().startswith("epoch 1: ")
        yield running


def nasbed_oneshot(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["nasbed", "oneshot", *arguments])
    with pytest.raises(SystemExit) as error:
        main()
    return int(error.value.code or 0)


def comparable(record: SearchRecord) -> dict[str, Any]:
    """All of a record but its times."""
    searched = record.searched
    return {
        **{name: getattr(record, name) for name in SearchRecord.__dataclass_fields__ if name != "searched"},
        "end": (searched.status, searched.architecture, searched.reason),
        "epochs": [
            (
                epoch.epoch,
                epoch.architecture,
                epoch.validation_accuracy,
                epoch.train_loss,
                dict(epoch.skips),
                {name: values.tobytes() for name, values in epoch.parameters.items()},
            )
            for epoch in searched.epochs
        ],
    }


@pytest.mark.kill
@pytest.mark.parametrize(
    "arguments", [pytest.param(DARTS, id="pc-darts", marks=pytest.mark.thorough), pytest.param(NB201, id="gdas")]
)
def test_oneshot_killed_resumes_to_the_same_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    cut, complete = tmp_path / "cut", tmp_path / "whole"
    with paused_search(*arguments, "--out", str(cut)) as running:
        running.kill()
    assert (cut / "search.ckpt").exists() and not (cut / "search.json").exists()

    assert nasbed_oneshot(monkeypatch, *arguments, "--out", str(cut)) == 0
    assert "resuming from" in capsys.readouterr().err
    assert nasbed_oneshot(monkeypatch, *arguments, "--out", str(complete)) == 0
    printed = capsys.readouterr()
    record = read_record(complete / "search.json")
    assert comparable(read_record(cut / "search.json")) == comparable(record)

    assert printed.err == ""
    assert record.searched.architecture is not None
    text = nasbed.space(record.space).format(record.searched.architecture)
    lines = printed.out.splitlines()
    different = [
        epoch.epoch
        for before, epoch in zip((None, *record.searched.epochs), record.searched.epochs, strict=False)
        if before is None or before.architecture != epoch.architecture
    ]
    assert [line.split(":")[0] for line in lines if line.startswith("epoch ")] == [f"epoch {n}" for n in different]
    assert any(line.split() == ["architecture", text] for line in lines)
    assert "supernet accuracy" in printed.out and " = " in printed.out
    assert (complete / "cells.svg").read_text().startswith("<svg")
    results = Results.open(complete / "results")
    assert (results.manifest.rows, results.about.metrics[0].key) == (len(record.searched.epochs), "supernet_accuracy")


def test_oneshot_second_process_waits_for_the_first_and_finds_its_search(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The second is this process; the first continues once the second says that it waits."""
    out = tmp_path / "new" / "out"
    with paused_search(*NB201, "--out", str(out)) as first:

        def wait(path: Path, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
            def resume() -> None:
                on_wait()
                assert first.stdin is not None
                first.stdin.close()

            return waiting_lock(path, resume)

        monkeypatch.setattr("nasbed.core.locks.waiting_lock", wait)
        assert nasbed_oneshot(monkeypatch, *NB201, "--out", str(out)) == 0
        assert first.wait(60) == 0
        waits, end_line = capsys.readouterr().err.splitlines()[:2]
        assert f"another process is working in {out}" in waits and "has ended already" in end_line
    assert not list(out.glob("*.lock"))


def test_oneshot_out_that_can_be_no_folder_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for out in ("file", "file/below"):
        assert nasbed_oneshot(monkeypatch, *NB201, "--out", str(tmp_path / out)) != 0
        assert f"{tmp_path / out} cannot be one" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_oneshot_trains_what_it_found_and_says_when_it_has_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recipe, out = tmp_path / "quick.toml", tmp_path / "out"
    recipe.write_text(RECIPE)
    arguments = ("random-ws", *NB201[1:3], "--epochs", "2", *NB201[5:], "--set", "samples=3", "--out", str(out))
    assert nasbed_oneshot(monkeypatch, *arguments, "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert first["status"] == "ok" and first["options"] == {"samples": 3} and first["trained"] is None
    assert [epoch["epoch"] for epoch in first["epochs"]] == [1, 2]
    assert first["epochs"][-1]["architecture"] == first["architecture"]

    assert nasbed_oneshot(monkeypatch, *arguments, "--train", str(recipe)) == 0
    printed = capsys.readouterr()
    assert "has ended already" in printed.err
    assert "  quick, 1 epoch, seed 3: ok" in printed.out
    assert "validation accuracy" in printed.out and "test accuracy" in printed.out
    outcome = json.loads((out / "trained.json").read_text())
    assert f"{outcome['test_accuracy']:.2f} %" in printed.out

    assert nasbed_oneshot(monkeypatch, *arguments, "--seed", "4") == 2
    assert "holds a search with seed 3, not 4" in capsys.readouterr().err
    assert nasbed_oneshot(monkeypatch, *arguments, "--set", "samples=4") == 2
    assert "with options {'samples': 3}, not {'samples': 4}" in capsys.readouterr().err


def test_oneshot_stops_by_a_rule_and_continues_without_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("nasbed.oneshot.stopping.skip_rule.__kwdefaults__", {"skips": 0})
    arguments = (*NB201[:3], "--epochs", "2", *NB201[5:], "--out", str(tmp_path / "out"))
    for _ in range(2):
        assert nasbed_oneshot(monkeypatch, *arguments, "--stop", "skips") == 0
        assert "stopped: stopped after epoch 1" in capsys.readouterr().out
        assert len(read_record(tmp_path / "out" / "search.json").searched.epochs) == 1
    assert nasbed_oneshot(monkeypatch, *arguments) == 0
    searched = read_record(tmp_path / "out" / "search.json").searched
    assert (searched.status, len(searched.epochs)) == ("ok", 2)


def test_oneshot_that_diverges_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wild = ("--set", "supernet.learning_rate=1e30", "--set", "supernet.gradient_clip=null")
    assert nasbed_oneshot(monkeypatch, *NB201, *wild, "--out", str(tmp_path / "out")) == 0
    printed = capsys.readouterr().out
    assert "diverged: " in printed and "not a finite number" in printed
    searched = read_record(tmp_path / "out" / "search.json").searched
    assert searched.status == "diverged" and searched.architecture is None
    assert (tmp_path / "out" / "results").exists() == bool(searched.epochs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gdaz",), "no one-shot method is called 'gdaz'; did you mean gdas"),
        (("gdas", "--space", "nb101"), "no space with a supernet is called 'nb101'; did you mean nb201"),
        (("gdas", "--dataset", "digit"), "no dataset is called 'digit'; did you mean digits"),
        (("drnas", "--channels", "4", "--cells", "3"), "one channel in 6 goes through an edge's operations, got cells"),
        (("darts", "--set", "partial=2"), "the method has no setting 'partial'"),
        (("pc-darts", "--set", "partial=few"), "the setting partial has the type of its default 4, got 'few'"),
        (("pc-darts", "--set", "partial=0"), "one channel in 1, 2 or more goes through an edge, got partial 0"),
        (("darts", "--set", "deviation=true"), "the setting deviation has the type of its default 0.001, got True"),
        (("darts", "--set", "supernet.batch=3"), "use --batch"),
        (("darts", "--set", "supernet.flipp=true"), "did you mean flip"),
        (("darts", "--set", "supernet.split=5"), "the settings of the supernet are invalid"),
        (("darts", "--stop", "skip"), "a search is stopped by skips or eigenvalue, got 'skip'"),
        (("darts", "--stop", "eigenvalue", "--set", "supernet.eigenvalue_images=0"), "needs eigenvalues"),
        (("darts", "--precision", "half"), "float32 or bfloat16, got 'half'"),
        (("darts", "--train", "smal"), "did you mean small"),
        (("darts", "--train", "small-nb201"), "skeleton of darts"),
        (("darts", "--device", "gpu"), "a device is auto"),
    ],
)
def test_oneshot_user_errors_are_one_line_and_leave_nothing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert nasbed_oneshot(monkeypatch, *arguments) == 2
    printed = capsys.readouterr().err
    assert message in printed and len(printed.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_oneshot_lists_its_methods_with_what_can_be_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nasbed_oneshot(monkeypatch, "list", "--json") == 0
    listed = {method["name"]: method for method in json.loads(capsys.readouterr().out)}
    assert set(listed) == set(METHODS)
    assert all(method["what"] for method in listed.values())
    assert listed["random-ws"]["settings"] == {"samples": 1000, "epoch_samples": 10, "judged_images": 1024}
    assert listed["pc-darts"]["settings"]["learning_rate"] == 6e-4
    assert nasbed_oneshot(monkeypatch, "list") == 0
    assert "1907.05737" in capsys.readouterr().out
    assert nasbed_oneshot(monkeypatch, "--help") == 0
    page = capsys.readouterr().out
    assert all(f"{name}: " in page for name in METHODS)


def test_oneshot_without_torch_says_how_to_get_it() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; sys.argv = ['nasbed', 'oneshot', 'darts']; "
        "from nasbed.cli import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2 and "nasbed[torch]" in run.stderr and len(run.stderr.splitlines()) == 1
