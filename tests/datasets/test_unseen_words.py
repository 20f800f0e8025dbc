"""Language and Gutenberg: strings read back from the pixels, letter by letter, and looked for in the texts."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption, MissingDependency
from nasbed.datasets.unseen import GeneratedDataset
from nasbed.datasets.unseen.families.letters import from_grid, to_grid
from nasbed.datasets.unseen.families.words import LANGUAGES
from nasbed.datasets.unseen.gutenberg import Gutenberg, GutenbergWithSharedStretches
from nasbed.datasets.unseen.language import Language
from nasbed.datasets.unseen.sources.gutenberg_text import book, words
from nasbed.datasets.unseen.sources.material import content, text

CODES = ("en", "nl", "de", "es", "fr", "pt", "sv", "zu", "sw", "fi")
AUTHORS = ("aquinas", "confucius", "hawthorne", "plato", "shakespeare", "tolstoy")
LICENCE = """\ufeffSTART: FULL LICENSE
THE FULL PROJECT GUTENBERG LICENSE
donate cash today donate cash today

[*] This paragraph, after 1.C., is included only for copyrighted works.
"""


class SmallLanguage(Language):
    preset: ClassVar = {"train": 200, "valid": 50, "test": 40}


class SmallGutenberg(Gutenberg):
    preset: ClassVar = {"train": 300, "valid": 90, "test": 60}


class SmallGutenbergWithSharedStretches(GutenbergWithSharedStretches):
    preset: ClassVar = {"train": 300, "valid": 90, "test": 60}


def quiet(step: str, count: int, total: int | None) -> None:
    pass


def read(grid: NDArray[Any], alphabet: str) -> str:
    """A grid ``[place, letter]`` as a person reads it."""
    string = ""
    for row in grid:
        lit = [letter for letter, pixel in zip(alphabet, row, strict=True) if pixel == 1]
        assert len(lit) == 1 and set(row.tolist()) == {0, 1}
        string += lit[0]
    return string


def same(first: GeneratedDataset, second: GeneratedDataset) -> bool:
    return all(
        part.images.tobytes() == second.parts[name].images.tobytes()
        and part.labels.tobytes() == second.parts[name].labels.tobytes()
        for name, part in first.parts.items()
    )


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, set[str]]]:
    """Ten lists: some words are of two languages, some break a rule, one list is packed, one names its country."""
    folder = tmp_path_factory.mktemp("lists")
    random = np.random.default_rng(0)
    good: dict[str, set[str]] = {}
    for code in CODES:
        good[code] = {"".join(random.choice(list("abcdefghijklmnopqrstuvwx"), 6)) for _ in range(80)} | {"animal"}
        bad = {"yearly", "zigzag", "naïvet", "über", "five", "sevenxx", "it's", "ab cde"}
        lines = sorted(good[code] | bad)
        lines[0] = lines[0].upper()
        content = ("\n".join(lines) + "\n").encode()
        if code == "sw":
            (folder / "sw.txt.gz").write_bytes(gzip.compress(content))
        else:
            (folder / ("pt_PT.txt" if code == "pt" else f"{code}.txt")).write_bytes(content)
    (folder / "README.txt").write_text("not a list")
    return folder, good


def test_language_words_are_read_back_and_found_in_their_language(lists: tuple[Path, dict[str, set[str]]]) -> None:
    folder, good = lists
    dataset = SmallLanguage().make(folder, seed=0, progress=quiet)
    SmallLanguage().check(dataset)
    used: dict[str, set[str]] = {}
    for name, part in dataset.parts.items():
        used[name] = set()
        for image, label in zip(part.images, part.labels, strict=True):
            string = read(image[0], "abcdefghijklmnopqrstuvwx")
            four = {string[start : start + 6] for start in range(0, 24, 6)}
            assert len(four) == 4
            assert four <= good[CODES[label]]
            used[name] |= four
    assert not used["train"] & used["valid"] | used["train"] & used["test"] | used["valid"] & used["test"]
    assert [np.bincount(part.labels).tolist() for part in dataset.parts.values()] == [[20] * 10, [5] * 10, [4] * 10]


def test_language_order_is_the_papers() -> None:
    listed = "English, Dutch, German, Spanish, French, Portuguese, Swedish, Zulu, Swahili, Finnish"
    assert ", ".join(Language().classes) == listed
    assert tuple(LANGUAGES) == CODES


def test_language_same_seed_same_bytes(lists: tuple[Path, dict[str, set[str]]]) -> None:
    first, repeated, other_seed = (SmallLanguage().make(lists[0], seed=seed, progress=quiet) for seed in (0, 0, 1))
    assert same(first, repeated) and not same(first, other_seed)


def test_figure_2_as_a_grid() -> None:
    grid = to_grid(np.array(["uvulasmintedsuckledebits"]), "abcdefghijklmnopqrstuvwx")[0]
    assert grid.shape == (24, 24)
    assert grid.argmax(axis=1)[:6].tolist() == [20, 21, 20, 11, 0, 18]
    assert read(grid, "abcdefghijklmnopqrstuvwx") == "uvulasmintedsuckledebits"


def test_a_place_without_a_letter_or_with_two_is_unreadable() -> None:
    grids = to_grid(np.array(["abc", "abc"]), "abc")
    grids[0, 1] = 0
    grids[1, 2] = 1
    assert from_grid(grids, "abc").tolist() == ["a?c", "ab?"]


def test_language_pixels_that_spell_something_else_are_reported(lists: tuple[Path, dict[str, set[str]]]) -> None:
    dataset = SmallLanguage().make(lists[0], seed=0, progress=quiet)
    dataset.test.images[3] = dataset.test.images[4]
    with pytest.raises(BadFile, match="some test labels of language do not follow its rule"):
        SmallLanguage().check(dataset)


def test_language_names_missing_and_useless_lists(lists: tuple[Path, dict[str, set[str]]], tmp_path: Path) -> None:
    for path in lists[0].iterdir():
        if path.stem not in ("nl", "zu"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(BadFile, match=r"has no nl\.txt, zu\.txt"):
        SmallLanguage().make(tmp_path, seed=0, progress=quiet)
    for code in ("nl", "zu"):
        (tmp_path / f"{code}.txt").write_text("zigzag\n")
    with pytest.raises(BadFile, match="Dutch has none"):
        SmallLanguage().make(tmp_path, seed=0, progress=quiet)
    (tmp_path / "nl.txt").write_text("streep\nstroop\nstraat\n")
    (tmp_path / "zu.txt").write_text("abadla\nabahle\nabakha\nabakhe\n")
    with pytest.raises(BadFile, match="each part needs 4 words"):
        SmallLanguage().make(tmp_path, seed=0, progress=quiet)
    (tmp_path / "nl.txt").write_bytes(b"stra\xdfe\n")
    with pytest.raises(BadFile, match=r"nl\.txt is not UTF-8 text at byte 4"):
        SmallLanguage().make(tmp_path, seed=0, progress=quiet)


ASPELL = """#!{python}
import pathlib, sys
arguments = [each for each in sys.argv[1:] if not each.startswith("--encoding")]
folder = pathlib.Path({folder!r})
if arguments == ["dicts"]:
    print({dicts!r})
elif arguments[0] == "-d" and arguments[2:] == ["dump", "master"]:
    name = arguments[1].split("_")[0]
    print("\\n".join(word + "/A" for word in (folder / (name + ".words")).read_text().split()))
elif arguments[0] == "-l" and arguments[2:] == ["expand"]:
    for line in sys.stdin:
        print(line.split("/")[0].strip(), line.split("/")[0].strip() + "s")
else:
    sys.exit("what?")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="writes a script to run as aspell")
def test_language_from_aspell_expands_its_dictionaries(
    lists: tuple[Path, dict[str, set[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency, match="install aspell and its dictionaries"):
        SmallLanguage().make(None, seed=0, progress=quiet)
    dicts = ["pt_PT" if code == "pt" else code for code in CODES]
    script = tmp_path / "aspell"
    script.write_text(ASPELL.format(python=sys.executable, folder=str(tmp_path), dicts=" ".join(dicts[:-2])))
    script.chmod(0o755)
    with pytest.raises(MissingDependency, match=r"none for sw, fi;.*apt install aspell-sw aspell-fi"):
        SmallLanguage().make(None, seed=0, progress=quiet)
    script.write_text(ASPELL.format(python=sys.executable, folder=str(tmp_path), dicts=" ".join(dicts)))
    stems = {code: {word[:5] for word in good} for code, good in lists[1].items()}
    for code, stem_list in stems.items():
        (tmp_path / f"{code}.words").write_text("\n".join(sorted(stem_list)))
    dataset = SmallLanguage().make(None, seed=0, progress=quiet)
    for image, label in zip(dataset.train.images, dataset.train.labels, strict=True):
        string = read(image[0], "abcdefghijklmnopqrstuvwx")
        assert all(string[at + 5] == "s" and string[at : at + 5] in stems[CODES[label]] for at in range(0, 24, 6))
    assert set(dataset.sources) == {f"aspell {name}" for name in dicts}


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Six books, and each as its words alone, with a space on either side of each."""
    folder = tmp_path_factory.mktemp("books")
    plain = {}
    for number, author in enumerate(AUTHORS):
        random = np.random.default_rng(number)
        lengths = random.choice([1, 2, 3, 4, 5, 6, 7, 9], 40, p=[0.05, 0.1, 0.15, 0.2, 0.2, 0.15, 0.1, 0.05])
        vocabulary = ["".join(random.choice(list("bcdfghaeiou"), length)) for length in lengths]
        common = ["the same words here in all books of all men, the same words again"]
        sentences = [" ".join(random.choice(vocabulary, 12)) for _ in range(150)]
        clean = [*common, *sentences]
        plain[author] = " " + " ".join(clean).replace(",", "") + " "
        written = "".join(
            f"CHAPTER {'I' * (1 + place % 3)}.\n\n{sentence.capitalize()}.\n" for place, sentence in enumerate(clean)
        )
        data = (LICENCE + written).encode()
        if author == "hawthorne":
            (folder / "Hawthorne-2.txt.gz").write_bytes(gzip.compress(data))
        else:
            (folder / f"{author}1.txt").write_bytes(data)
    return folder, plain


def test_gutenberg_phrases_are_read_back_and_found_with_one_author(books: tuple[Path, dict[str, str]]) -> None:
    folder, plain = books
    dataset = SmallGutenberg().make(folder, seed=0, progress=quiet)
    SmallGutenberg().check(dataset)
    part_of_phrase: dict[str, str] = {}
    for name, part in dataset.parts.items():
        for image, label in zip(part.images, part.labels, strict=True):
            padded = read(image[0].T, "abcdefghijklmnopqrstuvwxyz ")
            three = [padded[at : at + 6].rstrip() for at in range(0, 18, 6)]
            assert all(3 <= len(word) <= 6 and " " not in word for word in three)
            phrase = " ".join(three)
            assert [author for author in AUTHORS if f" {phrase} " in plain[author]] == [AUTHORS[label]]
            assert phrase not in part_of_phrase
            part_of_phrase[phrase] = name
    assert not any(word in phrase for phrase in part_of_phrase for word in ("donate", "chapter", "same"))
    counts = [np.bincount(part.labels).tolist() for part in dataset.parts.values()]
    assert counts == [[50] * 6, [15] * 6, [10] * 6]


def test_gutenberg_phrases_of_two_parts_never_share_a_word_of_a_book(books: tuple[Path, dict[str, str]]) -> None:
    folder, plain = books
    dataset = SmallGutenberg().make(folder, seed=0, progress=quiet)
    for author in AUTHORS:
        every = plain[author].split()
        part_of: dict[str, str] = {}
        for name, part in dataset.parts.items():
            mine = part.origins["phrase"][part.origins["author"] == author]
            part_of |= {" ".join(phrase[at : at + 6].strip() for at in (0, 6, 12)): name for phrase in mine.tolist()}
        assert len(part_of) == sum(SmallGutenberg().counts) // 6
        places: dict[int, str] = {}
        for at in range(len(every) - 2):
            if part_of_window := part_of.get(" ".join(every[at : at + 3])):
                assert {places.setdefault(place, part_of_window) for place in range(at, at + 3)} == {part_of_window}


def test_gutenberg_with_shared_stretches_has_each_phrase_once_and_stretches_in_two_parts(
    books: tuple[Path, dict[str, str]],
) -> None:
    generator = SmallGutenbergWithSharedStretches()
    dataset = generator.make(books[0], seed=0, progress=quiet)
    generator.check(dataset)
    phrases = [phrase for part in dataset.parts.values() for phrase in part.origins["phrase"].tolist()]
    assert len(set(phrases)) == len(phrases) == 450
    shared = np.intersect1d(dataset.train.origins["stretch"], dataset.test.origins["stretch"])
    assert len(shared) and same(dataset, generator.make(books[0], seed=0, progress=quiet))
    plain = SmallGutenberg().make(books[0], seed=0, progress=quiet)
    assert not np.isin(plain.test.origins["stretch"], plain.train.origins["stretch"]).any()


def test_gutenberg_same_seed_same_bytes(books: tuple[Path, dict[str, str]]) -> None:
    first, repeated, other_seed = (SmallGutenberg().make(books[0], seed=seed, progress=quiet) for seed in (0, 0, 1))
    assert same(first, repeated) and not same(first, other_seed)


def test_gutenberg_order_and_padding_are_those_of_figure_2() -> None:
    assert Gutenberg().classes[4] == "William Shakespeare"
    grid = to_grid(np.array(["their springtheir "]), "abcdefghijklmnopqrstuvwxyz ")[0].T
    assert grid.shape == (27, 18)
    assert grid[26].tolist() == [0] * 5 + [1] + [0] * 11 + [1]


def test_gutenberg_names_what_is_missing_or_too_short(books: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match=r"--source: a folder of books from gutenberg\.org"):
        SmallGutenberg().make(None, seed=0, progress=quiet)
    for path in books[0].iterdir():
        if not path.name.startswith("plato"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(BadFile, match=r"has no plato….txt"):
        SmallGutenberg().make(tmp_path, seed=0, progress=quiet)
    (tmp_path / "plato.txt").write_text("what then shall this mean")
    with pytest.raises(BadFile, match=r"plato has \d of 50 for train; add books"):
        SmallGutenberg().make(tmp_path, seed=0, progress=quiet)
    packed = (tmp_path / "Hawthorne-2.txt.gz").read_bytes()
    (tmp_path / "Hawthorne-2.txt.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(BadFile, match=r"Hawthorne-2\.txt\.gz cannot be read.*get it again"):
        SmallGutenberg().make(tmp_path, seed=0, progress=quiet)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Prince Vasíli Kurágin’s", "prince vasili kuragins"),
        ("Cæsar, naïve—façade; Œdipus", "caesar naive facade oedipus"),
        ("SCENE II. Enter the King", "enter the king"),
        ("PROLOGUE\n\nMIX the civil did", "the civil did"),
        ("Of this part I speak; Part II; BOOK ONE", "of this part i speak one"),
        ("as Li says, Ps. lxxxi, 4: mix did it", "as li says ps mix did it"),
        ("2. 'The superior man'[33] λόγος", "the superior man"),
    ],
)
def test_words_of_a_text(written: str, expected: str) -> None:
    assert " ".join(words(written)) == expected


def test_licences_are_cut_wherever_they_stand() -> None:
    inside = "*** START OF THE PROJECT GUTENBERG EBOOK X ***\nThe text.\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n"
    assert book(f"The Project Gutenberg eBook\n{inside}{LICENCE}").strip() == "The text."
    assert book(f"{LICENCE[1:]}The text.").strip() == "The text."
    assert book("The text.\nSTART: FULL LICENSE\nall that follows").strip() == "The text."


def test_published_books_keep_nothing_of_the_licence(published_data: Callable[[str], Path]) -> None:
    path = published_data("gutenberg/shakespeare1.txt.gz")
    content_of_book = book(text(path, content(path)))
    assert "gutenberg" not in content_of_book.lower()
    assert words(content_of_book)[:9] == [
        "the",
        "enter",
        "chorus",
        "chorus",
        "two",
        "households",
        "both",
        "alike",
        "in",
    ]
    assert words(content_of_book)[-9:] == ["more", "woe", "than", "this", "of", "juliet", "and", "her", "romeo"]


def test_published_lists_have_only_fitting_words(published_data: Callable[[str], Path]) -> None:
    folder = published_data("wordlists/en.txt").parent
    for path in folder.glob("*.txt"):
        every = path.read_text().split()
        assert all(len(word) == 6 and set(word) <= set("abcdefghijklmnopqrstuvwx") for word in every)
