"""Gutenberg (section 4.5): three words in a row from a book as a grid, and who wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import PARTS, GeneratedDataset, GeneratedPart, UnseenGenerator, positions_in
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.letters import Strings, black_on_white, from_grid, to_grid
from nasbed.datasets.unseen.sources.gutenberg_text import book, words
from nasbed.datasets.unseen.sources.material import content, files_ending, open_material, sha256, text

ALPHABET = "abcdefghijklmnopqrstuvwxyz "
AUTHORS = ("aquinas", "confucius", "hawthorne", "plato", "shakespeare", "tolstoy")
TOGETHER = 3
SHORTEST, LONGEST = 3, 6
_DIVIDED, _LABELLED, _PICKED = range(3)


class Gutenberg(UnseenGenerator):
    """Labels follow the alphabet: Shakespeare is 4, as in the paper's figure 2.

    What is decided where the paper is silent:

    - A letter's pixel is 1, the others are 0. Rows are a to z and then the space that words are padded with.
    - Every three words in a row, of 3 to 6 letters each, are a phrase, whatever punctuation was between them; phrases
      may share words. A stretch of such words is wholly in one part, so that phrases of two parts never share a place
      in a book. A phrase that occurs in two parts is left out, and so is one that occurs with two authors.
    - Authors are balanced to the image and no phrase is used twice. An author whose books have too few phrases is an
      error that says how many there are: none is repeated to make up for it.
    """

    name = "gutenberg"
    title = "Gutenberg"
    kind = 2
    shape = (1, 27, 18)
    classes = ("Thomas Aquinas", "Confucius", "Nathaniel Hawthorne", "Plato", "William Shakespeare", "Leo Tolstoy")
    counts = (45_000, 15_000, 6_000)
    benchmark = 40.98
    rule = "Three words of a book in a row, a column for each place and a row for each letter; the label is the author."
    needs = "a folder of books from gutenberg.org as --source: aquinas….txt, confucius….txt … tolstoy….txt, .gz or not"
    hygiene = ("phrase", "stretch")
    licence = "the books are in the public domain in the USA"

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        books, digests = _books(source, self.needs)
        texts = []
        for index, (author, book_text) in enumerate(books):
            texts.append((author, words(book_text)))
            progress(f"{self.name}, reading books", index + 1, len(books))
        windows = _windows(texts)
        phrases, notes = _phrases(windows, _divided(windows, draws, self.counts))
        train, valid, test = (self._part(draws, part, phrases) for part in range(3))
        return GeneratedDataset(train, valid, test, sources=digests, notes=notes)

    def _part(self, draws: Draws, part: int, phrases: _Phrases) -> GeneratedPart:
        labels = draws.balanced(self.counts[part], len(AUTHORS), _LABELLED, part)
        pools = [np.flatnonzero((phrases.author == number) & (phrases.part == part)) for number in range(len(AUTHORS))]
        for name, pool, images in zip(AUTHORS, pools, np.bincount(labels, minlength=len(AUTHORS)), strict=True):
            if len(pool) < images:
                raise BadFile(
                    f"an author has a phrase for each image, {name} has {len(pool)} of {images} for {PARTS[part]}; "
                    "add books"
                )
        indices = draws.without_repeats(labels, pools, _PICKED, part)
        strings = phrases.text[indices]
        grids = to_grid(strings, ALPHABET).transpose(0, 2, 1)[:, None]
        origins = {"phrase": strings, "stretch": phrases.stretch[indices], "author": np.array(AUTHORS)[labels]}
        return GeneratedPart(np.ascontiguousarray(grids), labels, origins)

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels of the authors; −1 where the pixels do not spell the phrase."""
        labels = positions_in(AUTHORS, origins["author"])
        labels[from_grid(images[:, 0].transpose(0, 2, 1), ALPHABET) != origins["phrase"]] = -1
        return labels

    def picture(self, image: Images) -> NDArray[np.uint8]:
        return black_on_white(image[0])


@dataclass(frozen=True, slots=True, eq=False)
class _Windows:
    """Every three words in a row: their padded text, their author and the number of their stretch."""

    text: Strings
    author: Integers
    stretch: Integers


@dataclass(frozen=True, slots=True, eq=False)
class _Phrases:
    """Distinct phrases of one author and one part each; ``stretch`` is the first that has it."""

    text: Strings
    author: Integers
    part: Integers
    stretch: Integers


def _books(source: Path | None, needs: str) -> tuple[list[tuple[int, str]], dict[str, str]]:
    """The books with their authors' numbers, in the order of the files' names."""
    books = []
    digests = {}
    with open_material(source, needs) as folder:
        for name, path in files_ending(folder, ".txt").items():
            author = next((candidate for candidate in AUTHORS if name.lower().startswith(candidate)), None)
            if author is not None:
                data = content(path)
                books.append((AUTHORS.index(author), book(text(path, data))))
                digests[name] = sha256(data)
    present = {author for author, _ in books}
    if missing := [author for number, author in enumerate(AUTHORS) if number not in present]:
        raise BadFile(
            f"books of all six authors are needed, {source} has no {', '.join(f'{name}….txt' for name in missing)}; "
            "get some from gutenberg.org"
        )
    return books, digests


def _windows(texts: list[tuple[int, list[str]]]) -> _Windows:
    phrases: list[str] = []
    authors: list[int] = []
    stretches: list[int] = []
    stretch = 0
    for author, words_of_text in texts:
        for fits, run in groupby(words_of_text, lambda word: SHORTEST <= len(word) <= LONGEST):
            padded = [word.ljust(LONGEST) for word in run] if fits else []
            windows = ["".join(three) for three in zip(padded, padded[1:], padded[2:], strict=False)]
            phrases += windows
            authors += [author] * len(windows)
            stretches += [stretch] * len(windows)
            stretch += bool(windows)
    return _Windows(
        np.array(phrases, f"<U{TOGETHER * LONGEST}"), np.array(authors, np.int64), np.array(stretches, np.int64)
    )


def _divided(windows: _Windows, draws: Draws, counts: tuple[int, int, int]) -> Integers:
    """The part of each window: an author's stretches, in random order, fill the parts in proportion to the images."""
    parts = np.empty(len(windows.text), np.int64)
    for author in range(len(AUTHORS)):
        rows = np.flatnonzero(windows.author == author)
        _, stretch, sizes = np.unique(windows.stretch[rows], return_inverse=True, return_counts=True)
        order = draws.order(len(sizes), _DIVIDED, author)
        starts = np.cumsum(sizes[order]) - sizes[order]
        ends = len(rows) * np.cumsum(counts) // sum(counts)
        part_of = np.empty(len(sizes), np.int64)
        part_of[order] = np.searchsorted(ends, starts, side="right")
        parts[rows] = part_of[stretch]
    return parts


def _phrases(windows: _Windows, parts: Integers) -> tuple[_Phrases, tuple[str, ...]]:
    """The phrases that only one author and one part have."""
    distinct, first, number = np.unique(windows.text, return_index=True, return_inverse=True)
    one_author = _only(windows.author, number, windows.author[first])
    one_part = _only(parts, number, parts[first])
    usable = np.flatnonzero(one_author & one_part)
    notes = (
        f"Phrases: {len(distinct)}; left out: {np.count_nonzero(~one_author)} of two authors, "
        f"{np.count_nonzero(one_author & ~one_part)} that would be in two parts.",
        "Left: "
        + ", ".join(f"{np.count_nonzero(windows.author[first[usable]] == n)} {name}" for n, name in enumerate(AUTHORS))
        + ".",
    )
    rows = first[usable]
    return _Phrases(distinct[usable], windows.author[rows], parts[rows], windows.stretch[rows]), notes


def _only(values: Integers, number: Integers, firsts: Integers) -> NDArray[np.bool_]:
    """Which of the numbered have the same value everywhere."""
    alike = np.ones(len(firsts), np.bool_)
    alike[number[values != firsts[number]]] = False
    return alike
