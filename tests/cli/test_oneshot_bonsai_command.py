"""``nasbed oneshot bonsai-net`` as a user meets it: a search from end to end, killed and gone on with, and refused in
one line; and the record that it leaves."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.cli import main
from nasbed.core.errors import BadFile
from nasbed.core.sealed_json import sealed
from nasbed.oneshot import METHODS
from nasbed.oneshot.bonsai import BonsaiArchitecture, BonsaiEpoch, BonsaiSearched, BonsaiSettings, Frame
from nasbed.oneshot.bonsai.record import BonsaiRecord, read_bonsai_record, write_bonsai_record
from nasbed.oneshot.bonsai.wording import cell_lines, changes, diagrams
from nasbed.oneshot.record import versions_used

SIZE = ("--epochs", "6", "--channels", "4", "--batch", "16", "--epoch-images", "48", "--seed", "3", "--device", "cpu")
SETTINGS = (
    "cells=nr", "nodes=1", "split=[400,100]", "interval=1", "compression=20", "input_compression=20", "target=0.2",
    "least_open=0.5",
)  # fmt: skip
BONSAI = ("bonsai-net", *SIZE, *(text for each in SETTINGS for text in ("--set", each)))
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
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def told(record: BonsaiRecord) -> dict[str, Any]:
    """All of a record but its times."""
    found = record.searched
    return {
        **{name: getattr(record, name) for name in BonsaiRecord.__dataclass_fields__ if name != "searched"},
        "end": (found.status, found.architecture, found.reason),
        "epochs": [replace(each, search_time_s=0.0) for each in found.epochs],
    }


@pytest.mark.kill
def test_bonsai_killed_goes_on_to_the_same_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    command = [sys.executable, "-u", "-m", "nasbed", "oneshot", *BONSAI, "--out", str(cut)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        assert running.stdout is not None and running.stdout.readline().startswith("epoch 1: keeps ")
        running.send_signal(signal.SIGKILL)
    assert (cut / "search.ckpt").exists() and not (cut / "search.json").exists()
    assert nasbed_oneshot(monkeypatch, *DARTS, "--out", str(cut)) == 2
    assert "a search with method 'bonsai-net', not 'gdas'" in capsys.readouterr().err

    assert nasbed_oneshot(monkeypatch, *BONSAI, "--out", str(cut)) == 0
    assert "going on from" in capsys.readouterr().err
    assert nasbed_oneshot(monkeypatch, *BONSAI, "--out", str(whole)) == 0
    printed = capsys.readouterr()
    record = read_bonsai_record(whole / "search.json")
    assert told(read_bonsai_record(cut / "search.json")) == told(record)

    assert printed.err == ""
    lines = printed.out.splitlines()
    epochs, last = record.searched.epochs, record.searched.architecture
    assert last is not None and len(epochs) == 6
    different = [
        each
        for before, each in zip((None, *epochs), epochs, strict=False)
        if before is None or before.architecture != each.architecture
    ]
    told_of = [line for line in lines if line.startswith("epoch ")]
    assert len(told_of) == len(different)
    for line, each in zip(told_of, different, strict=True):
        assert line.startswith(f"epoch {each.epoch}: keeps {each.operations} of 28 operations, ")
        assert f"{each.parameters:_} parameters".replace("_", " ") in line
    assert f"{last.kept} kept of 28, {28 - epochs[-1].present} removed for good" in printed.out
    assert all(line in lines for line in cell_lines(last))
    assert {each.name for each in whole.iterdir()} == {"search.json", "search.ckpt", "cells.svg"}
    drawn = [each.attrib["data-node"] for each in ET.parse(whole / "cells.svg").iter() if "data-node" in each.attrib]
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
    assert [each["epoch"] for each in first["epochs"]] == [1, 2]
    kept = BonsaiArchitecture.from_json(json.dumps(first["architecture"])).kept
    assert kept == first["epochs"][-1]["operations"]

    assert nasbed_oneshot(monkeypatch, *arguments, "--train", str(recipe)) == 0
    printed = capsys.readouterr()
    assert "has ended already" in printed.err and "epoch 1:" not in printed.out
    assert "  quick, 1 epoch, seed 3: ok" in printed.out
    outcome = json.loads((out / "trained.json").read_text())
    assert f"{outcome['test_accuracy']:.2f} %" in printed.out

    for more, message in (
        (("--seed", "4"), "holds a search with seed 3, not 4"),
        (("--set", "target=0.3"), "holds a search with target 0.2, not 0.3"),
        (("--channels", "5"), "holds a search with channels 4, not 5"),
    ):
        assert nasbed_oneshot(monkeypatch, *arguments, *more) == 2
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
        assert "diverged: " in printed and "no finite number" in printed
    assert not (tmp_path / "cells.svg").exists() and not (tmp_path / "trained.json").exists()
    assert read_bonsai_record(tmp_path / "search.json").searched.architecture is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bonsai",), "no one-shot method is called 'bonsai'; did you mean bonsai-net"),
        (("bonsai-net", "--space", "darts"), "--space is not for bonsai-net, which has a space of its own"),
        (("bonsai-net", "--cells", "8"), "say which with --set cells=nrn"),
        (("bonsai-net", "--stop", "skips"), "--stop is not for bonsai-net"),
        (("bonsai-net", "--set", "targt=0.1"), "bonsai-net has no setting 'targt'; did you mean target"),
        (("bonsai-net", "--set", "batch=3"), "batch has an option of its own; give --batch"),
        (("bonsai-net", "--set", "supernet.flip=true"), "give --set flip=…"),
        (("bonsai-net", "--set", "target=few"), "the target of Bonsai-Net is a number, got 'few'"),
        (("bonsai-net", "--set", "target=2"), "the target of Bonsai-Net is above 0 and up to 1, got 2"),
        (("bonsai-net", "--set", "cells=3"), "letters n (normal) and r (reducing), such as nrn, got 3"),
        (("bonsai-net", "--set", "split=5"), "the split of a recipe is a list of whole numbers, got 5"),
        (("bonsai-net", "--precision", "half"), "float32 or bfloat16, got 'half'"),
        (("bonsai-net", "--dataset", "digit"), "no dataset is called 'digit'; did you mean digits"),
        (("bonsai-net", "--train", "smal"), "did you mean small"),
        (
            ("bonsai-net", "--train", "small-darts"),
            "the skeleton of bonsai-net has no settings, the recipe small-darts",
        ),
        (("bonsai-net", "--train", "snb-darts"), "networks of bonsai-net have no auxiliary classifier"),
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
    assert [each["name"] for each in listed] == sorted([*METHODS, "bonsai-net"])
    settings = listed[0]["settings"]
    assert listed[0]["what"].startswith("Bonsai-Net (Geada") and "Torch" not in listed[0]["what"]
    assert settings["cells"] == "nrn" and not {"epochs", "batch", "precision"} & set(settings)
    assert nasbed_oneshot(monkeypatch, "--help") == 0
    assert "bonsai-net: " in capsys.readouterr().out


# --- the record ------------------------------------------------------------------------------------------------------


def record() -> BonsaiRecord:
    frame = Frame("nr", nodes=1)
    whole = frame.full()
    flags = list(whole.flags)
    flags[2] = flags[15] = False  # max_pool_3x3 of the first cell, the stem as an input of the second
    epochs = tuple(
        BonsaiEpoch(
            epoch=number,
            architecture=arch,
            operations=arch.kept,
            parameters=arch.parameters(channels=4, channels_in=1, classes=10),
            present=28,
            size=arch.size,
            train_loss=1 / 3,
            compression_loss=0.1,
            validation_accuracy=accuracy,
            search_time_s=0.1 * number,
        )
        for number, (arch, accuracy) in enumerate(((whole, None), (frame.architecture(flags), 200 / 3)), start=1)
    )
    return BonsaiRecord(
        dataset="digits",
        dataset_hash="ab" * 8,
        seed=2**40,
        settings=BonsaiSettings(cells="nr", nodes=1, epochs=2, split=(20, 10), gradient_clip=None),
        device="NVIDIA “H200”",
        versions=versions_used(),
        searched=BonsaiSearched("ok", epochs[-1].architecture, None, epochs, 0.2),
    )


def damaged(tmp_path: Path, **changed: Any) -> Path:
    """A record with other members, sealed anew."""
    path = tmp_path / "search.json"
    write_bonsai_record(record(), path)
    data = {name: value for name, value in json.loads(path.read_bytes()).items() if name != "sha256"} | changed
    path.write_bytes(sealed({name: value for name, value in data.items() if value is not ...}))
    return path


def test_bonsai_record_reads_back_to_the_last_bit(tmp_path: Path) -> None:
    path, written = tmp_path / "deep" / "search.json", record()
    write_bonsai_record(written, path)
    found = read_bonsai_record(path)
    assert told(found) == told(written)
    assert found.searched.epochs == written.searched.epochs
    content = path.read_bytes()
    write_bonsai_record(found, path)
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == ["search.json"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"dataset": ...}, "lacks 'dataset'"),
        ({"device": 3}, "device is text, got 3"),
        ({"epochs": [3]}, "no complete record"),
        ({"epochs": []}, "status 'ok' does not end like this"),
        ({"status": "stopped"}, "status 'stopped'"),
        ({"status": "diverged"}, "status 'diverged' does not end like this"),
        ({"architecture": None}, "status 'ok' does not end like this"),
        ({"architecture": Frame("nr", 1).full().plain()}, "does not end like this"),
        ({"architecture": {"cells": "nr"}}, "Bonsai-Net architecture is a JSON object"),
        ({"settings": {"split": None, "batches": 3}}, "batches"),
        ({"settings": {"split": None, "target": 0}}, "target"),
        ({"format": "nasbed bonsai record 2"}, "this nasbed reads"),
        ({"format": "nasbed search record 1"}, "no record of a search by bonsai-net"),
    ],
)
def test_bonsai_record_refuses_what_it_cannot_be(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    path = damaged(tmp_path, **changed)
    with pytest.raises(BadFile, match=message) as refused:
        read_bonsai_record(path)
    assert len(str(refused.value).splitlines()) == 1 and str(path) in str(refused.value)


def test_bonsai_record_refuses_odd_epochs_and_changed_bytes(tmp_path: Path) -> None:
    path = damaged(tmp_path)
    first, last = json.loads(path.read_bytes())["epochs"]
    with pytest.raises(BadFile, match="counted from 1"):
        read_bonsai_record(damaged(tmp_path, epochs=[last]))
    with pytest.raises(BadFile, match="epoch 1 does not have the operations"):
        read_bonsai_record(damaged(tmp_path, epochs=[{**first, "operations": 3}, last]))
    write_bonsai_record(record(), path)
    path.write_bytes(path.read_bytes().replace(b"digits", b"digitz"))
    with pytest.raises(BadFile, match="SHA-256"):
        read_bonsai_record(path)
    for text in ("", "[1, 2]", "{}", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(BadFile, match="no record of a search"):
            read_bonsai_record(path)
    path.unlink()
    with pytest.raises(BadFile, match="cannot be read"):
        read_bonsai_record(path)


def test_bonsai_record_is_read_without_torch(tmp_path: Path) -> None:
    write_bonsai_record(record(), tmp_path / "search.json")
    code = (
        "import sys; sys.modules['torch'] = None; from pathlib import Path; "
        "from nasbed.oneshot.bonsai.record import read_bonsai_record; "
        f"print(read_bonsai_record(Path({str(tmp_path / 'search.json')!r})).searched.status)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "ok"


# --- wording ---------------------------------------------------------------------------------------------------------


def test_changes_and_lines_say_what_is_kept_by_hand() -> None:
    full, pruned = (each.architecture for each in record().searched.epochs)
    assert changes(full, pruned) == "max_pool_3x3 −1, inputs −1"
    assert changes(pruned, full) == "max_pool_3x3 +1, inputs +1" and changes(full, full) == ""
    text = (
        '{"cells": "nrn", "nodes": 2, "kept": [{"inputs": [0], "operations": {"1-2": ["skip_connect"], "2-3": '
        '["sep_conv_3x3", "dil_conv_5x5"]}}, {"inputs": [], "operations": {}}, {"inputs": [0, 1], "operations": '
        '{"1-3": ["max_pool_3x3"]}}]}'
    )
    arch = BonsaiArchitecture.from_json(text)
    assert cell_lines(arch) == [
        "cell 1, normal    1 = stem",
        "                  2 = skip_connect(1)",
        "                  3 = sep_conv_3x3(2) + dil_conv_5x5(2)",
        "cell 2, reducing  is not there",
        "cell 3, normal    1 = stem + cell 1",
        "                  3 = max_pool_3x3(1)",
    ]
    first, last = diagrams(arch)
    assert (first.title, last.title) == ("Cell 1, normal", "Cell 3, normal")
    assert set(last.edges) == {("from 0", "1"), ("from 1", "1"), ("1", "1-3-max_pool_3x3"), ("1-3-max_pool_3x3", "3")}
    assert len(first.edges) == 1 + 2 + 4
    (crowded,) = diagrams(Frame("n", 2).full())
    assert [node.label for node in crowded.nodes if node.kind == "operation"] == ["7 operations"] * 5
