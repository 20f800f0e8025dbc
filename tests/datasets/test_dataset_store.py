"""Datasets on disk: whole or absent, checked, divided by seed, made smaller exactly."""

from __future__ import annotations

import io
import json
import tarfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from nasbed import datasets
from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.core.registry import Registry
from nasbed.datasets import DATASETS, Dataset, DatasetSource, LabelledImages, Remote, conversion, store
from nasbed.datasets.cifar10 import Cifar10
from nasbed.datasets.resize import area_weights, resized
from support.dataset_files import binary_batch, competition, idx, random_images, random_labels
from support.local_server import Behaviour, serving, sha256


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def drafts(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "datasets").glob("*")) if home.exists() else []


def write_mnist(folder: Path, train: int = 60_000, highest: int = 9) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", train), ("t10k", 10_000)):
        labels = (np.arange(count) % 10).astype(np.uint8)
        labels[-1] = highest
        (folder / f"{part}-images-idx3-ubyte").write_bytes(idx(random_images(1, count, 28, 28)))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx(labels))


def test_prepare_keeps_what_load_opens(tmp_path: Path, home: Path) -> None:
    write_mnist(tmp_path / "files")
    heard: list[str] = []
    prepared = datasets.prepare("mnist", tmp_path / "files", progress=lambda step, count, total: heard.append(step))
    loaded = datasets.load("mnist")
    assert isinstance(loaded.train.images, np.memmap)
    assert loaded.train.images.dtype == np.uint8
    assert loaded.train.labels.dtype == np.int64
    np.testing.assert_array_equal(loaded.train.images[:, 0], random_images(1, 60_000, 28, 28))
    assert np.bincount(loaded.test.labels).tolist() == [1_000] * 10
    counts, values = np.bincount(loaded.train.images.ravel(), minlength=256), np.arange(256) / 255
    mean = np.average(values, weights=counts)
    assert loaded.mean == pytest.approx([mean], rel=1e-12)
    assert loaded.std == pytest.approx([np.sqrt(np.average((values - mean) ** 2, weights=counts))], rel=1e-9)
    assert loaded.hash == prepared.hash
    assert heard
    assert drafts(home) == ["mnist"]
    messages: list[str] = []
    datasets.prepare("mnist", tmp_path / "elsewhere", say=messages.append)
    assert messages == ["mnist exists already, made from files"]


def test_prepare_refuses_other_counts_and_labels(tmp_path: Path, home: Path) -> None:
    write_mnist(tmp_path / "few", train=59_999)
    write_mnist(tmp_path / "wrong", train=60_000, highest=10)
    for folder, message in (("few", "60000 and 10000 images"), ("wrong", "labels are 0 to 9")):
        with pytest.raises(BadFile, match=message):
            datasets.prepare("mnist", tmp_path / folder)
    assert drafts(home) == []


class Tiny(Cifar10):
    """CIFAR-10 with two images a batch."""

    name = "tiny"
    counts = (10, 2)


def use(source: type[DatasetSource], monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry[type[DatasetSource]]("dataset", group="nasbed.none")
    registry.add(source.name, source)
    monkeypatch.setattr(conversion, "DATASETS", registry)


def tiny_archive() -> bytes:
    data = binary_batch(random_images(1, 2, 3, 32, 32), random_labels(2, 2, 10))
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for batch in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{batch}.bin")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


@pytest.mark.parametrize("ending", [".tar.gz", ".tgz"])
def test_prepare_reads_an_archive(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    use(Tiny, monkeypatch)
    path = tmp_path / f"cifar{ending}"
    path.write_bytes(tiny_archive())
    prepared = datasets.prepare("tiny", str(path))
    images, labels = random_images(1, 2, 3, 32, 32), random_labels(2, 2, 10)
    np.testing.assert_array_equal(prepared.test.images, images)
    np.testing.assert_array_equal(prepared.train.labels, np.tile(labels, 5))
    assert drafts(home) == ["tiny"]
    small = datasets.load("tiny@16")
    assert small.train.images.shape == (10, 3, 16, 16)
    np.testing.assert_array_equal(small.test.images, resized(images, 16))
    assert prepared.hash != small.hash
    assert path.is_file()


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00"])
def test_prepare_refuses_a_damaged_archive(tmp_path: Path, home: Path, content: bytes) -> None:
    path = tmp_path / "cifar-10-python.tar.gz"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"cifar-10-python\.tar\.gz"):
        datasets.prepare("cifar10", path)
    assert drafts(home) == []


def test_prepare_wants_a_folder_or_an_archive(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(BadFile, match="is neither"):
        datasets.prepare("mnist", tmp_path / "a.txt")
    with pytest.raises(BadFile, match="does not exist"):
        datasets.prepare("mnist", tmp_path / "b")


def test_prepare_gives_a_competition_folder_any_name(tmp_path: Path) -> None:
    images = {part: np.full((3, 3, 4, 4), 0.5, np.float32) for part in ("train", "valid", "test")}
    labels = {part: np.array([0, 19, 3]) for part in images}
    competition(tmp_path / "x", images, labels)
    prepared = datasets.prepare("mine", tmp_path / "x")
    assert (prepared.shape, prepared.scale, prepared.mean, prepared.std) == ((3, 4, 4), 1.0, (0.5,) * 3, (0.0,) * 3)
    split = prepared.published_split()
    assert (split.train.tolist(), split.valid.tolist()) == ([0, 1, 2], [3, 4, 5])
    assert datasets.load("mine@2").published == (3, 3)
    assert datasets.load("mine").hash == prepared.hash


def test_missing_dataset_says_how_to_get_it() -> None:
    with pytest.raises(BadFile, match="nasbed data prepare cifar10"):
        datasets.load("cifar10@16")
    with pytest.raises(UnknownName, match="did you mean cifar10"):
        datasets.load("cifar11")
    with pytest.raises(InvalidOption, match="a dataset's name"):
        datasets.load("../cifar10")


def test_every_dataset_is_found_or_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in DATASETS:
        if DATASETS.get(name).embedded:
            assert len(datasets.load(name).train) == DATASETS.get(name).counts[0]
        else:
            with pytest.raises(BadFile, match=f"nasbed data prepare {name}"):
                datasets.load(name)


def test_damage_on_disk_is_noticed(home: Path) -> None:
    datasets.load("digits")
    folder = home / "datasets" / "digits"
    store.verify("digits")
    path = folder / "train_images.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes((content[-1] ^ 1,)))
    with pytest.raises(BadFile, match=r"train_images\.npy is damaged: its SHA-256"):
        store.verify("digits")
    path.write_bytes(content[:-1])
    with pytest.raises(BadFile, match=r"train_images\.npy is damaged.*remove"):
        datasets.load("digits")
    path.write_bytes(content)
    manifest = folder / "manifest.json"
    data = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps(data | {"mean": [0.0]}, indent=1))
    with pytest.raises(BadFile, match="was changed"):
        datasets.load("digits")


def test_failed_write_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "moments", full)
    with pytest.raises(OSError, match="No space"):
        datasets.prepare("digits")
    assert drafts(home) == []


def test_second_of_two_writers_keeps_the_first(home: Path) -> None:
    first = datasets.load("digits")
    raw = DATASETS.get("digits")().read(Path(), lambda step, count, total: None)
    store.write("digits", raw, "another")
    assert store.origin("digits") == "an installed package"
    assert datasets.load("digits").hash == first.hash
    assert drafts(home) == ["digits"]


def made_up(count: int) -> Dataset:
    part = LabelledImages(np.zeros((count, 1, 2, 2), np.uint8), np.zeros(count, np.int64))
    return Dataset("x", part, part, ("a",), (0.0,), (1.0,), "")


def test_splits_are_disjoint_and_fixed_by_seed() -> None:
    data = made_up(1_000)
    split = data.splits(700, 250, seed=3)
    assert (len(split.train), len(split.valid)) == (700, 250)
    assert len(set(split.train) | set(split.valid)) == 950
    assert (np.diff(split.train) > 0).all()
    repeated = data.splits(700, 250, seed=3)
    assert repeated.hash == split.hash
    np.testing.assert_array_equal(repeated.train, split.train)
    other_hashes = {data.splits(700, 250, seed=seed).hash for seed in range(20)}
    assert len(other_hashes | {data.splits(701, 249, seed=3).hash, data.splits(700, 249, seed=3).hash}) == 22
    assert abs(split.train.mean() - 499.5) < 50


def test_splits_of_cifar10_as_in_the_papers() -> None:
    split = made_up(50_000).splits(40_000, 10_000, seed=0)
    assert (len(split.train), len(split.valid)) == (40_000, 10_000)
    assert np.array_equal(np.sort(np.concatenate([split.train, split.valid])), np.arange(50_000))


def test_splits_never_change() -> None:
    """Results name splits by these hashes, so that what a seed means is part of the format."""
    split = made_up(10).splits(6, 2, seed=0)
    assert (split.train.tolist(), split.valid.tolist()) == ([0, 1, 2, 3, 6, 8], [4, 7])
    assert split.hash == "a8e892df3013cd78"


@pytest.mark.parametrize(("train", "valid", "seed"), [(0, 1, 0), (1, -1, 0), (8, 3, 0), (5, 5, -1)])
def test_splits_refuse_what_cannot_be(train: int, valid: int, seed: int) -> None:
    with pytest.raises(InvalidOption):
        made_up(10).splits(train, valid, seed)
    with pytest.raises(InvalidOption, match="without a validation part"):
        made_up(10).published_split()


def half_to_even(value: Fraction) -> int:
    return round(value)  # as Python rounds


@pytest.mark.parametrize("ratio", [1, 2, 3, 4])
def test_resized_is_the_mean_of_boxes(ratio: int) -> None:
    images = random_images(ratio, 6, 2, 4 * ratio, 4 * ratio)
    images[0, :, ::2] //= 128  # many halves
    smaller = resized(images, 4)
    for place in np.ndindex(smaller.shape):
        image, channel, row, column = place
        box = images[image, channel, row * ratio : (row + 1) * ratio, column * ratio : (column + 1) * ratio]
        assert smaller[place] == half_to_even(Fraction(int(box.astype(int).sum()), ratio**2))


@pytest.mark.parametrize(("height", "width", "side"), [(7, 7, 5), (8, 6, 5), (5, 9, 3), (8, 8, 7)])
def test_resized_is_the_mean_of_areas(height: int, width: int, side: int) -> None:
    images = random_images(1, 3, 1, height, width)
    smaller = resized(images, side)
    for image, row, column in np.ndindex(3, side, side):
        total = Fraction(0)
        for y, x in np.ndindex(height, width):
            tall = min(Fraction((row + 1) * height, side), y + 1) - max(Fraction(row * height, side), y)
            wide = min(Fraction((column + 1) * width, side), x + 1) - max(Fraction(column * width, side), x)
            total += max(tall, 0) * max(wide, 0) * int(images[image, 0, y, x])
        assert smaller[image, 0, row, column] == half_to_even(total * side**2 / (height * width))


def test_resized_keeps_floats_and_refuses_larger() -> None:
    images = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    assert resized(images, 2).tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]
    assert area_weights(3, 2).tolist() == [[2, 1, 0], [0, 1, 2]]
    for side in (0, 5):
        with pytest.raises(InvalidOption, match="a side of 1 to 4"):
            resized(images, side)


@pytest.mark.parametrize("right", [True, False])
def test_prepare_downloads_what_has_its_checksum(home: Path, monkeypatch: pytest.MonkeyPatch, right: bool) -> None:
    content = tiny_archive()
    with serving(Behaviour(content=content)) as server:

        class Remoted(Tiny):
            remotes = (Remote(server.url.replace("file.bin", "tiny.tar.gz"), sha256(content if right else b"")),)

        use(Remoted, monkeypatch)
        if right:
            prepared = datasets.prepare("tiny")
            np.testing.assert_array_equal(prepared.test.images, random_images(1, 2, 3, 32, 32))
            assert store.origin("tiny") == "tiny.tar.gz"
        else:
            with pytest.raises(BadFile, match="SHA-256"):
                datasets.prepare("tiny")
    assert drafts(home) == (["tiny"] if right else [])
    assert [path.name for path in (home / "downloads").rglob("*.tar.gz*")] == []
