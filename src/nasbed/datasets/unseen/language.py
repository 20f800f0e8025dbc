"""Language (section 4.2): four words of six letters as a grid, and the language that they are of."""

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
from nasbed.datasets.unseen.base import GeneratedDataset, GeneratedPart, UnseenGenerator, positions_in
from nasbed.datasets.unseen.draws import Draws
from nasbed.datasets.unseen.letters import Strings, black_on_white, from_grid, to_grid
from nasbed.datasets.unseen.sources.material import content, files_ending, open_material, sha256, text

ALPHABET = "abcdefghijklmnopqrstuvwx"
TOGETHER = 4
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
_WORD = re.compile(f"[{ALPHABET}]{{6}}")
_DIVIDED, _LABELLED, _PICKED = range(3)


class Language(UnseenGenerator):
    """Labels follow the paper's list of languages, which begins with English as its figure 2 demands.

    What is decided where the paper is silent:

    - A letter's pixel is 1, the others are 0. The paper draws it black.
    - Words are taken without regard to case. One that two languages have is kept in both.
    - Words are divided between the parts before anything is drawn, at random and in proportion to the images of each
      part. A word of two languages is in the same part for both, so that no string is in two parts.
    - Languages are balanced to the image. The four words of an image are distinct.
    """

    name = "language"
    title = "Language"
    kind = 2
    shape = (1, 24, 24)
    classes = tuple(LANGUAGES.values())
    counts = (50_000, 10_000, 10_000)
    benchmark = 87.0
    rule = (
        "Four words of six letters a to x, a row for each place, a column for each letter; the label is their language."
    )
    needs = (
        "a folder of word lists en.txt, nl.txt … fi.txt, a word a line, as --source, or aspell with its dictionaries"
    )
    hygiene = ("words",)
    licence = "as the word lists; those of aspell are free, most under the GPL or LGPL"

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        lists, digests = _from_aspell(progress) if source is None else _from_folder(source, self.needs)
        words = {code: np.array(sorted(word_list)) for code, word_list in lists.items()}
        for code, word_list in words.items():
            if not len(word_list):
                raise BadFile(
                    f"a language has words of six letters a to x, {LANGUAGES[code]} has none; get another list"
                )
        every = np.unique(np.concatenate(list(words.values())))
        ends = len(every) * np.cumsum(self.counts) // sum(self.counts)
        part_of = np.empty(len(every), np.int64)
        part_of[draws.order(len(every), _DIVIDED)] = np.searchsorted(ends, np.arange(len(every)), side="right")
        parts = []
        for part in range(3):
            pools = {
                code: word_list[part_of[np.searchsorted(every, word_list)] == part] for code, word_list in words.items()
            }
            parts.append(self._part(draws, part, pools))
        train, valid, test = parts
        note = "Words: " + ", ".join(f"{len(word_list)} {LANGUAGES[code]}" for code, word_list in words.items()) + "."
        return GeneratedDataset(train, valid, test, sources=digests, notes=(note,))

    def _part(self, draws: Draws, part: int, pools: Mapping[str, Strings]) -> GeneratedPart:
        count = self.counts[part]
        labels = draws.balanced(count, len(pools), _LABELLED, part)
        words = np.empty((count, TOGETHER), "<U6")
        for label, (code, pool) in enumerate(pools.items()):
            if len(pool) < TOGETHER:
                raise BadFile(
                    f"each part needs {TOGETHER} words of a language, one has {len(pool)} of {LANGUAGES[code]}; "
                    "get a longer list"
                )
            indices = np.flatnonzero(labels == label)
            words[indices] = pool[draws.distinct(len(pool), (len(indices), TOGETHER), _PICKED, part, label)]
        codes = np.array(list(pools))[labels]
        return GeneratedPart(to_grid(spelt(words), ALPHABET)[:, None], labels, {"words": words, "language": codes})

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels of the languages; −1 where the pixels do not spell the words."""
        labels = positions_in(LANGUAGES, origins["language"])
        labels[from_grid(images[:, 0], ALPHABET) != spelt(origins["words"])] = -1
        return labels

    def picture(self, image: Images) -> NDArray[np.uint8]:
        return black_on_white(image[0])


def spelt(words: Strings) -> Strings:
    """Words of six letters ``[n, 4]`` one after the other, ``[n]``."""
    strings: Strings = np.ascontiguousarray(words, "<U6").view("<U24")[:, 0]
    return strings


def fitting(lines: str) -> set[str]:
    """The words of a list, separated by white space, that the dataset can use, in lower case.

    >>> sorted(fitting("Abacus zebras naïve déjà mother-in-law streets"))
    ['abacus']
    """
    return {word for word in lines.lower().split() if _WORD.fullmatch(word)}


def _from_folder(source: Path, needs: str) -> tuple[dict[str, set[str]], dict[str, str]]:
    """Lists named by the code of a language, with its country or without: several of one language count together."""
    lists: dict[str, set[str]] = {code: set() for code in LANGUAGES}
    digests: dict[str, str] = {}
    with open_material(source, needs) as folder:
        for name, path in files_ending(folder, ".txt").items():
            code = name.removesuffix(".txt").split("_")[0].split("-")[0].lower()
            if code in lists:
                data = content(path)
                lists[code] |= fitting(text(path, data))
                digests[name] = sha256(data)
    present = {name.split(".")[0].split("_")[0].split("-")[0].lower() for name in digests}
    if missing := [code for code in LANGUAGES if code not in present]:
        raise BadFile(
            f"a list of words is needed for each of the ten languages, {source} has no "
            f"{', '.join(f'{code}.txt' for code in missing)}; add what is missing"
        )
    return lists, digests


def _from_aspell(progress: Progress) -> tuple[dict[str, set[str]], dict[str, str]]:
    """The words of aspell's dictionaries, as ``aspell dump master`` and ``aspell expand`` give them."""
    if shutil.which("aspell") is None:
        raise MissingDependency(
            "language needs word lists: name a folder of en.txt … fi.txt with --source, or install aspell and its "
            "dictionaries (Debian: apt install aspell aspell-en aspell-nl …)"
        )
    names = {code: _DICTIONARIES.get(code, code) for code in LANGUAGES}
    present = set(_aspell("dicts").decode(errors="replace").split())
    if missing := [names[code] for code in LANGUAGES if names[code] not in present]:
        packages = " ".join(f"aspell-{name.lower().replace('_', '-')}" for name in missing)
        raise MissingDependency(
            f"language needs a dictionary of each language, aspell has none for {', '.join(missing)}; get them from "
            f"ftp.gnu.org/gnu/aspell/dict, on Debian where it has them: apt install {packages}"
        )
    lists: dict[str, set[str]] = {}
    digests: dict[str, str] = {}
    for index, (code, name) in enumerate(names.items()):
        progress("language, reading dictionaries", index, len(names))
        stems = _aspell("--encoding=utf-8", "-d", name, "dump", "master")
        lists[code] = fitting(_aspell("--encoding=utf-8", "-l", name, "expand", stdin=stems).decode(errors="replace"))
        digests[f"aspell {name}"] = sha256("\n".join(sorted(lists[code])).encode())
    return lists, digests


def _aspell(*arguments: str, stdin: bytes = b"") -> bytes:
    process = subprocess.run(["aspell", *arguments], input=stdin, capture_output=True, check=False)
    if process.returncode:
        reason = (process.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[0]
        raise BadFile(f"aspell {' '.join(arguments)} fails: {reason}; install its dictionary again")
    return process.stdout
