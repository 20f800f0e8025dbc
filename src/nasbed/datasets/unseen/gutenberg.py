"""Gutenberg (section 4.5): three words in a row from a book as a grid, and who wrote it."""

from __future__ import annotations

from nasbed.datasets.unseen.families.phrases import Phrases
from nasbed.datasets.unseen.sources.gutenberg_text import words_as_released


class Gutenberg(Phrases):
    """Labels follow the alphabet: Shakespeare is 4, as in the paper's figure 2."""

    name = "gutenberg"
    title = "Gutenberg"
    benchmark = 40.98

    def as_released(self) -> GutenbergAsReleased:
        return GutenbergAsReleased()


class GutenbergWithSharedStretches(Gutenberg):
    """The dataset with phrases drawn into parts one by one, so that those of two parts can share words of a book. It
    shows what that does to accuracies (docs/findings/cnn-baselines.md)."""

    title = "Gutenberg with shared stretches"
    difference = "Phrases are drawn into parts one by one, so that those of two parts can share words of a book."
    hygiene = ("phrase",)
    shares_stretches = True


class GutenbergAsReleased(GutenbergWithSharedStretches):
    """By the competition's script."""

    title = "Gutenberg as released"
    is_as_released = True
    difference = (
        "As released: phrases are drawn into parts one by one, so that those of two parts can share words of a book, "
        "and the script's rules say what a word is."
    )

    def words_of(self, text_of_book: str) -> list[str]:
        return words_as_released(text_of_book)
