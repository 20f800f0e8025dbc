"""Published files come back bit for bit, and nothing else is taken for them."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.datasets import DATASETS, Raw
from nasbed.datasets.cifar import read_batch, read_binary, read_picture
from nasbed.datasets.competition import read_competition
from nasbed.datasets.idx import read_idx
from nasbed.datasets.png import read_png
from support.dataset_files import binary_batch, competition, idx, png, python2_batch, random_images, random_labels

BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


def no_progress(step: str, count: int, total: int | None) -> None:
    pass


def read(name: str, folder: Path) -> Raw:
    return DATASETS.get(name)().read(folder, no_progress)


def assert_is(raw: Raw, train: tuple[NDArray[np.uint8], NDArray[np.int64]], test: tuple[object, object]) -> None:
    for read, expected in zip(
        (raw.train_images, raw.train_labels, raw.test_images, raw.test_labels), (*train, *test), strict=True
    ):
        np.testing.assert_array_equal(read, expected)
    assert raw.train_images.dtype == np.uint8
    assert raw.train_labels.dtype == np.int64


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_source_tells_what_it_is(name: str) -> None:
    source = DATASETS.get(name)()
    assert source.name == name
    assert len(set(source.classes)) == len(source.classes) == (100 if name == "cifar100" else 10)
    assert f"nasbed data prepare {name}" in source.how()
    assert all(remote.url.startswith("https://") and len(remote.sha256) == 64 for remote in source.remotes)


def test_digits_are_those_of_scikit_learn() -> None:
    from sklearn.datasets import load_digits

    raw = read("digits", Path())
    bunch = load_digits()
    np.testing.assert_array_equal(np.concatenate([raw.train_images, raw.test_images])[:, 0], bunch.images)
    np.testing.assert_array_equal(np.concatenate([raw.train_labels, raw.test_labels]), bunch.target)


@pytest.mark.parametrize("form", ["raw", "packed", "below", "dotted"])
@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
def test_idx_files_come_back(tmp_path: Path, name: str, form: str) -> None:
    images, labels = random_images(1, 9, 28, 28), random_labels(2, 9, 10)
    folder = tmp_path / "MNIST" / "raw" if form == "below" else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    for part, chosen in (("train", slice(0, 6)), ("t10k", slice(6, 9))):
        for kind, content in (("images-idx3", images[chosen]), ("labels-idx1", labels[chosen].astype(np.uint8))):
            file = f"{part}-{kind}-ubyte".replace("-idx", ".idx" if form == "dotted" else "-idx")
            data = idx(content)
            path = folder / (f"{file}.gz" if form == "packed" else file)
            path.write_bytes(gzip.compress(data) if form == "packed" else data)
    assert_is(read(name, tmp_path), (images[:6, None], labels[:6]), (images[6:, None], labels[6:]))


@pytest.mark.parametrize("damage", ["cut", "longer", "other", "empty", "sides", "gzip cut", "gzip changed"])
def test_idx_damage_is_refused(tmp_path: Path, damage: str) -> None:
    data = idx(random_images(1, 4, 28, 28))
    packed = gzip.compress(data)
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(
        {
            "cut": data[:-1],
            "longer": data + b"\0",
            "other": b"\x00\x00\x0d\x03" + data[4:],
            "empty": b"",
            "sides": data[:4] + b"\xff" * 12 + data[16:],
            "gzip cut": packed[:-20],
            "gzip changed": packed[:200] + b"\0\0\0\0" + packed[204:],
        }[damage]
    )
    with pytest.raises(BadFile, match="train-images-idx3-ubyte") as caught:
        read_idx(path, 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", ["python 2", "python 3", "bytes keys", "binary", "pictures"])
def test_cifar10_files_come_back(tmp_path: Path, form: str) -> None:
    images, labels = random_images(3, 12, 3, 32, 32), random_labels(4, 12, 10)
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for number, batch in enumerate(BATCHES):
        chosen = slice(2 * number, 2 * number + 2)
        part, truth = images[chosen], labels[chosen]
        if form == "python 2":
            (folder / batch).write_bytes(python2_batch(part, truth, "labels"))
        elif form in ("python 3", "bytes keys"):
            entries = {"data": part.reshape(2, -1), "labels": truth.tolist(), "filenames": ["a", "b"]}
            spelt = {key.encode() if form == "bytes keys" else key: value for key, value in entries.items()}
            (folder / batch).write_bytes(pickle.dumps(spelt))
        elif form == "binary":
            (folder / f"{batch}.bin").write_bytes(binary_batch(part, truth))
        else:
            rows = part.reshape(2, 3, 1024).transpose(0, 2, 1)
            (folder / f"{batch}.png").write_bytes(png(rows, [4, 1]))
    if form == "pictures":
        (folder / "train_lables.json").write_text(json.dumps(labels[:10].tolist()))
        (folder / "test_lables.json").write_text(json.dumps(labels[10:].tolist()))
    assert_is(read("cifar10", tmp_path), (images[:10], labels[:10]), (images[10:], labels[10:]))


@pytest.mark.parametrize("form", ["python 2", "binary"])
def test_cifar100_files_give_the_fine_labels(tmp_path: Path, form: str) -> None:
    images, fine, coarse = random_images(3, 5, 3, 32, 32), random_labels(4, 5, 100), random_labels(5, 5, 20)
    for part, chosen in (("train", slice(0, 3)), ("test", slice(3, 5))):
        if form == "binary":
            content = binary_batch(images[chosen], coarse[chosen], fine[chosen])
            (tmp_path / f"{part}.bin").write_bytes(content)
        else:
            (tmp_path / part).write_bytes(python2_batch(images[chosen], fine[chosen], "fine_labels"))
            (tmp_path / "meta").write_bytes(b"")
    assert_is(read("cifar100", tmp_path), (images[:3], fine[:3]), (images[3:], fine[3:]))


class Hostile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.path,))


def test_cifar_pickle_executes_nothing(tmp_path: Path) -> None:
    bait, path = tmp_path / "bait", tmp_path / "data_batch_1"
    path.write_bytes(pickle.dumps({"data": Hostile(bait), "labels": [1]}))
    with pytest.raises(BadFile, match=r"data_batch_1.*does not refer to"):
        read_batch(path, "labels")
    assert not bait.exists()


@pytest.mark.parametrize("cut", [0, 1, 40, 150, 300, 4000, -1, -2])
def test_cifar_cut_batch_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "data_batch_1"
    path.write_bytes(python2_batch(random_images(1, 2, 3, 32, 32), random_labels(1, 2, 10), "labels")[:cut])
    with pytest.raises(BadFile, match="data_batch_1"):
        read_batch(path, "labels")


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"labels": [1]},
        {"data": np.zeros((1, 3072), np.float64), "labels": [1]},
        {"data": np.zeros((1, 3071), np.uint8), "labels": [1]},
        {"data": np.zeros((1, 3072), np.uint8), "labels": ["1"]},
        {"data": np.zeros((1, 3072), np.uint8), "labels": [[1], [2, 3]]},
        {"data": np.zeros((1, 3072), np.uint8)},
    ],
)
def test_cifar_batch_of_another_kind_is_refused(tmp_path: Path, value: object) -> None:
    path = tmp_path / "data_batch_1"
    path.write_bytes(pickle.dumps(value))
    with pytest.raises(BadFile, match="data_batch_1"):
        read_batch(path, "labels")


@pytest.mark.parametrize("size", [0, 3072, 3074, 2 * 3073 - 1])
def test_cifar_binary_of_another_size_is_refused(tmp_path: Path, size: int) -> None:
    (tmp_path / "x.bin").write_bytes(bytes(size))
    with pytest.raises(BadFile, match=r"x\.bin"):
        read_binary(tmp_path / "x.bin", 1)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (1, 6), (6, 1), (1, 1)])
def test_png_is_lossless_with_every_filter(tmp_path: Path, shape: tuple[int, int], channels: int) -> None:
    pixels = random_images(6, shape[0], shape[1], channels)
    for filters in ([0], [1], [2], [3], [4], [4, 2, 0, 3, 1]):
        (tmp_path / "a.png").write_bytes(png(pixels, filters))
        np.testing.assert_array_equal(read_png(tmp_path / "a.png"), pixels)


def test_png_agrees_with_pillow(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    smooth = (np.add.outer(np.arange(40), np.arange(50))[..., None] * np.array([1, 2, 3])).astype(np.uint8)
    image.fromarray(smooth).save(tmp_path / "a.png", optimize=True)
    np.testing.assert_array_equal(read_png(tmp_path / "a.png"), smooth)


def test_png_damage_is_refused(tmp_path: Path) -> None:
    data = png(random_images(6, 4, 5, 3), [4])
    path = tmp_path / "a.png"
    for position in range(len(data)):
        for damaged in (data[:position], data[:position] + bytes((data[position] ^ 1,)) + data[position + 1 :]):
            path.write_bytes(damaged)
            with pytest.raises(BadFile, match=r"a\.png"):
                read_png(path)


def test_picture_of_another_width_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(random_images(6, 2, 1023, 3), [0]))
    with pytest.raises(BadFile, match="1024 pixels"):
        read_picture(tmp_path / "a.png")


@pytest.mark.parametrize("values", ["bytes", "floats"])
def test_competition_folder_comes_back(tmp_path: Path, values: str) -> None:
    rng = np.random.default_rng(0)
    images, labels = {}, {}
    for part, count in (("train", 5), ("valid", 3), ("test", 2)):
        drawn = rng.integers(0, 256, (count, 3, 4, 6)) if values == "bytes" else rng.normal(size=(count, 3, 4, 6))
        images[part], labels[part] = drawn.astype(np.float32), rng.integers(0, 20, count)
    competition(tmp_path / "AddNIST", images, labels)
    raw = read_competition("addnist", tmp_path, no_progress)
    np.testing.assert_array_equal(raw.train_images, np.concatenate([images["train"], images["valid"]]))
    np.testing.assert_array_equal(raw.train_labels, np.concatenate([labels["train"], labels["valid"]]))
    np.testing.assert_array_equal(raw.test_images, images["test"])
    assert raw.train_images.dtype == (np.uint8 if values == "bytes" else np.float32)
    assert (raw.published, len(raw.classes)) == ((5, 3), 20)


def test_competition_damage_is_refused(tmp_path: Path) -> None:
    images = {part: np.zeros((2, 1, 4, 4), np.float32) for part in ("train", "valid", "test")}
    labels = {part: np.zeros(2, np.int64) for part in images}
    bait = tmp_path / "bait"
    hostile = np.array([Hostile(bait)], dtype=object)
    for file, content, message in (
        ("valid_x.npy", hostile, "valid_x.npy cannot be read"),
        ("test_x.npy", np.full((2, 1, 4, 4), np.nan, np.float32), "finite"),
        ("train_y.npy", np.zeros(3, np.int64), "each image has a label"),
        ("train_y.npy", np.zeros(2, np.float32), "whole numbers"),
        ("valid_x.npy", np.zeros((2, 1, 4, 5), np.float32), "valid has"),
        ("metadata", None, "num_classes"),
    ):
        competition(tmp_path / "x", images, labels)
        if content is None:
            (tmp_path / "x" / file).write_text("[]")
        else:
            np.save(tmp_path / "x" / file, content, allow_pickle=True)
        with pytest.raises(BadFile, match=message):
            read_competition("x", tmp_path / "x", no_progress)
    assert not bait.exists()


@pytest.mark.parametrize("name", ["mnist", "cifar10", "cifar100"])
def test_folder_without_the_files_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadFile, match=f"{name} is read from"):
        read(name, tmp_path)


def test_two_fitting_folders_are_not_guessed_between(tmp_path: Path) -> None:
    for folder in ("MNIST", "FashionMNIST"):
        (tmp_path / folder).mkdir()
        for part in ("train", "t10k"):
            for kind in ("images-idx3", "labels-idx1"):
                (tmp_path / folder / f"{part}-{kind}-ubyte").touch()
    with pytest.raises(BadFile, match="name one of them"):
        read("mnist", tmp_path)


def test_fashion_mnist_of_debian_is_balanced() -> None:
    folder = Path("/usr/share/datasets/fashion-mnist")
    if not folder.is_dir():
        pytest.skip(f"needs Debian's package dataset-fashion-mnist, not in {folder}")
    raw = read("fashion-mnist", folder)
    assert np.bincount(raw.train_labels).tolist() == [6_000] * 10
    assert np.bincount(raw.test_labels).tolist() == [1_000] * 10
