"""Datasets by the scripts that their authors published for the competition (github.com/RobGeada/cvpr-nas-datasets)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.datasets import store
from nasbed.datasets.opening import open_dataset
from nasbed.datasets.source import Raw
from nasbed.datasets.unseen import UNSEEN
from nasbed.datasets.unseen.addnist import AddNISTAsReleased
from nasbed.datasets.unseen.cifartile import PADDING, CIFARTileAsReleased
from nasbed.datasets.unseen.gutenberg import Gutenberg, GutenbergAsReleased
from nasbed.datasets.unseen.language import LanguageAsReleased
from support.commands import run_command
from support.dataset_files import random_images


class SmallTiles(CIFARTileAsReleased):
    preset: ClassVar = {"train": 400, "valid": 100, "test": 40}


class SmallAdd(AddNISTAsReleased):
    preset: ClassVar = {**AddNISTAsReleased.preset, "train": 300, "valid": 100, "test": 60}


class SmallLanguage(LanguageAsReleased):
    preset: ClassVar = {"train": 3_000, "valid": 1_000, "test": 1_000}


class SmallBooks(GutenbergAsReleased):
    preset: ClassVar = {"train": 300, "valid": 90, "test": 60}


def quiet(step: str, count: int, total: int | None) -> None:
    pass


@pytest.fixture
def photographs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Raw:
    """A source of a few images, prepared as CIFAR-10 and, in grey, as MNIST."""
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "home"))
    labels = np.arange(60) % 10
    raw = Raw(random_images(1, 60, 3, 32, 32), labels, random_images(2, 60, 3, 32, 32), labels, tuple("0123456789"))
    grey = (images[:, :1, :28, :28] for images in (raw.train_images, raw.test_images))
    store.write("cifar10", raw, "made up")
    store.write("mnist", Raw(next(grey), labels, next(grey), labels, raw.classes), "made up")
    return raw


def placed(tile: NDArray[Any], photograph: NDArray[Any]) -> list[tuple[int, int, bool]]:
    """Where a tile lies in a photograph with a black border, and whether it is mirrored."""
    bordered = np.pad(photograph, ((0, 0), (PADDING, PADDING), (PADDING, PADDING)))
    return [
        (down, across, mirrored)
        for down in range(2 * PADDING + 1)
        for across in range(2 * PADDING + 1)
        for mirrored in (False, True)
        if np.array_equal(tile[..., ::-1] if mirrored else tile, bordered[:, down : down + 32, across : across + 32])
    ]


def test_tiles_are_crops_of_photographs_mirrored_half_of_the_time_but_for_the_test(photographs: Raw) -> None:
    dataset = SmallTiles().make(None, seed=0, progress=quiet)
    SmallTiles().check(dataset)
    corners = ((0, 0), (0, 32), (32, 0), (32, 32))
    for name, part in dataset.parts.items():
        source = photographs.test_images if name == "test" else photographs.train_images
        offset = 60 if name == "test" else 0
        places = []
        for image, numbers in zip(part.images[:100], part.origins["tiles"], strict=False):
            for (top, left), number in zip(corners, numbers, strict=True):
                (place,) = placed(image[:, top : top + 32, left : left + 32], source[number - offset])
                places.append(place)
        if name == "test":
            assert set(places) == {(PADDING, PADDING, False)}
        else:
            assert {down for down, _, _ in places} == {across for _, across, _ in places} == set(range(9))
            assert 150 < sum(mirrored for _, _, mirrored in places) < 250  # 200 of 400, five deviations each way


def test_tiles_of_two_kinds_are_two_and_two_and_parts_to_train_share_photographs(photographs: Raw) -> None:
    dataset = SmallTiles().make(None, seed=0, progress=quiet)
    shapes = {
        label: {tuple(sorted(Counter(row).values())) for row in part.origins["things"][part.labels == label].tolist()}
        for part in dataset.parts.values()
        for label in range(4)
    }
    assert shapes == {0: {(4,)}, 1: {(2, 2)}, 2: {(1, 1, 2)}, 3: {(1, 1, 1, 1)}}
    train, valid, test = (set(part.origins["tiles"].ravel().tolist()) for part in dataset.parts.values())
    assert train == set(range(60)) and len(valid & train) == len(valid) > 50 and min(test) >= 60


def test_digits_to_train_and_to_validate_are_the_same(photographs: Raw) -> None:
    dataset = SmallAdd().make(None, seed=0, progress=quiet)
    SmallAdd().check(dataset)
    train, valid, test = (set(part.origins["digits"].ravel().tolist()) for part in dataset.parts.values())
    assert train == set(range(60)) and valid <= train and min(test) >= 60


def word_lists(folder: Path, count: int) -> Path:
    """Lists of ten languages, of which any two have some words in common."""
    random, letters = np.random.default_rng(0), list("abcdefghijklmnopqrstuvwx")
    folder.mkdir()
    common = {"".join(word) for word in random.choice(letters, (300, 6))}
    for code in LanguageAsReleased().codes:
        own = {"".join(word) for word in random.choice(letters, (count - 300, 6))}
        (folder / f"{code}.txt").write_text("\n".join(sorted(own | common)))
    return folder


def test_language_has_1500_words_to_train_and_700_others_for_the_test(tmp_path: Path) -> None:
    dataset = SmallLanguage().make(word_lists(tmp_path / "lists", 2_600), seed=0, progress=quiet)
    SmallLanguage().check(dataset)
    of_parts: list[dict[str, set[str]]] = []
    for part in dataset.parts.values():
        languages = part.origins["language"]
        of_parts.append({str(code): set(part.origins["words"][languages == code].flat) for code in set(languages)})
    train, valid, test = of_parts
    for code in LanguageAsReleased().codes:
        seen = train[code] | valid[code]
        assert 700 < len(seen) <= 1_500 and 300 < len(test[code]) <= 700
        assert not seen & test[code] and train[code] & valid[code]
    everything, tested = set().union(*train.values()), set().union(*test.values())
    assert everything & tested, "a word of two languages is in both parts"


def test_language_needs_2200_words_of_each_language(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="each language has 2200 words, English has"):
        SmallLanguage().make(word_lists(tmp_path / "lists", 2_000), seed=0, progress=quiet)


def test_gutenberg_takes_words_as_the_script_does(tmp_path: Path) -> None:
    """A word with an apostrophe of ASCII is two words, and the first 95 lines of a file do not count."""
    random = np.random.default_rng(0)
    for author in Gutenberg().authors:
        vocabulary = ["".join(word) for word in random.choice(list("abcdefgh"), (60, 5))]
        text = " ".join(random.choice(vocabulary, 3_000)) + " sun's day out"
        (tmp_path / f"{author}1.txt").write_text("one two three\n" * 95 + text + "\nTHE END\n")
    generator = SmallBooks()
    dataset = generator.make(tmp_path, seed=0, progress=quiet)
    generator.check(dataset)
    phrases = [phrase for part in dataset.parts.values() for phrase in part.origins["phrase"].tolist()]
    assert len(set(phrases)) == 450 and not any("one" in phrase for phrase in phrases)
    assert np.isin(dataset.test.origins["stretch"], dataset.train.origins["stretch"]).mean() > 0.5
    assert generator.words_of("\n" * 95 + "sun's day out\nTHE END") == ["sun", "s", "day", "out"]
    assert Gutenberg().words_of("sun's day out\nTHE END") == ["suns", "day", "out", "the", "end"]


@pytest.mark.parametrize("name", list(UNSEEN))
def test_as_released_is_another_dataset_of_the_same_shape_or_refused(name: str) -> None:
    plain = UNSEEN.get(name)()
    if name in ("isabella", "geoclassing", "chesseract"):
        with pytest.raises(InvalidOption, match=f"--as-released does not apply to {name}: no published scripts"):
            plain.as_released()
        return
    released = plain.as_released()
    assert (released.name, released.title) == (name, f"{plain.title} as released")
    assert (released.shape, released.counts, released.classes) == (plain.shape, plain.counts, plain.classes)
    assert released.difference.startswith("As released: ") and not plain.difference


def test_the_command_makes_it_and_the_check_knows_it(tmp_path: Path) -> None:
    lists = word_lists(tmp_path / "lists", 2_600)
    command = run_command("data", "make", "language", "--as-released", "--source", lists, "--out", tmp_path / "made")
    assert command.returncode == 0 and "Use it: nasbed data prepare language-as-released" in command.stdout
    difference = LanguageAsReleased().difference
    assert difference in (tmp_path / "made" / "card.md").read_text()
    assert difference in json.loads((tmp_path / "made" / "metadata").read_text())["notes"]
    checked = run_command("data", "check", tmp_path / "made").stdout
    assert "all are as the rule of Language as released says" in checked and "0 errors" in checked


def test_its_name_says_so_wherever_it_is_opened(tmp_path: Path, photographs: Raw) -> None:
    run_command("data", "make", "addnist", "--as-released", "--out", tmp_path / "made")
    assert open_dataset(str(tmp_path / "made")).name == "made-as-released-synthetic"
    refused = run_command("data", "prepare", "language", "--source", tmp_path / "made")
    assert refused.returncode == 2 and "images of language have 1×24×24 pixels" in refused.stderr
    refused = run_command("data", "prepare", "addnist", "--source", tmp_path / "made")
    assert refused.returncode == 2 and "call it addnist-as-released" in refused.stderr
    own = run_command("data", "prepare", "addnist-as-released-synthetic", "--source", tmp_path / "made")
    assert own.returncode == 0
