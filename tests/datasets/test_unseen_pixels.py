"""AddNIST, MultNIST and CIFARTile: what their pixels say, by looking up every source image by its bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, UnknownName
from nasbed.core.files import file_sha256
from nasbed.datasets import store
from nasbed.datasets.competition import read_competition
from nasbed.datasets.mnist import Mnist
from nasbed.datasets.source import Raw
from nasbed.datasets.unseen import UNSEEN, GeneratedDataset
from nasbed.datasets.unseen.addnist import AddNIST
from nasbed.datasets.unseen.cifartile import CIFARTile
from nasbed.datasets.unseen.digests import pinned_digests
from nasbed.datasets.unseen.draws import Draws
from nasbed.datasets.unseen.export import write_unseen
from nasbed.datasets.unseen.families.composed_images import ComposedFamily
from nasbed.datasets.unseen.multnist import MultNIST
from support.dataset_files import idx, random_images


class SmallAdd(AddNIST):
    preset: ClassVar = {**AddNIST.preset, "train": 300, "valid": 100, "test": 60}


class SmallMult(MultNIST):
    preset: ClassVar = {**MultNIST.preset, "train": 250, "valid": 51, "test": 40}


class SmallTile(CIFARTile):
    preset: ClassVar = {"train": 90, "valid": 30, "test": 22}


SMALL: dict[type[ComposedFamily], tuple[str, tuple[int, int, int]]] = {
    SmallAdd: ("mnist", (1, 28, 28)),
    SmallMult: ("mnist", (1, 28, 28)),
    SmallTile: ("cifar10", (3, 32, 32)),
}


def quiet(step: str, count: int, total: int | None) -> None:
    pass


def source_like(shape: tuple[int, int, int], train: int = 400, test: int = 150) -> Raw:
    return Raw(
        random_images(1, train, *shape),
        np.random.default_rng(2).permutation(np.arange(train) % 10),
        random_images(3, test, *shape),
        np.random.default_rng(4).permutation(np.arange(test) % 10),
        tuple("0123456789"),
    )


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "home"))


def made_of(kind: type[ComposedFamily], seed: int = 0) -> tuple[GeneratedDataset, Raw]:
    name, shape = SMALL[kind]
    raw = source_like(shape)
    if not store.is_stored(name):
        store.write(name, raw, "made up")
    return kind().make(None, seed=seed, progress=quiet), raw


def pieces(image: NDArray[np.uint8]) -> list[bytes]:
    """The source images in an image: its channels, or its quarters from left to right, then down."""
    if image.shape == (3, 28, 28):
        return [channel.tobytes() for channel in image]
    corners = ((0, 0), (0, 32), (32, 0), (32, 32))
    return [image[:, top : top + 32, left : left + 32].tobytes() for top, left in corners]


def label(kind: type[ComposedFamily], labels: list[int]) -> int:
    if kind is SmallAdd:
        return sum(labels) - 1
    return labels[0] * labels[1] * labels[2] % 10 if kind is SmallMult else len(set(labels)) - 1


@pytest.mark.parametrize("kind", SMALL)
def test_every_piece_is_a_source_image_and_the_label_follows(kind: type[ComposedFamily]) -> None:
    dataset, raw = made_of(kind)
    images = np.concatenate([raw.train_images, raw.test_images])
    number_of = {image.tobytes(): number for number, image in enumerate(images)}
    labels = np.concatenate([raw.train_labels, raw.test_labels])
    used: dict[str, set[int]] = {}
    for name, part in dataset.parts.items():
        used[name] = set()
        for row, image in enumerate(part.images):
            numbers = [number_of[piece] for piece in pieces(image)]
            assert numbers == part.origins[kind.origin][row].tolist()
            assert len(set(numbers)) == len(numbers)
            assert part.labels[row] == label(kind, [int(labels[number]) for number in numbers])
            used[name] |= set(numbers)
    assert not used["train"] & used["valid"]
    assert max(used["train"] | used["valid"]) < len(raw.train_labels) <= min(used["test"])


@pytest.mark.parametrize("kind", SMALL)
def test_classes_are_balanced_to_the_image(kind: type[ComposedFamily]) -> None:
    dataset, _ = made_of(kind)
    kind().check(dataset)
    for count, part in zip(kind().counts, dataset.parts.values(), strict=True):
        counts = np.bincount(part.labels)
        assert (counts.sum(), len(counts)) == (count, len(kind().classes))
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("kind", SMALL)
def test_a_seed_gives_the_same_bytes_and_another_gives_others(kind: type[ComposedFamily]) -> None:
    (first, _), (repeated, _), (other_seed, _) = (made_of(kind, seed) for seed in (0, 0, 1))
    for name, part in first.parts.items():
        assert part.images.tobytes() == repeated.parts[name].images.tobytes()
        assert part.labels.tobytes() == repeated.parts[name].labels.tobytes()
        assert part.images.tobytes() != other_seed.parts[name].images.tobytes()
        assert part.labels.tobytes() != other_seed.parts[name].labels.tobytes()


def test_datasets_of_one_seed_have_unlike_labels() -> None:
    assert Draws(0, "a").balanced(100, 10).tolist() != Draws(0, "b").balanced(100, 10).tolist()


def test_label_0_of_addnist_is_a_one_and_two_zeros_and_the_last_sums_to_twenty() -> None:
    dataset, _ = made_of(SmallAdd)
    values, labels = dataset.train.origins["values"], dataset.train.labels
    assert {tuple(sorted(triple)) for triple in values[labels == 0].tolist()} == {(0, 0, 1)}
    assert set(values[labels == 19].sum(axis=1).tolist()) == {20}


def test_distinct_numbers_are_all_equally_likely() -> None:
    rows = Draws(0).distinct(4, (24_000, 2), 0)
    counts = np.bincount(rows[:, 0] * 4 + rows[:, 1], minlength=16).reshape(4, 4)
    assert np.diag(counts).tolist() == [0] * 4
    off = counts[~np.eye(4, dtype=bool)]
    assert ((off - 2_000) ** 2 / 2_000).sum() < 31.3  # chi-square of 11 degrees of freedom at 0.1 %


def test_published_files_and_prepared_ones_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, raw = made_of(SmallAdd)
    folder = tmp_path / "raw"
    folder.mkdir()
    for part, images, labels in (
        ("train", raw.train_images, raw.train_labels),
        ("t10k", raw.test_images, raw.test_labels),
    ):
        (folder / f"{part}-images-idx3-ubyte").write_bytes(idx(images[:, 0]))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx(labels.astype(np.uint8)))
    with pytest.raises(BadFile, match=r"60000 and 10000 images.*got 400 and 150"):
        SmallAdd().make(folder, seed=0, progress=quiet)
    monkeypatch.setattr(Mnist, "counts", (400, 150))
    repeated = SmallAdd().make(folder, seed=0, progress=quiet)
    assert repeated.sources == dataset.sources
    assert repeated.train.images.tobytes() == dataset.train.images.tobytes()


def test_a_missing_source_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="nasbed data prepare mnist"):
        AddNIST().make(None, seed=0, progress=quiet)
    with pytest.raises(BadFile, match="does not exist; check the path"):
        AddNIST().make(tmp_path / "nothing", seed=0, progress=quiet)
    store.write("mnist", source_like((1, 28, 28), train=20), "made up")
    with pytest.raises(BadFile, match="needs 3 images of every class of mnist"):
        SmallAdd().make(None, seed=0, progress=quiet)


def test_the_written_folder_is_the_competitions_and_the_same_each_time(tmp_path: Path) -> None:
    dataset, _ = made_of(SmallAdd)
    first = write_unseen(SmallAdd(), dataset, tmp_path / "a", seed=0, progress=quiet)
    assert write_unseen(SmallAdd(), made_of(SmallAdd)[0], tmp_path / "b", seed=0, progress=quiet) == first
    assert {path.name: file_sha256(path) for path in (tmp_path / "a").iterdir()} == {
        path.name: file_sha256(path) for path in (tmp_path / "b").iterdir()
    }
    written = np.load(tmp_path / "a" / "train_x.npy")
    assert (written.dtype, written.flags.c_contiguous) == (np.float32, True)
    assert np.array_equal(written, dataset.train.images)
    read = read_competition("own", tmp_path / "a", quiet)
    assert (read.published, read.train_images.shape) == ((300, 100), (400, 3, 28, 28))
    origins = np.load(tmp_path / "a" / "test_origins.npz", allow_pickle=False)
    assert np.array_equal(origins["digits"], dataset.test.origins["digits"])


def test_noise_in_place_of_mnist_is_said_and_has_no_figure_of_the_paper(tmp_path: Path) -> None:
    write_unseen(SmallAdd(), made_of(SmallAdd)[0], tmp_path / "a", seed=0, progress=quiet)
    metadata = json.loads((tmp_path / "a" / "metadata").read_text())
    assert metadata["synthetic"] is True and "benchmark" not in metadata
    assert "mnist has other images than the published one" in metadata["notes"][0]


def test_wrong_labels_and_shared_digits_are_not_written(tmp_path: Path) -> None:
    dataset, _ = made_of(SmallAdd)
    dataset.valid.labels[0] = (dataset.valid.labels[0] + 1) % 20
    with pytest.raises(BadFile, match="some valid labels of addnist do not follow its rule"):
        write_unseen(SmallAdd(), dataset, tmp_path / "a", seed=0, progress=quiet)
    shared = GeneratedDataset(dataset.train, dataset.train, dataset.test)
    with pytest.raises(BadFile, match="addnist has the same digits in two parts"):
        write_unseen(SmallAdd(), shared, tmp_path / "a", seed=0, progress=quiet)
    assert not (tmp_path / "a").exists()


SOURCES = {
    "addnist": "mnist/train-images-idx3-ubyte",
    "multnist": "mnist/train-images-idx3-ubyte",
    "cifartile": "cifar10/train_lables.json",
    "language": "wordlists/en.txt",
    "gutenberg": "gutenberg/plato1.txt.gz",
    "chesseract": "pgn/Tal.pgn.gz",
}
"""A file of the raw material of each, in the folder of published data."""


@pytest.mark.parametrize("name", SOURCES)
def test_seed_0_gives_the_pinned_bytes(name: str, published_data: Callable[[str], Path], tmp_path: Path) -> None:
    source = published_data(SOURCES[name]).parent
    if name != "language" and not os.environ.get("NASBED_TEST_UNSEEN"):
        pytest.skip("making it whole takes 5 to 40 s; set NASBED_TEST_UNSEEN=1")
    dataset = UNSEEN.get(name)()
    pinned = pinned_digests(name)
    generated = dataset.make(source, seed=pinned.seed, progress=quiet)
    if generated.sources != pinned.sources:
        pytest.skip(f"the raw material in {source} is another than that of the pinned digests")
    assert [len(part) for part in generated.parts.values()] == list(dataset.counts)
    assert write_unseen(dataset, generated, tmp_path / "made", seed=pinned.seed, progress=quiet) == pinned.arrays
    metadata = json.loads((tmp_path / "made" / "metadata").read_text())
    assert metadata["benchmark"] == dataset.benchmark and "synthetic" not in metadata


def test_nothing_is_pinned_of_what_is_not_known() -> None:
    with pytest.raises(UnknownName, match="did you mean addnist"):
        pinned_digests("addnis")
