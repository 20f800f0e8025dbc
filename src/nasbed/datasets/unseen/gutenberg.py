"""Gutenberg (section 4.5): three words in a row from a book as a grid, and who wrote it."""

from __future__ import annotations

from nasbed.datasets.unseen.families.phrases import Phrases


class Gutenberg(Phrases):
    """Labels follow the alphabet: Shakespeare is 4, as in the paper's figure 2."""

    name = "gutenberg"
    title = "Gutenberg"
    benchmark = 40.98


class GutenbergWithSharedStretches(Gutenberg):
    """The dataset with phrases drawn into parts one by one, so that those of two parts can share words of a book. It
    shows what that does to accuracies (docs/findings/cnn-baselines.md)."""

    title = "Gutenberg with shared stretches"
    hygiene = ("phrase",)
    shares_stretches = True
