"""Families of unseen datasets: for any parameters, labels follow from the origins by a rule written here again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.datasets import store
from nasbed.datasets.source import Raw
from nasbed.datasets.unseen import FAMILIES, UNSEEN, DatasetFamily, GeneratedDataset
from nasbed.datasets.unseen.families.channels import Channels
from nasbed.datasets.unseen.families.chess_positions import Chess
from nasbed.datasets.unseen.families.phrases import Phrases
from nasbed.datasets.unseen.families.tiles import Tiles
from nasbed.datasets.unseen.families.words import Words
from support.dataset_files import random_images
from support.examples import examples

SMALL = {"train": 90, "valid": 55, "test": 52}


def quiet(step: str, count: int, total: int | None) -> None:
    pass


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Raw]]:
    """Images of noise in place of MNIST and CIFAR-10, prepared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NASBED_HOME", str(tmp_path_factory.mktemp("home")))
        raws = {}
        for name, shape in (("mnist", (1, 28, 28)), ("cifar10", (3, 32, 32))):
            labels = [
                np.random.default_rng(seed).permutation(np.arange(count) % 10) for seed, count in ((2, 600), (4, 200))
            ]
            images = [random_images(seed, len(values), *shape) for seed, values in zip((1, 3), labels, strict=True)]
            raws[name] = Raw(images[0], labels[0], images[1], labels[1], tuple("0123456789"))
            store.write(name, raws[name], "noise")
        yield raws


def plain_label(rule: str, kinds: list[int], settings: Mapping[str, Any]) -> int | None:
    """The label by the rule's name; None for a combination that the rule leaves out."""
    modulus: int = settings.get("modulus", 1)
    if rule == "sum":
        return sum(kinds) - 1 if 1 <= sum(kinds) <= settings["largest"] else None
    weights: list[int] = settings.get("weights", [0] * len(kinds))
    return {
        "weighted-modulo": sum(weight * kind for weight, kind in zip(weights, kinds, strict=True)) % modulus,
        "sum-modulo": sum(kinds) % modulus,
        "product-modulo": prod(kinds) % modulus,
        "alternating-modulo": (sum(kinds[::2]) - sum(kinds[1::2])) % modulus,
        "range": max(kinds) - min(kinds),
        "maximum": max(kinds),
        "distinct": len(set(kinds)) - 1,
        "like-first": kinds[1:].count(kinds[0]),
    }[rule]


def check_hygiene(generator: DatasetFamily, dataset: GeneratedDataset) -> None:
    """Exact balance, the asked number of images, and no origin in two parts."""
    for count, part in zip(generator.counts, dataset.parts.values(), strict=True):
        counts = np.bincount(part.labels, minlength=len(generator.classes))
        assert (
            counts.sum() == count == len(part.images) and np.ptp(counts) <= 1 and len(counts) == len(generator.classes)
        )
        assert part.images.shape[1:] == generator.shape
    for origin in generator.hygiene:
        uses = Counter(value for part in dataset.parts.values() for value in set(part.origins[origin].ravel().tolist()))
        assert max(uses.values()) == 1
    generator.check(dataset)


def check_seed(generator: DatasetFamily, source: Path | None, seed: int, dataset: GeneratedDataset) -> None:
    """The same secret gives the same bytes, the next one others."""
    same, other = (generator.make(source, seed=value, progress=quiet) for value in (seed, seed + 1))
    for name, part in dataset.parts.items():
        assert part.images.tobytes() == same.parts[name].images.tobytes()
        assert part.labels.tobytes() == same.parts[name].labels.tobytes()
        assert part.images.tobytes() != other.parts[name].images.tobytes()


RULES = ["sum", "sum-modulo", "product-modulo", "weighted-modulo", "alternating-modulo", "range", "maximum", "distinct", "like-first"]  # fmt: skip


@st.composite
def rule_settings(draw: st.DrawFn, pieces: int) -> dict[str, Any]:
    settings: dict[str, Any] = {"rule": draw(st.sampled_from(RULES))}
    if settings["rule"] == "sum":
        settings["largest"] = draw(st.integers(2, 30))
    if settings["rule"].endswith("-modulo"):
        settings["modulus"] = draw(st.integers(2, 20))
    if settings["rule"] == "weighted-modulo":
        settings["weights"] = draw(st.lists(st.integers(-3, 5), min_size=pieces, max_size=pieces))
    return settings


def composed(kind: type[DatasetFamily], settings: Mapping[str, Any], pieces: int, kinds: int) -> DatasetFamily:
    """The generator, or none where a class has no combination: then it is refused."""
    labels = {plain_label(settings["rule"], list(values), settings) for values in product(range(kinds), repeat=pieces)}
    labels.discard(None)
    wanted = settings.get("largest", settings.get("modulus"))
    if wanted is not None and len(labels) < wanted:
        with pytest.raises(InvalidOption, match=r"every class needs a combination.*has none"):
            kind(**settings, **SMALL)
        assume(False)
    return kind(**settings, **SMALL)


@examples(8)
@given(data=st.data(), digits=st.integers(2, 4), side=st.sampled_from([14, 28]), seed=st.integers(0, 2**128))
def test_channels_follow_their_rule(
    data: st.DataObject, digits: int, side: int, seed: int, sources: dict[str, Raw]
) -> None:
    settings = data.draw(rule_settings(digits)) | {"digits": digits, "side": side}
    generator = composed(Channels, settings, digits, 10)
    dataset = generator.make(None, seed=seed, progress=quiet)
    raw = sources["mnist"]
    images = np.concatenate([raw.train_images, raw.test_images])[:, 0]
    if side == 14:
        images = np.rint(images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))).astype(np.uint8)
    classes = np.concatenate([raw.train_labels, raw.test_labels])
    for part in dataset.parts.values():
        for image, label, numbers in zip(part.images, part.labels, part.origins["digits"], strict=True):
            assert np.array_equal(image, images[numbers]) and len(set(numbers.tolist())) == digits
            assert label == plain_label(settings["rule"], classes[numbers].tolist(), settings)
    check_hygiene(generator, dataset)
    check_seed(generator, None, seed, dataset)


@examples(5)
@given(data=st.data(), grid=st.sampled_from([(2, 10), (2, 3), (3, 3)]), seed=st.integers(0, 2**128))
def test_tiles_follow_their_rule(
    data: st.DataObject, grid: tuple[int, int], seed: int, sources: dict[str, Raw]
) -> None:
    across, kinds = grid
    settings = data.draw(rule_settings(across**2)) | {"across": across, "kinds": kinds, "side": 32}
    generator = composed(Tiles, settings, across**2, kinds)
    dataset = generator.make(None, seed=seed, progress=quiet)
    raw = sources["cifar10"]
    number_of = {image.tobytes(): number for number, image in enumerate((*raw.train_images, *raw.test_images))}
    classes = np.concatenate([raw.train_labels, raw.test_labels])
    for image, label in zip(dataset.valid.images, dataset.valid.labels, strict=True):
        corners = [(32 * row, 32 * column) for row in range(across) for column in range(across)]
        numbers = [number_of[image[:, top : top + 32, left : left + 32].tobytes()] for top, left in corners]
        assert (
            label == plain_label(settings["rule"], classes[numbers].tolist(), settings)
            and max(classes[numbers]) < kinds
        )
    check_hygiene(generator, dataset)


def words_of(random_words: np.random.Generator, letters: str, count: int) -> list[str]:
    return ["".join(random_words.choice(list(letters), random_words.integers(2, 6))) for _ in range(count)]


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lists")
    for number, code in enumerate(("en", "it", "fi")):
        words = words_of(np.random.default_rng(number), "abcdefghijklmnopqrstuvwxyz", 900)
        (folder / f"{code}.txt").write_text("\n".join(words))
    return folder


@examples(8)
@given(
    languages=st.permutations(["en", "it", "fi"]).map(lambda codes: codes[:2]),
    words=st.integers(1, 3),
    length=st.integers(2, 4),
    letters=st.sampled_from([20, 26]),
    seed=st.integers(0, 2**128),
)
def test_words_are_of_the_language_that_the_label_says(
    languages: list[str], words: int, length: int, letters: int, seed: int, lists: Path
) -> None:
    generator = Words(languages=languages, words=words, length=length, letters=letters, **SMALL)
    dataset = generator.make(lists, seed=seed, progress=quiet)
    alphabet = "abcdefghijklmnopqrstuvwxyz"[:letters]
    known = {code: set((lists / f"{code}.txt").read_text().split()) for code in languages}
    for part in dataset.parts.values():
        for image, label in zip(part.images, part.labels, strict=True):
            string = "".join(alphabet[row.tolist().index(1)] for row in image[0])
            read = [string[start : start + length] for start in range(0, words * length, length)]
            assert len(set(read)) == words and set(read) <= known[languages[label]]
    check_hygiene(generator, dataset)
    check_seed(generator, lists, seed, dataset)


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("books")
    for number, author in enumerate(("austen", "plato", "poe")):
        rng = np.random.default_rng(number)
        vocabulary = words_of(rng, "bcdefghaou", 200)
        (folder / f"{author}1.txt").write_text(" ".join(rng.choice(vocabulary, 2_000)))
    return folder


@examples(8)
@given(
    authors=st.permutations(["austen", "plato", "poe"]).map(lambda names: names[:2]),
    words=st.integers(2, 3),
    lengths=st.sampled_from([(2, 4), (3, 5), (2, 5)]),
    seed=st.integers(0, 2**128),
)
def test_phrases_are_of_the_author_that_the_label_says(
    authors: list[str], words: int, lengths: tuple[int, int], seed: int, books: Path
) -> None:
    shortest, longest = lengths
    counts = {"train": 20, "valid": 8, "test": 6}
    generator = Phrases(authors=authors, words=words, shortest=shortest, longest=longest, **counts)
    dataset = generator.make(books, seed=seed, progress=quiet)
    texts = {author: f" {(books / f'{author}1.txt').read_text()} " for author in authors}
    for part in dataset.parts.values():
        for image, label in zip(part.images, part.labels, strict=True):
            string = "".join("abcdefghijklmnopqrstuvwxyz "[column.tolist().index(1)] for column in image[0].T)
            read = [string[start : start + longest].rstrip() for start in range(0, words * longest, longest)]
            assert all(shortest <= len(word) <= longest for word in read)
            assert [author for author in authors if f" {' '.join(read)} " in texts[author]] == [authors[label]]
    check_hygiene(generator, dataset)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty legal games of two players, with results of all kinds."""
    chess = pytest.importorskip("chess", reason="games are replayed with chess: pip install 'nasbed[unseen]'")
    folder = tmp_path_factory.mktemp("games")
    rng = random.Random(5)
    for player in ("Polgar", "Hou"):
        texts = []
        for number in range(15):
            board, moves = chess.Board(), []
            for _ in range(rng.randrange(24, 40)):
                legal = list(board.legal_moves)
                if not legal:
                    break
                moves.append(board.san(move := rng.choice(legal)))
                board.push(move)
            result = ("1-0", "1/2-1/2", "0-1")[number % 3]
            texts.append(f'[Result "{result}"]\n\n{" ".join(moves)} {result}\n')
        (folder / f"{player}.pgn").write_text("\n".join(texts))
    return folder


@pytest.mark.parametrize("label", ["result", "winner", "decisive", "material", "to-move"])
def test_chess_labels_follow_from_the_replayed_game(label: str, games: Path) -> None:
    import chess
    import chess.pgn

    counts = {"train": 30, "valid": 9, "test": 8}
    generator = Chess(players=["Hou", "Polgar"], label=label, last=70, skip=20, **counts)
    dataset = generator.make(games, seed=7, progress=quiet)
    replays: dict[tuple[str, int], list[chess.Move]] = {}
    for path in games.glob("*.pgn"):
        with path.open() as file:
            for number in range(15):
                game = chess.pgn.read_game(file)
                assert game is not None
                replays[path.name, number] = list(game.mainline_moves())
    values = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
    for part in dataset.parts.values():
        for row, expected in enumerate(part.labels.tolist()):
            moves = replays[str(part.origins["pgn"][row]), int(part.origins["number"][row])]
            ply, result = int(part.origins["ply"][row]), str(part.origins["result"][row])
            assert len(moves) - len(moves) * 70 // 100 < ply <= len(moves) - len(moves) * 20 // 100
            board = chess.Board()
            for move in moves[:ply]:
                board.push(move)
            balance = sum(values[piece.piece_type] * (1 if piece.color else -1) for piece in board.piece_map().values())
            assert (
                expected
                == {
                    "result": ("1-0", "1/2-1/2", "0-1").index(result),
                    "winner": {"1-0": 0, "0-1": 1}.get(result),
                    "decisive": int(result == "1/2-1/2"),
                    "material": 0 if balance > 0 else 2 if balance < 0 else 1,
                    "to-move": 0 if board.turn else 1,
                }[label]
            )
    check_hygiene(generator, dataset)


def test_published_datasets_of_the_families_have_the_shapes_and_classes_of_the_paper() -> None:
    shapes = {
        "addnist": ((3, 28, 28), 20),
        "multnist": ((3, 28, 28), 10),
        "cifartile": ((3, 64, 64), 4),
        "language": ((1, 24, 24), 10),
        "gutenberg": ((1, 27, 18), 6),
        "chesseract": ((12, 8, 8), 3),
    }
    for name, (shape, classes) in shapes.items():
        dataset = UNSEEN.get(name)()
        assert isinstance(dataset, DatasetFamily) and (dataset.shape, len(dataset.classes)) == (shape, classes)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_wrong_parameters_are_refused_in_one_line_that_says_what_is_allowed(name: str) -> None:
    family = FAMILIES.get(name)
    for parameter in family.parameters:
        with pytest.raises(InvalidOption, match=r"^[^\n]+$") as caught:
            family(**{parameter.key: "?"})
        assert str(caught.value).startswith(f"{parameter.key} is {parameter.allowed}, got '?'")
    with pytest.raises(UnknownName, match=r"has no parameter 'trains'; did you mean train\?"):
        family(trains=5)
    with pytest.raises(InvalidOption, match=r"each part of .* has an image of each of the"):
        family(test=1)


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        (Channels, {"modulus": 7}, "the rule sum does not read modulus; omit it"),
        (Channels, {"digits": 2, "largest": 19}, "'sum 19' has none; choose a smaller largest"),
        (Channels, {"rule": "weighted-modulo", "weights": "1,2"}, "weights has a number for each of 3 images, got 2"),
        (Tiles, {"across": 3, "kinds": 5}, "at most 1000000 combinations"),
        (Tiles, {"kinds": 11}, "cifar10 has 10 classes, got kinds=11"),
        (Tiles, {"source": "mnist", "side": 29}, "mnist has 28 pixels a side, got side=29"),
        (Phrases, {"shortest": 7}, "shortest is at most longest, got 7 and 6"),
        (Chess, {"skip": 15}, "skip is less than last, got 15 and 15"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(
    family: type[DatasetFamily], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidOption, match=message):
        family(**settings)


@pytest.mark.parametrize("digits", range(2, 7))
def test_channels_of_any_number_of_digits_need_no_other_parameter(digits: int) -> None:
    """Nines add up to at most nine times their number; AddNIST has sums up to 20."""
    family = Channels(digits=digits)
    assert (family.settings["largest"], len(family.classes)) == (min(20, 9 * digits),) * 2
    weighted = Channels(digits=digits, rule="weighted-modulo")
    assert weighted.settings["weights"] == (1, 2, 3, 4, 5, 6)[:digits]
    for rule in RULES:
        assert Channels(digits=digits, rule=rule).shape == (digits, 28, 28)


def test_tiles_of_any_grid_and_source_need_no_other_parameter() -> None:
    assert Tiles(across=3).settings["kinds"] == 4  # 4^9 is below a million, 5^9 is above
    assert Tiles(across=3, rule="sum").settings["largest"] == 20 and Tiles(rule="sum", kinds=2).classes[-1] == "sum 4"
    sides = {name: Tiles(source=name).shape[-1] for name in ("cifar10", "cifar100", "fashion-mnist", "mnist")}
    assert sides == {"cifar10": 64, "cifar100": 64, "fashion-mnist": 56, "mnist": 56}


def test_a_family_names_the_material_that_is_missing(lists: Path, books: Path, games: Path) -> None:
    with pytest.raises(BadFile, match=r"2 languages are|each of the 2 languages, .* has no sv\.txt"):
        Words(languages="en,sv").make(lists, seed=0, progress=quiet)
    with pytest.raises(BadFile, match=r"all 2 authors are needed, .* has no homer….txt"):
        Phrases(authors="plato,homer").make(books, seed=0, progress=quiet)
    with pytest.raises(BadFile, match=r"2 players are needed, .* has no Tal\.pgn"):
        Chess(players="Hou,Tal").make(games, seed=0, progress=quiet)
