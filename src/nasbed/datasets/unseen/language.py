"""Language (section 4.2): four words of six letters as a grid, and the language that they are of."""

from __future__ import annotations

from nasbed.datasets.unseen.families.words import Words


class Language(Words):
    """Labels follow the paper's list of ten languages, which begins with English as its figure 2 demands."""

    name = "language"
    title = "Language"
    benchmark = 87.0
