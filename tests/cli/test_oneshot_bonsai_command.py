"""``nasbed oneshot bonsai-net`` as a user meets it: a search from end to end, killed and resumed, and refused in one
line; and the records of earlier versions."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.cli import main
from nasbed.core.checksummed_json import sealed
from nasbed.core.errors import BadFile
from nasbed.oneshot import METHODS, BonsaiSettings
from nasbed.oneshot.record import SearchRecord, read_record, write_record
from nasbed.results import Results
from nasbed.spaces.bonsai import BonsaiGenotype, Frame
from nasbed.spaces.bonsai.cell_text import cell_lines
from support.forks import fork_command

SIZE = ("--epochs", "6", "--channels", "4", "--batch", "16", "--epoch-images", "32", "--seed", "3", "--device", "cpu")
SETTINGS = (
    "cells=nr", "nodes=1", "split=[400,100]", "interval=1", "compression=20", "input_compression=20", "target=0.2",
    "least_open=0.5",
)  # fmt: skip
BONSAI = ("bonsai-net", *SIZE, *(text for setting in SETTINGS for text in ("--set", setting)))
DARTS = ("gdas", "--epochs", "1", "--channels", "4", "--cells", "1", "--space", "nb201", *SIZE[4:])
RECIPE = """
name = "quick"
epochs = [1]
batch = 32
learning_rate = 0.1
epoch_images = 64
"""


def nasbed_oneshot(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["nasbed", "oneshot", *arguments])
    with pytest.raises(SystemExit) as error:
        main()
    return int(error.value.code or 0)


def without_times(path: Path) -> dict[str, Any]:
    """All of a record but its times and its seal."""
    data = json.loads(path.read_bytes())
    epochs = [{**epoch, "search_time_s": 0.0} for epoch in data["epochs"]]
    return {**data, "search_time_s": 0.0, "sha256": "", "epochs": epochs}


@pytest.mark.thorough
@pytest.mark.kill
def test_bonsai_killed_resumes_to_the_same_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cut, complete = tmp_path / "cut", tmp_path / "whole"
    words = ("oneshot", *BONSAI, "--out", str(cut))
    with fork_command(*words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None and running.stdout.readline().startswith("epoch 1: keeps ")
        running.send_signal(signal.SIGKILL)
    assert (cut / "search.ckpt").exists() and not (cut / "search.json").exists()
    assert nasbed_oneshot(monkeypatch, *DARTS, "--out", str(cut)) == 2
    assert "a search with method 'bonsai-net', not 'gdas'" in capsys.readouterr().err

    assert nasbed_oneshot(monkeypatch, *BONSAI, "--out", str(cut)) == 0
    assert "resuming from" in capsys.readouterr().err
    assert nasbed_oneshot(monkeypatch, *BONSAI, "--out", str(complete)) == 0
    printed = capsys.readouterr()
    record = read_record(complete / "search.json")
    assert without_times(cut / "search.json") == without_times(complete / "search.json")

    assert printed.err == ""
    lines = printed.out.splitlines()
    epochs, architecture = record.searched.epochs, record.searched.architecture
    assert architecture is not None and len(epochs) == 6 and record.space == "bonsai-nr-1"
    last = BonsaiGenotype.of(architecture)
    different = [
        epoch
        for before, epoch in zip((None, *epochs), epochs, strict=False)
        if before is None or before.architecture != epoch.architecture
    ]
    reported = [line for line in lines if line.startswith("epoch ")]
    assert len(reported) == len(different)
    for line, epoch in zip(reported, different, strict=True):
        assert line.startswith(f"epoch {epoch.epoch}: keeps {epoch.figures['operations']} of 28 operations, ")
        assert f"{epoch.figures['network_parameters']:_} parameters".replace("_", " ") in line
    assert f"{last.kept} kept of 28, {28 - epochs[-1].figures['present']} removed for good" in printed.out
    assert all(line in lines for line in cell_lines(last))
    assert {path.name for path in complete.iterdir()} == {"search.json", "search.ckpt", "cells.svg", "results"}
    table = Results.open(complete / "results")
    assert table.space.name == "bonsai-nr-1" and table.manifest.rows == 6
    drawn = [
        element.attrib["data-node"]
        for element in ET.parse(complete / "cells.svg").iter()
        if "data-node" in element.attrib
    ]
    assert sum(name.count("-") == 2 for name in drawn) == last.kept


def test_bonsai_trains_what_it_found_and_says_when_it_has_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    recipe, out = tmp_path / "quick.toml", tmp_path / "out"
    recipe.write_text(RECIPE)
    arguments = (*BONSAI, "--epochs", "2", "--out", str(out))
    assert nasbed_oneshot(monkeypatch, *arguments, "--json") == 0
    printed = capsys.readouterr()
    first = json.loads(printed.out)
    assert printed.err.startswith("epoch 1: keeps ")
    assert first["status"] == "ok" and first["settings"]["split"] == [400, 100] and first["trained"] is None
    assert [epoch["epoch"] for epoch in first["epochs"]] == [1, 2]
    assert BonsaiGenotype.from_json(first["architecture"]).kept == first["epochs"][-1]["operations"]

    assert nasbed_oneshot(monkeypatch, *arguments, "--train", str(recipe)) == 0
    printed = capsys.readouterr()
    assert "has ended already" in printed.err and "epoch 1:" not in printed.out
    assert "  quick, 1 epoch, seed 3: ok" in printed.out
    outcome = json.loads((out / "trained.json").read_text())
    assert f"{outcome['test_accuracy']:.2f} %" in printed.out

    for options, message in (
        (("--seed", "4"), "holds a search with seed 3, not 4"),
        (("--set", "target=0.3"), "holds a search with target 0.2, not 0.3"),
        (("--channels", "5"), "holds a search with channels 4, not 5"),
    ):
        assert nasbed_oneshot(monkeypatch, *arguments, *options) == 2
        assert message in capsys.readouterr().err
    assert nasbed_oneshot(monkeypatch, *DARTS, "--out", str(out)) == 2
    assert "holds a search with method 'bonsai-net', not 'gdas'" in capsys.readouterr().err


def test_bonsai_that_diverges_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wild = ("--set", "learning_rate=1e30", "--set", "gradient_clip=null", "--train", "small")
    for _ in range(2):
        assert nasbed_oneshot(monkeypatch, *BONSAI, *wild, "--out", str(tmp_path)) == 0
        printed = capsys.readouterr().out
        assert "diverged: " in printed and "not a finite number" in printed
    assert not (tmp_path / "cells.svg").exists() and not (tmp_path / "trained.json").exists()
    assert read_record(tmp_path / "search.json").searched.architecture is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bonsai",), "no one-shot method is called 'bonsai'; did you mean bonsai-net"),
        (("bonsai-net", "--space", "darts"), "--space is not for bonsai-net, which has a space of its own"),
        (("bonsai-net", "--cells", "8"), "name them with --set cells=nrn"),
        (("bonsai-net", "--stop", "skips"), "--stop is not for bonsai-net"),
        (("bonsai-net", "--set", "targt=0.1"), "bonsai-net has no setting 'targt'; did you mean target"),
        (("bonsai-net", "--set", "batch=3"), "batch has its own option; use --batch"),
        (("bonsai-net", "--set", "supernet.flip=true"), "use --set flip=…"),
        (("bonsai-net", "--set", "target=few"), "the target of Bonsai-Net is a number, got 'few'"),
        (("bonsai-net", "--set", "target=2"), "the target of Bonsai-Net is above 0 and up to 1, got 2"),
        (("bonsai-net", "--set", "cells=3"), "letters n (normal) and r (reducing), such as nrn, got 3"),
        (("bonsai-net", "--set", "split=5"), "the split of a recipe is a list of whole numbers, got 5"),
        (("bonsai-net", "--precision", "half"), "float32 or bfloat16, got 'half'"),
        (("bonsai-net", "--dataset", "digit"), "no dataset is called 'digit'; did you mean digits"),
        (("bonsai-net", "--train", "smal"), "did you mean small"),
        (
            ("bonsai-net", "--train", "small-darts"),
            "the skeleton is for cells 3, the architecture has 'nrn'",
        ),
        (("bonsai-net", "--train", "snb-darts"), "networks of bonsai have no auxiliary classifier"),
        (("bonsai-net", "--device", "gpu"), "a device is auto"),
    ],
)
def test_bonsai_user_errors_are_one_line_and_leave_nothing(
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


def test_bonsai_is_listed_with_what_can_be_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nasbed_oneshot(monkeypatch, "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [method["name"] for method in listed] == list(METHODS) and listed[0]["name"] == "bonsai-net"
    settings = listed[0]["settings"]
    assert listed[0]["what"].startswith("Bonsai-Net (Geada") and "Torch" not in listed[0]["what"]
    assert settings["cells"] == "nrn" and not {"epochs", "batch", "precision"} & set(settings)
    assert nasbed_oneshot(monkeypatch, "--help") == 0
    assert "bonsai-net: " in capsys.readouterr().out


# --- the record of earlier versions ----------------------------------------------------------------------------------


def earlier_record(**changed: Any) -> bytes:
    """A record as Bonsai-Net wrote it when it had a format of its own, with other members where asked for."""
    frame = Frame("nr", nodes=1)
    full = BonsaiGenotype.full(frame)
    flags = list(full.flags)
    flags[2] = flags[15] = False  # max_pool_3x3 of the first cell, the stem as an input of the second
    pruned = BonsaiGenotype.from_flags(frame, flags)
    epochs = [
        {
            "epoch": number,
            "architecture": genotype.plain(),
            "operations": genotype.kept,
            "parameters": 2_000,
            "present": 28,
            "size": genotype.size,
            "train_loss": 1 / 3,
            "compression_loss": 0.1,
            "validation_accuracy": accuracy,
            "search_time_s": 0.1 * number,
        }
        for number, (genotype, accuracy) in enumerate(((full, None), (pruned, 200 / 3)), start=1)
    ]
    data = {
        "format": "nasbed bonsai record 1",
        "method": "bonsai-net",
        "dataset": "digits",
        "dataset_hash": "ab" * 8,
        "seed": 2**40,
        "settings": BonsaiSettings(cells="nr", nodes=1, epochs=2, split=(20, 10), gradient_clip=None).plain(),
        "device": "NVIDIA “H200”",
        "versions": {"nasbed": "0.1"},
        "status": "ok",
        "reason": "",
        "architecture": pruned.plain(),
        "search_time_s": 0.2,
        "epochs": epochs,
    }
    return sealed({name: value for name, value in (data | changed).items() if value is not ...})


def test_earlier_record_is_read_and_written_as_those_of_all_methods(tmp_path: Path) -> None:
    earlier, path = tmp_path / "earlier.json", tmp_path / "deep" / "search.json"
    earlier.write_bytes(earlier_record())
    record = read_record(earlier)
    assert (record.method, record.space, record.seed) == ("bonsai-net", "bonsai-nr-1", 2**40)
    assert record.settings == BonsaiSettings(cells="nr", nodes=1, epochs=2, split=(20, 10), gradient_clip=None)
    first, last = record.searched.epochs
    assert first.validation_accuracy is None and last.validation_accuracy == 200 / 3
    assert record.searched.architecture == last.architecture != first.architecture
    assert last.figures == {
        "operations": 27, "network_parameters": 2_000, "present": 28, "size": (2 * 54 - 1) / 108, "compression_loss": 0.1,
    }  # fmt: skip
    write_record(record, path)
    reloaded, content = read_record(path), path.read_bytes()
    assert json.loads(content)["format"] == "nasbed search record 1"
    write_record(reloaded, path)
    assert path.read_bytes() == content
    for name in SearchRecord.__dataclass_fields__:
        if name != "searched":
            assert getattr(reloaded, name) == getattr(record, name)
    assert [(epoch.architecture, epoch.figures) for epoch in reloaded.searched.epochs] == [
        (epoch.architecture, epoch.figures) for epoch in record.searched.epochs
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"dataset": ...}, "lacks 'dataset'"),
        ({"device": 3}, "device is text, got 3"),
        ({"epochs": [3]}, "not a complete record"),
        ({"epochs": []}, "status 'ok' cannot have this result"),
        ({"status": "stopped"}, "status 'stopped'"),
        ({"status": "diverged"}, "status 'diverged' cannot have this result"),
        ({"architecture": None}, "status 'ok' cannot have this result"),
        ({"architecture": BonsaiGenotype.full(Frame("nr", 1)).plain()}, "cannot have this result"),
        ({"architecture": {"cells": "nr"}}, "Bonsai-Net architecture is a JSON object"),
        ({"settings": {"split": None, "batches": 3}}, "batches"),
        ({"settings": {"split": None, "target": 0}}, "target"),
        ({"format": "nasbed bonsai record 2"}, "this nasbed reads"),
        ({"format": "nasbed bonsai net"}, "not a record of a search"),
    ],
)
def test_earlier_record_that_cannot_be_is_refused(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    path = tmp_path / "search.json"
    path.write_bytes(earlier_record(**changed))
    with pytest.raises(BadFile, match=message) as error:
        read_record(path)
    assert len(str(error.value).splitlines()) == 1 and str(path) in str(error.value)


def test_earlier_record_with_odd_epochs_or_changed_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    path.write_bytes(earlier_record())
    first, last = json.loads(path.read_bytes())["epochs"]
    for epochs, message in (
        ([last], "counted from 1"),
        ([{**first, "operations": 3}, last], "epoch 1 does not have the operations"),
    ):
        path.write_bytes(earlier_record(epochs=epochs))
        with pytest.raises(BadFile, match=message):
            read_record(path)
    path.write_bytes(earlier_record().replace(b"digits", b"digitz"))
    with pytest.raises(BadFile, match="SHA-256"):
        read_record(path)


def test_record_is_read_without_torch(tmp_path: Path) -> None:
    (tmp_path / "search.json").write_bytes(earlier_record())
    code = (
        "import sys; sys.modules['torch'] = None; from pathlib import Path; "
        "from nasbed.oneshot.record import read_record; "
        f"print(read_record(Path({str(tmp_path / 'search.json')!r})).searched.status)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "ok"
