"""The family of Language: words of one length as a grid, and the language that they are of."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, MissingDependency
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import GeneratedDataset, GeneratedPart, positions_in
from nasbed.datasets.unseen.draws import Draws
from nasbed.datasets.unseen.families.family import DatasetFamily
from nasbed.datasets.unseen.families.letters import Strings, black_on_white, from_grid, to_grid
from nasbed.datasets.unseen.families.parameters import Several, Whole, image_counts
from nasbed.datasets.unseen.sources.material import content, files_ending, open_material, sha256, text

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LANGUAGES = {
    "en": "English",
    "nl": "Dutch",
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "pt": "Portuguese",
    "sv": "Swedish",
    "zu": "Zulu",
    "sw": "Swahili",
    "fi": "Finnish",
}
_DICTIONARIES = {"pt": "pt_PT"}
"""Where aspell's name of a dictionary is not the language's code."""
_DIVIDED, _LABELLED, _PICKED = range(3)

WordLists = tuple[dict[str, set[str]], dict[str, str]]
"""Words by the code of their language, and the digests of what they come from."""


class Words(DatasetFamily):
    """A row for each place of the words, a column for each letter; labels follow the list of languages.

    What is decided where the paper is silent:

    - A letter's pixel is 1, the others are 0. The paper draws it black.
    - Words are taken without regard to case. One that two languages have is kept in both.
    - Words are divided between the parts before anything is drawn, at random and in proportion to the images of each
      part. A word of two languages is in the same part for both, so that no string is in two parts.
    - Languages are balanced to the image. The words of an image are distinct.
    """

    kind = 2
    name = "words"
    title = "Words"
    parameters = (
        Several("languages", tuple(LANGUAGES), "classes, in this order", 2, "codes of languages", "[a-z]{2,3}"),
        Whole("words", 4, "words of an image, one below the other", 1, 8),
        Whole("length", 6, "letters of a word", 2, 12),
        Whole("letters", 24, "letters that words may have, from a on; columns of an image", 10, 26),
        *image_counts(50_000, 10_000, 10_000),
    )
    hygiene: tuple[str, ...] = ("words",)
    licence = "as the word lists; those of aspell are free, most under the GPL or LGPL"

    def _configure(self) -> None:
        self.codes: tuple[str, ...] = self.settings["languages"]
        self.together, self.length = self.settings["words"], self.settings["length"]
        self.alphabet = LETTERS[: self.settings["letters"]]
        self.classes = tuple(LANGUAGES.get(code, code) for code in self.codes)
        self.shape = (1, self.together * self.length, len(self.alphabet))
        self.rule = (
            f"{self.together} words of {self.length} letters a to {self.alphabet[-1]}, a row for each place, a column "
            "for each letter; the label is their language."
        )
        self.needs = (
            f"a folder of word lists {self.codes[0]}.txt, {self.codes[1]}.txt …, a word a line, as --source, or aspell "
            "with its dictionaries"
        )

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        lists, digests = self._from_aspell(progress) if source is None else self._from_folder(source)
        words = {code: np.array(sorted(word_list)) for code, word_list in lists.items()}
        for label, word_list in enumerate(words.values()):
            if not len(word_list):
                raise BadFile(
                    f"a language has words of {self.length} letters a to {self.alphabet[-1]}, {self.classes[label]} "
                    "has none; get another list"
                )
        train, valid, test = (self._part(draws, part, pools) for part, pools in enumerate(self._pools(words, draws)))
        sizes = zip(self.classes, words.values(), strict=True)
        note = "Words: " + ", ".join(f"{len(word_list)} {name}" for name, word_list in sizes) + "."
        return GeneratedDataset(train, valid, test, sources=digests, notes=(note,))

    def _pools(self, words: Mapping[str, Strings], draws: Draws) -> list[dict[str, Strings]]:
        """The words of each part, by the code of their language."""
        every = np.unique(np.concatenate(list(words.values())))
        ends = len(every) * np.cumsum(self.counts) // sum(self.counts)
        part_of = np.empty(len(every), np.int64)
        part_of[draws.order(len(every), _DIVIDED)] = np.searchsorted(ends, np.arange(len(every)), side="right")
        return [
            {code: word_list[part_of[np.searchsorted(every, word_list)] == part] for code, word_list in words.items()}
            for part in range(3)
        ]

    def _part(self, draws: Draws, part: int, pools: Mapping[str, Strings]) -> GeneratedPart:
        count = self.counts[part]
        labels = draws.balanced(count, len(pools), _LABELLED, part)
        words = np.empty((count, self.together), f"<U{self.length}")
        for label, pool in enumerate(pools.values()):
            if len(pool) < self.together:
                raise BadFile(
                    f"each part needs {self.together} words of a language, one has {len(pool)} of "
                    f"{self.classes[label]}; get a longer list"
                )
            indices = np.flatnonzero(labels == label)
            words[indices] = pool[draws.distinct(len(pool), (len(indices), self.together), _PICKED, part, label)]
        codes = np.array(list(pools))[labels]
        grids = to_grid(self._spelt(words), self.alphabet)
        return GeneratedPart(grids[:, None], labels, {"words": words, "language": codes})

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels of the languages; −1 where the pixels do not spell the words."""
        labels = positions_in(self.codes, origins["language"])
        labels[from_grid(images[:, 0], self.alphabet) != self._spelt(origins["words"])] = -1
        return labels

    def picture(self, image: Images) -> NDArray[np.uint8]:
        return black_on_white(image[0])

    def _spelt(self, words: Strings) -> Strings:
        """Words ``[n, words]`` one after the other, ``[n]``."""
        letters = np.ascontiguousarray(words, f"<U{self.length}")
        strings: Strings = letters.view(f"<U{self.together * self.length}")[:, 0]
        return strings

    def fitting(self, lines: str) -> set[str]:
        """The words of a list, separated by white space, that the dataset can use, in lower case.

        >>> sorted(Words().fitting("Abacus zebras naïve déjà mother-in-law streets"))
        ['abacus']
        """
        word = re.compile(f"[{self.alphabet}]{{{self.length}}}")
        return {candidate for candidate in lines.lower().split() if word.fullmatch(candidate)}

    def _from_folder(self, source: Path) -> WordLists:
        """Lists named by the code of a language, with its country or without; several of a language count together."""
        lists: dict[str, set[str]] = {code: set() for code in self.codes}
        digests: dict[str, str] = {}
        with open_material(source, self.needs) as folder:
            for name, path in files_ending(folder, ".txt").items():
                code = _code(name)
                if code in lists:
                    data = content(path)
                    lists[code] |= self.fitting(text(path, data))
                    digests[name] = sha256(data)
        present = {_code(name) for name in digests}
        if missing := [code for code in self.codes if code not in present]:
            raise BadFile(
                f"a list of words is needed for each of the {len(self.codes)} languages, {source} has no "
                f"{', '.join(f'{code}.txt' for code in missing)}; add what is missing"
            )
        return lists, digests

    def _from_aspell(self, progress: Progress) -> WordLists:
        """The words of aspell's dictionaries, as ``aspell dump master`` and ``aspell expand`` give them."""
        if shutil.which("aspell") is None:
            raise MissingDependency(
                f"{self.name} needs word lists: name a folder of {self.codes[0]}.txt … {self.codes[-1]}.txt with "
                "--source, or install aspell and its dictionaries (Debian: apt install aspell aspell-en aspell-nl …)"
            )
        names = {code: _DICTIONARIES.get(code, code) for code in self.codes}
        present = set(_aspell("dicts").decode(errors="replace").split())
        if missing := [name for name in names.values() if name not in present]:
            packages = " ".join(f"aspell-{name.lower().replace('_', '-')}" for name in missing)
            raise MissingDependency(
                f"{self.name} needs a dictionary of each language, aspell has none for {', '.join(missing)}; get them "
                f"from ftp.gnu.org/gnu/aspell/dict, on Debian where it has them: apt install {packages}"
            )
        lists: dict[str, set[str]] = {}
        digests: dict[str, str] = {}
        for index, (code, name) in enumerate(names.items()):
            progress(f"{self.name}, reading dictionaries", index, len(names))
            stems = _aspell("--encoding=utf-8", "-d", name, "dump", "master")
            expanded = _aspell("--encoding=utf-8", "-l", name, "expand", stdin=stems)
            lists[code] = self.fitting(expanded.decode(errors="replace"))
            digests[f"aspell {name}"] = sha256("\n".join(sorted(lists[code])).encode())
        return lists, digests


def _code(name: str) -> str:
    """The language's code of a list's file name.

    >>> _code("pt_PT.txt")
    'pt'
    """
    return name.removesuffix(".txt").split("_")[0].split("-")[0].lower()


def _aspell(*arguments: str, stdin: bytes = b"") -> bytes:
    process = subprocess.run(["aspell", *arguments], input=stdin, capture_output=True, check=False)
    if process.returncode:
        reason = (process.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[0]
        raise BadFile(f"aspell {' '.join(arguments)} fails: {reason}; install its dictionary again")
    return process.stdout
