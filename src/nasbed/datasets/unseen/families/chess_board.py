"""A picture of a chess board: squares, and a letter for each piece."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SQUARE = 20
_LIGHT, _DARK = (240, 217, 181), (181, 136, 99)
_WHITE, _BLACK = (255, 255, 255), (0, 0, 0)
_LETTERS = {
    "P": "####. #...# #...# ####. #.... #.... #....",
    "N": "#...# ##..# #.#.# #..## #...# #...# #...#",
    "B": "####. #...# #...# ####. #...# #...# ####.",
    "R": "####. #...# #...# ####. #.#.. #..#. #...#",
    "Q": ".###. #...# #...# #...# #.#.# #..#. .##.#",
    "K": "#...# #..#. #.#.. ##... #.#.. #..#. #...#",
}


def draw_board(planes: NDArray[Any]) -> NDArray[np.uint8]:
    """``[160, 160, 3]`` from twelve planes: White's letters are white with a black edge, Black's are black."""
    squares = np.add.outer(np.arange(8), np.arange(8)) % 2
    colours = np.array([_LIGHT, _DARK], np.uint8)[squares]
    picture: NDArray[np.uint8] = colours.repeat(SQUARE, axis=0).repeat(SQUARE, axis=1)
    for plane, row, column in np.argwhere(planes):
        inside, edge = _glyph("PNBRQK"[plane % 6])
        square = picture[row * SQUARE : (row + 1) * SQUARE, column * SQUARE : (column + 1) * SQUARE]
        square[edge if plane < 6 else inside] = _BLACK
        if plane < 6:
            square[inside] = _WHITE
    return picture


def _glyph(letter: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The pixels of a letter in the middle of a square, and with them those around."""
    inside = np.zeros((SQUARE, SQUARE), np.bool_)
    rows = _LETTERS[letter].split()
    pixels = np.array([[pixel == "#" for pixel in row] for row in rows])
    inside[3:17, 5:15] = pixels.repeat(2, axis=0).repeat(2, axis=1)
    edge = inside.copy()
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            edge |= np.roll(inside, (down, right), (0, 1))
    return inside, edge
