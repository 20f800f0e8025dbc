"""The family of Gutenberg: words in a row from a book as a grid, and who wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import PARTS, GeneratedDataset, GeneratedPart, positions_in
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.families.family import DatasetFamily
from nasbed.datasets.unseen.families.letters import Strings, black_on_white, from_grid, to_grid
from nasbed.datasets.unseen.families.parameters import Several, Whole, image_counts
from nasbed.datasets.unseen.sources.gutenberg_text import book, words
from nasbed.datasets.unseen.sources.material import content, files_ending, open_material, sha256, text

ALPHABET = "abcdefghijklmnopqrstuvwxyz "
AUTHORS = {
    "aquinas": "Thomas Aquinas",
    "confucius": "Confucius",
    "hawthorne": "Nathaniel Hawthorne",
    "plato": "Plato",
    "shakespeare": "William Shakespeare",
    "tolstoy": "Leo Tolstoy",
}
STRETCH = 200
"""Words of a stretch at most. Longer ones, which words of almost any length make, are cut: phrases across are lost."""
_DIVIDED, _LABELLED, _PICKED = range(3)


class Phrases(DatasetFamily):
    """A column for each place of the phrase, a row for each letter; labels follow the list of authors.

    What is decided where the paper is silent:

    - A letter's pixel is 1, the others are 0. Rows are a to z and then the space that words are padded with.
    - Every so many words in a row, each of an allowed length, are a phrase, whatever punctuation was between them;
      phrases may share words. A stretch of such words is wholly in one part, so that phrases of two parts never share a
      place in a book. A phrase that occurs in two parts is left out, and so is one that occurs with two authors.
    - Authors are balanced to the image and no phrase is used twice. An author whose books have too few phrases is an
      error that says how many there are: none is repeated to make up for it.
    """

    name = "phrases"
    title = "Phrases"
    licence = "the books are in the public domain in the USA"
    hygiene: tuple[str, ...] = ("phrase", "stretch")
    shares_stretches = False
    """Whether phrases of one stretch, which share words, may be in two parts."""
    kind = 2
    parameters = (
        Several("authors", tuple(AUTHORS), "classes, in this order: how files begin", 2, "names", "[a-z]+"),
        Whole("words", 3, "words of a phrase; single ones would be in all parts", 2, 6),
        Whole("shortest", 3, "letters of the shortest word that a phrase may have", 1, 12),
        Whole("longest", 6, "letters of the longest word; columns of a word", 2, 12),
        *image_counts(45_000, 15_000, 6_000),
    )

    def _configure(self) -> None:
        self.authors: tuple[str, ...] = self.settings["authors"]
        self.together = self.settings["words"]
        self.lengths = range(self.settings["shortest"], self.settings["longest"] + 1)
        if not self.lengths:
            raise InvalidOption(
                f"shortest is at most longest, got {self.settings['shortest']} and {self.settings['longest']}; "
                "set both to the same for words of one length"
            )
        self.classes = tuple(AUTHORS.get(author, author) for author in self.authors)
        self.shape = (1, len(ALPHABET), self.together * self.lengths[-1])
        self.rule = (
            f"{self.together} words in a row from a book, of {self.lengths[0]} to {self.lengths[-1]} letters, a column "
            "for each place and a row for each letter; the label is the author."
        )
        self.needs = (
            f"a folder of books from gutenberg.org as --source: {self.authors[0]}….txt, {self.authors[1]}….txt … "
            f"{self.authors[-1]}….txt, .gz or not"
        )

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        books, digests = self._books(source)
        texts = []
        for index, (author, book_text) in enumerate(books):
            texts.append((author, self.words_of(book_text)))
            progress(f"{self.name}, reading books", index + 1, len(books))
        windows = _windows(texts, self.together, self.lengths)
        divided = _divided_by_phrase if self.shares_stretches else _divided
        phrases = _phrases(windows, divided(windows, draws, self.counts))
        train, valid, test = (self._part(draws, part, phrases) for part in range(3))
        left = np.bincount(phrases.author, minlength=len(self.authors))
        note = f"Left: {', '.join(f'{count} {name}' for count, name in zip(left, self.authors, strict=True))}."
        return GeneratedDataset(train, valid, test, sources=digests, notes=(phrases.note, note))

    def _books(self, source: Path | None) -> tuple[list[tuple[int, str]], dict[str, str]]:
        """The books with their authors' numbers, in the order of the files' names."""
        books = []
        digests = {}
        with open_material(source, self.needs) as folder:
            for name, path in files_ending(folder, ".txt").items():
                matches = [number for number, begin in enumerate(self.authors) if name.lower().startswith(begin)]
                if matches:
                    data = content(path)
                    books.append((matches[0], text(path, data)))
                    digests[name] = sha256(data)
        present = {author for author, _ in books}
        if missing := [author for number, author in enumerate(self.authors) if number not in present]:
            raise BadFile(
                f"books of all {len(self.authors)} authors are needed, {source} has no "
                f"{', '.join(f'{name}….txt' for name in missing)}; get some from gutenberg.org"
            )
        return books, digests

    def words_of(self, text_of_book: str) -> list[str]:
        """The words of a file from Project Gutenberg, as they follow each other."""
        return words(book(text_of_book))

    def _part(self, draws: Draws, part: int, phrases: _DistinctPhrases) -> GeneratedPart:
        labels = draws.balanced(self.counts[part], len(self.authors), _LABELLED, part)
        numbers = range(len(self.authors))
        pools = [np.flatnonzero((phrases.author == number) & (phrases.part == part)) for number in numbers]
        for name, pool, images in zip(self.authors, pools, np.bincount(labels), strict=True):
            if len(pool) < images:
                raise BadFile(
                    f"an author has a phrase for each image, {name} has {len(pool)} of {images} for {PARTS[part]}; "
                    "add books"
                )
        indices = draws.without_repeats(labels, pools, _PICKED, part)
        strings = phrases.text[indices]
        grids = to_grid(strings, ALPHABET).transpose(0, 2, 1)[:, None]
        origins = {"phrase": strings, "stretch": phrases.stretch[indices], "author": np.array(self.authors)[labels]}
        return GeneratedPart(np.ascontiguousarray(grids), labels, origins)

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels of the authors; −1 where the pixels do not spell the phrase."""
        labels = positions_in(self.authors, origins["author"])
        labels[from_grid(images[:, 0].transpose(0, 2, 1), ALPHABET) != origins["phrase"]] = -1
        return labels

    def picture(self, image: Images) -> NDArray[np.uint8]:
        return black_on_white(image[0])


@dataclass(frozen=True, slots=True, eq=False)
class _Windows:
    """So many words in a row: their padded text, their author and the number of their stretch."""

    text: Strings
    author: Integers
    stretch: Integers


@dataclass(frozen=True, slots=True, eq=False)
class _DistinctPhrases:
    """Distinct phrases of one author and one part each; ``stretch`` is the first that has it. ``note`` says what was
    left out."""

    text: Strings
    author: Integers
    part: Integers
    stretch: Integers
    note: str


def _windows(texts: list[tuple[int, list[str]]], together: int, lengths: range) -> _Windows:
    phrases: list[str] = []
    authors: list[int] = []
    stretches: list[int] = []
    stretch = 0
    for author, words_of_text in texts:
        for fits, run in groupby(words_of_text, lambda word: len(word) in lengths):
            every = [word.ljust(lengths[-1]) for word in run] if fits else []
            for start in range(0, len(every), STRETCH):
                padded = every[start : start + STRETCH]
                windows = ["".join(padded[place : place + together]) for place in range(len(padded) - together + 1)]
                phrases += windows
                authors += [author] * len(windows)
                stretches += [stretch] * len(windows)
                stretch += bool(windows)
    texts_of_windows = np.array(phrases, f"<U{together * lengths[-1]}")
    return _Windows(texts_of_windows, np.array(authors, np.int64), np.array(stretches, np.int64))


def _divided(windows: _Windows, draws: Draws, counts: tuple[int, int, int]) -> Integers:
    """The part of each window: an author's stretches, in random order, fill the parts in proportion to the images."""
    parts = np.empty(len(windows.text), np.int64)
    for author in np.unique(windows.author).tolist():
        rows = np.flatnonzero(windows.author == author)
        _, stretch, sizes = np.unique(windows.stretch[rows], return_inverse=True, return_counts=True)
        order = draws.order(len(sizes), _DIVIDED, author)
        starts = np.cumsum(sizes[order]) - sizes[order]
        ends = len(rows) * np.cumsum(counts) // sum(counts)
        part_of = np.empty(len(sizes), np.int64)
        part_of[order] = np.searchsorted(ends, starts, side="right")
        parts[rows] = part_of[stretch]
    return parts


def _divided_by_phrase(windows: _Windows, draws: Draws, counts: tuple[int, int, int]) -> Integers:
    """The part of each window: all phrases, in random order, fill the parts in proportion to the images."""
    distinct, number = np.unique(windows.text, return_inverse=True)
    place = np.empty(len(distinct), np.int64)
    place[draws.order(len(distinct), _DIVIDED)] = np.arange(len(distinct))
    ends = len(distinct) * np.cumsum(counts) // sum(counts)
    parts: Integers = np.searchsorted(ends, place, side="right")[number]
    return parts


def _phrases(windows: _Windows, parts: Integers) -> _DistinctPhrases:
    """The phrases that only one author and one part have."""
    distinct, first, number = np.unique(windows.text, return_index=True, return_inverse=True)
    one_author = _only(windows.author, number, windows.author[first])
    one_part = _only(parts, number, parts[first])
    usable = np.flatnonzero(one_author & one_part)
    note = (
        f"Phrases: {len(distinct)}; left out: {np.count_nonzero(~one_author)} of two authors, "
        f"{np.count_nonzero(one_author & ~one_part)} that would be in two parts."
    )
    rows = first[usable]
    return _DistinctPhrases(distinct[usable], windows.author[rows], parts[rows], windows.stretch[rows], note)


def _only(values: Integers, number: Integers, firsts: Integers) -> NDArray[np.bool_]:
    """Which of the numbered have the same value everywhere."""
    alike = np.ones(len(firsts), np.bool_)
    alike[number[values != firsts[number]]] = False
    return alike
