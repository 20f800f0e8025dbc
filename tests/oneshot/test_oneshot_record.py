"""Records of searches: written, read back to the last bit, and refused in one line when they are anything else."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from nasbed.core.architecture import Architecture
from nasbed.core.checksummed_json import sealed
from nasbed.core.errors import BadFile
from nasbed.oneshot import SearchEpoch, SearchResult, SearchSettings
from nasbed.oneshot.export import export_search
from nasbed.oneshot.record import SearchRecord, read_record, versions_used, write_record
from nasbed.results.store import Results


def record(*, epochs: int = 3, **changed: Any) -> SearchRecord:
    rng = np.random.default_rng(0)
    search_epochs = tuple(
        SearchEpoch(
            epoch=number,
            architecture=Architecture("nb201", (number % 5, 1, 2, 3, 4, 0)),
            validation_accuracy=10 / 3 * number,
            train_loss=float(rng.normal() ** 2),
            skips={"cell": number},
            parameters={
                "alphas": rng.normal(size=(1, 6, 5)).astype(np.float32),
                "betas": rng.normal(size=(1, 6)),
                "empty": np.zeros((0, 3), dtype=np.float32),
                "single": np.float32(1 / 3) * np.ones((), dtype=np.float32),
                "count": np.array([2**53 + 1]),
            },
            search_time_s=0.1 * number,
            eigenvalue=(None, 0.1, math.inf)[number % 3],
        )
        for number in range(1, epochs + 1)
    )
    searched = SearchRecord(
        method="pc-darts",
        space="nb201",
        dataset="digits",
        dataset_hash="ab" * 8,
        seed=2**40,
        settings=SearchSettings(epochs=epochs, batch=8, split=(20, 10), epoch_images=16, gradient_clip=None),
        options={"partial": 2, "adam_betas": [0.5, 0.9]},
        device="NVIDIA \u201cH200\u201d",
        versions=versions_used(),
        searched=SearchResult(
            "ok", search_epochs[-1].architecture if search_epochs else None, search_epochs, 0.1 * epochs
        ),
    )
    return replace(searched, **changed)


def test_record_reads_back_to_the_last_bit(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "search.json"
    written = record()
    write_record(written, path)
    stored = read_record(path)
    for name in SearchRecord.__dataclass_fields__:
        if name != "searched":
            assert getattr(stored, name) == getattr(written, name), name
    before, after = written.searched, stored.searched
    assert (after.status, after.architecture, after.search_time_s) == ("ok", before.architecture, before.search_time_s)
    for old, new in zip(before.epochs, after.epochs, strict=True):
        assert {**asdict(old), "parameters": None} == {**asdict(new), "parameters": None}
        for name, values in old.parameters.items():
            assert new.parameters[name].dtype == values.dtype and new.parameters[name].shape == values.shape
            assert new.parameters[name].tobytes() == values.tobytes()
    content = path.read_bytes()
    write_record(stored, path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["search.json"]


@pytest.mark.parametrize("status", ["stopped", "diverged"])
def test_record_keeps_how_a_search_ended(tmp_path: Path, status: Literal["stopped", "diverged"]) -> None:
    written = record()
    arch = None if status == "diverged" else written.searched.epochs[0].architecture
    result = replace(written.searched, status=status, architecture=arch, reason="as asked")
    write_record(replace(written, searched=result), tmp_path / "search.json")
    stored = read_record(tmp_path / "search.json").searched
    assert (stored.status, stored.architecture, stored.reason) == (status, arch, "as asked")


def test_record_of_a_search_that_diverged_at_once_has_no_epochs(tmp_path: Path) -> None:
    written = replace(
        record(), searched=SearchResult("diverged", None, (), 0.0, "the loss of epoch 1 is not a finite number")
    )
    write_record(written, tmp_path / "search.json")
    assert read_record(tmp_path / "search.json").searched.epochs == ()


def damaged(tmp_path: Path, **changed: Any) -> Path:
    """A record with other members and a new seal."""
    path = tmp_path / "search.json"
    write_record(record(), path)
    data = {name: value for name, value in json.loads(path.read_bytes()).items() if name != "sha256"} | changed
    path.write_bytes(sealed({name: value for name, value in data.items() if value is not ...}))
    return path


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"method": ...}, "lacks 'method'"),
        ({"method": 3}, "method is text, got 3"),
        ({"epochs": 3}, "not a complete record"),
        ({"epochs": [3]}, "not a complete record"),
        ({"epochs": []}, None),
        ({"status": "fine"}, "status 'fine'"),
        ({"status": "diverged"}, "status 'diverged' cannot have this result"),
        ({"code": None}, "status 'ok' cannot have this result"),
        ({"code": ["a"]}, "whole numbers"),
        ({"settings": {}}, "lacks 'split'"),
        ({"settings": {"split": None, "batches": 3}}, "batches"),
        ({"settings": {"split": None, "batch": 0}}, "batch"),
        ({"seed": "many"}, "not a complete record"),
        ({"format": "nasbed search record 2"}, "this nasbed reads"),
        ({"format": "a poem"}, "not a record of a search"),
    ],
)
def test_record_refuses_what_it_cannot_be(tmp_path: Path, changed: dict[str, Any], message: str | None) -> None:
    path = damaged(tmp_path, **changed)
    if message is None:
        read_record(path)
        return
    with pytest.raises(BadFile, match=message) as caught:
        read_record(path)
    assert len(str(caught.value).splitlines()) == 1 and str(path) in str(caught.value)


def test_record_refuses_odd_epochs(tmp_path: Path) -> None:
    path = damaged(tmp_path)
    epochs = json.loads(path.read_bytes())["epochs"]
    with pytest.raises(BadFile, match="counted from 1"):
        read_record(damaged(tmp_path, epochs=epochs[1:]))
    epochs[0]["parameters"]["alphas"]["shape"] = [7]
    with pytest.raises(BadFile, match="not a complete record"):
        read_record(damaged(tmp_path, epochs=epochs))
    epochs[0]["parameters"]["alphas"]["dtype"] = "object"
    with pytest.raises(BadFile, match="architecture parameters are float16"):
        read_record(damaged(tmp_path, epochs=epochs))


def test_record_that_was_changed_or_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    with pytest.raises(BadFile, match="cannot be read"):
        read_record(path)
    write_record(record(), path)
    path.write_bytes(path.read_bytes().replace(b"pc-darts", b"pb-darts"))
    with pytest.raises(BadFile, match="SHA-256"):
        read_record(path)
    for text in ("", "[1, 2]", "{}", "{", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(BadFile, match="not a record of a search"):
            read_record(path)


def test_record_is_read_without_torch(tmp_path: Path) -> None:
    write_record(record(), tmp_path / "search.json")
    code = (
        "import sys; from pathlib import Path; from nasbed.oneshot.record import read_record; "
        f"read_record(Path({str(tmp_path / 'search.json')!r})); print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_export_search_makes_a_table_with_a_row_an_epoch(tmp_path: Path) -> None:
    """The supernet's accuracy has no split, so that no surrogate is fitted on it by default."""
    written = record()
    export_search(written, tmp_path / "results")
    table = Results.open(tmp_path / "results")
    table.verify()
    assert table.about.name == "search-pc-darts-nb201-digits" and table.about.dataset == "digits"
    assert [(metric.key, metric.split) for metric in table.about.metrics] == [
        ("supernet_accuracy", None),
        ("supernet_loss", None),
    ]
    (rows,) = table.batches()
    assert rows.fidelity.tolist() == [1, 2, 3] and set(rows.method) == {"pc-darts"}
    assert [tuple(code) for code in rows.codes.tolist()] == [e.architecture.code for e in written.searched.epochs]
    assert rows.values["supernet_accuracy"].tolist() == [e.validation_accuracy for e in written.searched.epochs]
