"""The colours of all figures, on white paper and on light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's palette, distinct with any colour vision; blue and vermilion first."""

HUES = (*COLOURS[:6], "#8A8F98")
"""The colours that show on white and on black."""
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 3))
"""With seven colours, 21 kinds of line that are distinct with any colour vision."""

INK, FAINT, PALE, BAND, PAPER = "#1f2430", "#8a90a0", "#c8ccd4", "#eceef2", "white"
"""Text and marks, helper lines, fainter lines, filled bands, the background. A page shows only these in the colours of
its light or dark mode (``style.css``)."""
ON_LIGHT, ON_DARK = "#16181d", "#ffffff"
"""Text on coloured cells, which have the same colours in both modes."""


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How a method is drawn, the same in all figures."""

    colour: str
    dash: tuple[int, ...]


def looks(methods: Sequence[str]) -> dict[str, LineStyle]:
    """By position: colours first, then the same colours dashed, then dotted.

    >>> looks(["rs", "re"])["re"]
    LineStyle(colour='#D55E00', dash=(1, 0))
    """
    return {
        method: LineStyle(HUES[i % len(HUES)], DASHES[i // len(HUES) % len(DASHES)]) for i, method in enumerate(methods)
    }
