"""Artefacts: copied anywhere they answer the same, and damaged anywhere they are refused by name."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.checksummed_json import sealed
from nasbed.core.errors import BadFile, InvalidOption, NasbedError
from nasbed.surrogates.archive import pack
from nasbed.surrogates.artefact import Artefact, is_artefact, read_manifest
from nasbed.surrogates.artefact_manifest import ArtefactManifest, artefact_name
from support.surrogates import small_surrogate

FRESH = """
import json, sys
from pathlib import Path
import numpy as np
from nasbed.surrogates.artefact import Artefact
artefact = Artefact.load(Path(sys.argv[1]))
found = artefact.ensemble.predict(np.array(json.loads(sys.argv[2])))
times = artefact.runtime.predict(np.array(json.loads(sys.argv[2])))
heavy = [name for name in ("lightgbm", "sklearn", "torch", "xgboost", "ConfigSpace") if name in sys.modules]
print(json.dumps([found.mean.tolist(), found.std.tolist(), found.noise.tolist(), times.tolist(), heavy]))
"""
CODES = [[0, 1, 2, 3, 4, 0], [3, 3, 3, 3, 3, 3], [4, 4, 0, 0, 1, 2]]


@pytest.fixture(scope="module")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return small_surrogate(tmp_path_factory.mktemp("artefact"))


@pytest.fixture
def folder(artefact: Artefact, tmp_path: Path) -> Path:
    return artefact.save(tmp_path / artefact.name)


def all_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("single", [False, True])
def test_artefact_answers_the_same_elsewhere(artefact: Artefact, tmp_path: Path, single: bool) -> None:
    suffix = ".snb" if single else ""
    saved = artefact.save(tmp_path / f"one{suffix}")
    (tmp_path / "other").mkdir()
    moved = Path(shutil.move(saved, tmp_path / "other" / f"two{suffix}"))
    command = [sys.executable, "-c", FRESH, str(moved), json.dumps(CODES)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    *values, heavy = json.loads(run.stdout)
    prediction = artefact.ensemble.predict(np.array(CODES))
    assert artefact.runtime is not None
    expected = [prediction.mean, prediction.std, prediction.noise, artefact.runtime.predict(np.array(CODES))]
    assert values == [column.tolist() for column in expected]
    assert heavy == []


def test_artefact_refuses_a_flipped_byte_in_any_file(folder: Path) -> None:
    files = all_files(folder)
    assert {path.name for path in files} >= {"manifest.json", "noise.json", "forest.npz", "lightgbm.txt.gz"}
    for path in files:
        content = path.read_bytes()
        for place in {0, 1, len(content) // 3, len(content) // 2, len(content) - 2, len(content) - 1}:
            damaged = bytearray(content)
            damaged[place] ^= 1
            path.write_bytes(bytes(damaged))
            with pytest.raises(BadFile, match=path.name) as caught:
                Artefact.load(folder)
            assert str(path.relative_to(folder)) in str(caught.value)
        path.write_bytes(content)
    Artefact.load(folder)


def test_artefact_manifest_refuses_each_flipped_bit(folder: Path) -> None:
    path = folder / "manifest.json"
    content = path.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(BadFile, match=r"manifest\.json"):
            ArtefactManifest.from_bytes(bytes(damaged), str(path))


def test_artefact_file_refuses_a_flipped_byte_anywhere(artefact: Artefact, tmp_path: Path) -> None:
    path = artefact.save(tmp_path / "one.snb")
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    places = [*rng.integers(len(content), size=40).tolist(), *range(0, 60, 7)]
    for place in [*places, *range(len(content) - 400, len(content), 17)]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged))
        with pytest.raises(BadFile, match=r"one\.snb"):
            Artefact.load(path)


def test_artefact_refuses_missing_and_extra_files(folder: Path, tmp_path: Path) -> None:
    for path in all_files(folder):
        moved = path.rename(tmp_path / "away")
        with pytest.raises(BadFile, match=rf"lacks its file {path.relative_to(folder)}"):
            Artefact.load(folder)
        moved.rename(path)
    (folder / "members" / "run.py").write_text("print()")
    with pytest.raises(BadFile, match=r"members/run\.py"):
        Artefact.load(folder)


def test_artefact_refuses_links(folder: Path, tmp_path: Path) -> None:
    path = folder / "noise.json"
    path.symlink_to(path.rename(tmp_path / "elsewhere.json"))
    with pytest.raises(BadFile, match=r"noise\.json"):
        Artefact.load(folder)


def repacked(artefact: Artefact, path: Path, name: str, data: bytes) -> Path:
    """A file whose checksums all agree, by somebody who means harm."""
    files = artefact.files()
    manifest = json.loads(files["manifest.json"])
    manifest["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    del manifest["sha256"]
    path.write_bytes(pack({**files, name: data, "manifest.json": sealed(manifest)}))
    return path


def test_artefact_refuses_arrays_that_would_not_fit(artefact: Artefact, tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("splits.npy", b"\0" * 1_000_000)
    bomb = file.getvalue().replace((1_000_000).to_bytes(4, "little"), (3 << 30).to_bytes(4, "little"))
    with pytest.raises(BadFile, match="would take"):
        Artefact.load(repacked(artefact, tmp_path / "bomb.snb", "members/00/forest.npz", bomb))


def test_artefact_refuses_pickles(artefact: Artefact, tmp_path: Path) -> None:
    file = io.BytesIO()
    np.savez(file, splits=np.array([{"code": "here"}], dtype=object))
    with pytest.raises(BadFile, match="members/00"):
        Artefact.load(repacked(artefact, tmp_path / "pickle.snb", "members/00/forest.npz", file.getvalue()))


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"null", b'{"format": "nasbed surrogate"}', b"\xff", b"[" * 9999]
)
def test_artefact_refuses_other_manifests(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(BadFile, match=r"manifest\.json"):
        Artefact.load(folder)


def test_artefact_refuses_manifests_that_lack_something(artefact: Artefact) -> None:
    data = json.loads(artefact.files()["manifest.json"])
    for key in data.keys() - {"sha256"}:
        content = sealed({name: data[name] for name in data if name not in (key, "sha256")})
        with pytest.raises(BadFile, match=r"it\.json"):
            ArtefactManifest.from_bytes(content, "it.json")


def test_artefact_once_written_is_not_replaced(artefact: Artefact, folder: Path) -> None:
    with pytest.raises(InvalidOption, match="is not overwritten"):
        artefact.save(folder)


def test_artefact_that_cannot_be_written_leaves_nothing(
    artefact: Artefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    for name in ("folder", "file.snb"):
        with pytest.raises(OSError, match="no space"):
            artefact.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_artefact_is_the_same_bytes_again(artefact: Artefact, folder: Path, tmp_path: Path) -> None:
    loaded = Artefact.load(folder)
    assert loaded.files() == artefact.files()
    assert artefact.save(tmp_path / "a.snb").read_bytes() == loaded.save(tmp_path / "b.snb").read_bytes()


def test_artefact_says_what_it_is(artefact: Artefact, folder: Path, tmp_path: Path) -> None:
    single = artefact.save(tmp_path / "a.snb")
    assert is_artefact(folder)
    assert is_artefact(single)
    assert not is_artefact(tmp_path)
    for path in (folder, single):
        about = read_manifest(path)
        assert about.name == "snb-nb201-cifar10-lgb-v1.0"
        assert about.metric == artefact.manifest.metric
        assert about.licence == "none"
        assert about.provenance["table"] == "made-up"
        assert about.figures["coverage"] is not None
        assert set(about.libraries) >= {"numpy", "lightgbm"}


@pytest.mark.parametrize("name", ["", "snb", "snb-a", "nb201", "snb-nb201-x-lgb-v1", "snb-../x-v1.0", "snb-A-v1.0"])
def test_artefact_names_are_checked(artefact: Artefact, name: str) -> None:
    with pytest.raises(NasbedError, match="is named snb-"):
        replace(artefact.manifest, name=name)


def test_artefact_name_of_spaces_and_datasets_with_hyphens() -> None:
    assert artefact_name("transnas-micro", "ImageNet16-120", "gin") == "snb-transnas-micro-imagenet16-120-gin-v1.0"
    assert artefact_name("darts", "", "lgb", version="2.3") == "snb-darts-lgb-v2.3"
