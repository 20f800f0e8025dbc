"""``nasbed data check``: every kind of fault planted in a clean dataset is found, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from typer.testing import CliRunner

from nasbed.cli.data.check import check
from nasbed.core.errors import BadFile
from nasbed.datasets.unseen.checks.findings import Finding
from nasbed.datasets.unseen.checks.format_checks import check_folder
from nasbed.datasets.unseen.checks.near_duplicates import Projection, close, near_duplicates, usual_distance
from nasbed.datasets.unseen.checks.scanning import scan
from support.examples import examples

SIZES = {"train": 300, "valid": 60, "test": 90}
Arrays = dict[str, NDArray[Any]]


def _quiet(step: str, count: int, total: int | None) -> None: ...


def _clean() -> tuple[Arrays, dict[str, Any]]:
    """Smooth pictures of bytes in three classes, no two alike."""
    rng = np.random.default_rng(0)
    arrays: Arrays = {}
    for part, size in SIZES.items():
        coarse = rng.integers(0, 256, (size, 3, 5, 4))
        arrays[f"{part}_x"] = coarse.repeat(3, axis=2).repeat(3, axis=3).astype(np.float32)
        arrays[f"{part}_y"] = np.arange(size, dtype=np.int64) % 3
    metadata = {"num_classes": 3, "input_shape": [300, 3, 15, 12], "codename": "Clean", "benchmark": 50.0}
    return arrays, metadata


def _write(folder: Path, arrays: Arrays, metadata: object) -> Path:
    folder.mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "metadata").write_text(metadata if isinstance(metadata, str) else json.dumps(metadata))
    return folder


def _texts(folder: Path, severity: str) -> list[str]:
    return [
        f"{finding.about}: {finding.text}" for finding in check_folder(folder, _quiet) if finding.severity == severity
    ]


def test_check_clean_dataset_has_only_notes(tmp_path: Path) -> None:
    findings = check_folder(_write(tmp_path, *_clean()), _quiet)
    assert {finding.severity for finding in findings} == {"note"}
    text = "\n".join(finding.text for finding in findings)
    assert "300 images, 100 to 100 a class (ratio 1.00); always answering class 0 is right in 33.33 %" in text
    assert "whole numbers from 0 to 255" in text


def _set(name: str, index: Any, value: Any) -> Callable[[Arrays, dict[str, Any]], None]:
    def change(arrays: Arrays, metadata: dict[str, Any]) -> None:
        arrays[name][index] = value

    return change


def _replace(name: str, make: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Arrays, dict[str, Any]], None]:
    def change(arrays: Arrays, metadata: dict[str, Any]) -> None:
        arrays[name] = make(arrays[name])

    return change


def _tell(**values: Any) -> Callable[[Arrays, dict[str, Any]], None]:
    def change(arrays: Arrays, metadata: dict[str, Any]) -> None:
        metadata.update(values)
        for key in [key for key, value in values.items() if value is None]:
            del metadata[key]

    return change


def _copy(to: str, at: int, source: str, other_at: int, noise: int = 0) -> Callable[[Arrays, dict[str, Any]], None]:
    def change(arrays: Arrays, metadata: dict[str, Any]) -> None:
        image = arrays[f"{source}_x"][other_at]
        shift = np.random.default_rng(1).integers(-noise, noise + 1, image.shape)
        arrays[f"{to}_x"][at] = np.clip(image + shift, 0, 255)

    return change


def _leak_pixel(arrays: Arrays, metadata: dict[str, Any]) -> None:
    for part in SIZES:
        arrays[f"{part}_x"][:, 1, 2, 3] = arrays[f"{part}_y"]


FAULTS: list[tuple[str, Any, str, str]] = [
    ("NaN", _set("valid_x", (7, 0, 0, 0), np.nan), "error", "valid: values are finite, 1 images"),
    ("infinity", _set("test_x", (7, 0, 0, 0), -np.inf), "error", "test: values are finite, 1 images"),
    ("label too large", _set("test_y", 4, 3), "error", "test_y.npy: labels are 0 to 2, 1 are not: the first is 3 at 4"),
    ("label negative", _set("train_y", 0, -1), "error", "train_y.npy: labels are 0 to 2"),
    ("class missing", _replace("valid_y", lambda y: y % 2), "error", "valid: every class is in every part, 1 of 3"),
    ("class never there", _tell(num_classes=4), "error", "train: every class is in every part, 1 of 4"),
    ("float labels", _replace("train_y", lambda y: y * 1.0), "error", "train_y.npy: values are int64"),
    ("text", _replace("test_x", lambda x: x.astype("U3")), "error", "test_x.npy: values are float32"),
    ("int32 labels", _replace("train_y", lambda y: y.astype(np.int32)), "warning", "train_y.npy: values are int64"),
    ("bytes", _replace("train_x", lambda x: x.astype(np.uint8)), "warning", "these are uint8"),
    ("channels last", _replace("test_x", lambda x: x.transpose(0, 2, 3, 1)), "error", "one shape in all parts"),
    ("three axes", _replace("test_x", lambda x: x[:, 0]), "error", "test_x.npy: images are [n, channels"),
    ("labels short", _replace("test_y", lambda y: y[:-1]), "error", "test_y.npy: labels are a row"),
    ("empty", _replace("test_x", lambda x: x[:0]), "error", "test_x.npy: images are"),
    ("constant", _set("train_x", 5, 9), "warning", "train: 1 images have one value everywhere: number 5"),
    (
        "copy in test",
        _copy("test", 3, "train", 3),
        "error",
        "test: leak: 1 images (1.11 %) are also in train: number 3",
    ),
    ("copy in valid", _copy("valid", 3, "test", 3), "error", "test: leak: 1 images (1.11 %) are also in valid"),
    ("copy within", _copy("train", 3, "train", 6), "warning", "train: 1 images are copies of others"),
    ("other label", _copy("train", 3, "train", 7), "warning", "labels: 2 images are identical to one with another"),
    ("near", _copy("test", 3, "train", 8, noise=2), "warning", "test: 1 images (1.11 %) are nearly those of train"),
    ("near in valid", _copy("valid", 3, "train", 8, noise=2), "warning", "valid: 1 images (1.67 %) are nearly"),
    ("leak pixel", _leak_pixel, "warning", "a single pixel (channel 1, row 2, column 3) predicts 100.00 %"),
    ("scaled", _replace("test_x", lambda x: x / 255), "warning", "parts look scaled differently"),
    ("uneven", _replace("train_y", lambda y: np.where(np.arange(300) < 4, y, 0)), "warning", "train: uneven"),
    ("moved", _replace("test_y", lambda y: np.where(np.arange(90) < 60, 0, y)), "warning", "test: its classes have"),
    ("no classes stated", _tell(num_classes=None), "error", "metadata: num_classes is missing"),
    ("no shape stated", _tell(input_shape=None), "error", "metadata: input_shape is missing"),
    ("no codename", _tell(codename=None), "warning", "metadata: codename is missing"),
    ("no benchmark", _tell(benchmark=None), "warning", "metadata: benchmark is missing"),
    ("classes no number", _tell(num_classes="3"), "error", "metadata: num_classes is a whole number"),
    ("other shape", _tell(input_shape=[300, 3, 12, 15]), "error", "metadata: input_shape is [300, 3, 15, 12]"),
    ("other count", _tell(input_shape=[299, 3, 15, 12]), "warning", "metadata: input_shape begins with 300"),
    ("benchmark text", _tell(benchmark="high"), "error", "metadata: benchmark is an accuracy"),
    ("benchmark share", _tell(benchmark=0.8), "warning", "looks like a share"),
    ("names", _tell(classes=["a", "b"]), "error", "metadata: classes has a name for each"),
    ("made elsewhere", _tell(made_by="nasbed 0"), "warning", "metadata: made_by is"),
]


@pytest.mark.parametrize(
    ("change", "severity", "expected"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS]
)
def test_check_finds_what_is_planted(tmp_path: Path, change: Any, severity: str, expected: str) -> None:
    arrays, metadata = _clean()
    change(arrays, metadata)
    texts = _texts(_write(tmp_path, arrays, metadata), severity)
    assert any(expected in line for line in texts), texts


@pytest.mark.parametrize("content", ["", "[1]", "{", "null"])
def test_check_damaged_metadata(tmp_path: Path, content: str) -> None:
    arrays, _ = _clean()
    assert any(line.startswith("metadata: it is") for line in _texts(_write(tmp_path, arrays, content), "error"))


def test_check_missing_and_damaged_files(tmp_path: Path) -> None:
    _write(tmp_path, *_clean())
    (tmp_path / "test_x.npy").unlink()
    (tmp_path / "metadata").unlink()
    (tmp_path / "valid_y.npy").write_bytes(b"no array")
    texts = _texts(tmp_path, "error")
    assert "test_x.npy: the file is missing" in texts and "metadata: the file is missing" in texts
    assert any(line.startswith("valid_y.npy: it cannot be read") for line in texts)


def test_check_shifted_image_is_no_near_duplicate(tmp_path: Path) -> None:
    arrays, metadata = _clean()
    arrays["test_x"][0] = np.roll(arrays["train_x"][0], 3, axis=2)
    assert not _texts(_write(tmp_path, arrays, metadata), "warning")


@examples(12)
@given(seed=st.integers(0, 10_000), planted=st.integers(0, 5))
def test_near_duplicates_are_those_of_all_pairs(seed: int, planted: int) -> None:
    rng = np.random.default_rng(seed)
    train, test = rng.normal(size=(80, 200)), rng.normal(size=(30, 200))
    test[:planted] = train[:planted] + 0.05 * rng.normal(size=(planted, 200))
    images = {"train": train.astype(np.float32), "test": test.astype(np.float32)}
    projection = Projection(200)
    result = near_duplicates(images, {part: projection.of(part_images) for part, part_images in images.items()})
    usual = np.sqrt(2.0)
    plain = {
        (later, earlier)
        for later in range(30)
        for earlier in range(80)
        if np.sqrt(np.mean((test[later] - train[earlier]) ** 2)) <= 0.1 * usual
    }
    assert {(pair.index, pair.other_index) for pair in result.pairs} == plain == {(n, n) for n in range(planted)}
    assert result.complete and abs(result.usual / usual - 1) < 0.2


def test_close_is_plain_distance_and_stops_at_the_most() -> None:
    rng = np.random.default_rng(2)
    first, second = (rng.normal(size=(n, 3)).astype(np.float32) for n in (1_500, 700))
    distances = np.sqrt(((first[:, None] - second[None]) ** 2).sum(axis=2))
    clear = np.abs(distances - 0.2) > 1e-4
    is_near = np.zeros(distances.shape, np.bool_)
    is_near[tuple(close(first, second, 0.2, 10**6).T)] = True
    assert np.array_equal(is_near[clear], (distances <= 0.2)[clear])
    assert len(close(first, second, 0.2, 5)) == 5
    assert usual_distance(np.zeros((4, 3), np.float32)) == 0


def test_scan_minus_zero_is_zero_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    images = np.random.default_rng(3).integers(0, 3, (50, 1, 2, 2)).astype(np.float32)
    minus = np.where(images == 0, np.float32(-0.0), images)
    scanned_at_once = scan(images, Projection(4), _quiet, "")
    assert np.array_equal(scanned_at_once.digests, scan(minus, Projection(4), _quiet, "").digests)
    monkeypatch.setattr("nasbed.datasets.unseen.checks.scanning.BLOCK_VALUES", 12)
    parts = scan(images.astype(np.float64), Projection(4), _quiet, "")
    assert np.array_equal(scanned_at_once.digests, parts.digests) and np.array_equal(
        scanned_at_once.constant, parts.constant
    )


def _generated(folder: Path) -> tuple[Arrays, dict[str, Any], dict[str, dict[str, NDArray[Any]]]]:
    """Ten countries, as GeoClassing has them."""
    from nasbed.datasets.unseen.geoclassing import GeoClassing

    rng = np.random.default_rng(4)
    arrays: Arrays = {}
    origins = {}
    for part, size in SIZES.items():
        arrays[f"{part}_x"] = rng.integers(0, 256, (size, 3, 60, 60)).astype(np.float32)
        arrays[f"{part}_y"] = np.arange(size) % 10
        countries = np.array(GeoClassing.classes)[arrays[f"{part}_y"]]
        origins[part] = {"patch": np.array([f"{part} {n}" for n in range(size)]), "country": countries}
    metadata = {"num_classes": 10, "input_shape": [300, 3, 60, 60], "codename": "GeoClassing", "benchmark": 80.33}
    return arrays, metadata | {"made_by": "nasbed"}, origins


def _check_made(folder: Path, arrays: Arrays, metadata: Any, origins: dict[str, Any]) -> list[Finding]:
    _write(folder, arrays, metadata)
    for part, columns in origins.items():
        np.savez(folder / f"{part}_origins.npz", **columns)
    return check_folder(folder, _quiet)


def test_check_recomputes_labels_by_the_rule(tmp_path: Path) -> None:
    arrays, metadata, origins = _generated(tmp_path)
    findings = _check_made(tmp_path, arrays, metadata, origins)
    assert any(
        "all are as the rule of GeoClassing says, and parts share no patch" in finding.text for finding in findings
    )
    assert not any(finding.severity == "error" for finding in findings)
    arrays["test_y"][[0, 1]] = arrays["test_y"][[1, 0]]
    origins["valid"]["patch"][0] = "train 0"
    texts = [
        finding.text for finding in _check_made(tmp_path, arrays, metadata, origins) if finding.severity == "error"
    ]
    assert any(line.startswith("2 labels are not as the rule says") for line in texts)
    assert any("leak: 1 patch are also in train, the first is train 0" in line for line in texts)
    del origins["valid"]["country"]
    texts = [
        finding.text for finding in _check_made(tmp_path, arrays, metadata, origins) if finding.severity == "error"
    ]
    assert any("cannot be computed again" in line for line in texts)
    (tmp_path / "test_origins.npz").write_bytes(b"PK no")
    assert any("test_origins.npz: it cannot be read" in line for line in _texts(tmp_path, "error"))


def _command() -> typer.Typer:
    app = typer.Typer()
    app.command()(check)
    return app


def test_check_command_status_and_json(tmp_path: Path) -> None:
    clean = _write(tmp_path / "clean", *_clean())
    result = CliRunner().invoke(_command(), [str(clean), "--json"])
    answer = json.loads(result.stdout)
    assert result.exit_code == 0 and (answer["errors"], answer["warnings"]) == (0, 0)
    assert {"severity", "about", "text"} == set(answer["findings"][0])
    (clean / "test_y.npy").unlink()
    result = CliRunner().invoke(_command(), [str(clean)])
    assert result.exit_code == 1 and "1 errors, 0 warnings" in result.stdout and "missing" in result.stdout
    for wrong in (tmp_path / "none", tmp_path):
        assert isinstance(CliRunner().invoke(_command(), [str(wrong)]).exception, BadFile)
