"""Chesseract (section 4.8): late positions of grandmasters' games, and how the game ended."""

from __future__ import annotations

from nasbed.datasets.unseen.families.chess_positions import Chess


class Chesseract(Chess):
    """Labels: White wins is 0, as in the paper's figure 3, a draw 1, Black wins 2."""

    name = "chesseract"
    title = "Chesseract"
    benchmark = 57.83


class ChesseractWithCopies(Chesseract):
    """The dataset without the search for copies. A game between two of the players is in both their files, so it can be
    in the training and in the test part. It shows what that does to accuracies (docs/findings/cnn-baselines.md)."""

    title = "Chesseract with copies"
    difference = "Copies of games were not looked for."
    hygiene = ("game",)
    copies = True
