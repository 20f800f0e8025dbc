"""Tables of numbers as text, for a terminal and for a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """Texts in columns; those from ``numbers`` on are set to the right. ``asides`` are rows that others measured, on
    data of their own, and ``note`` says where."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 1
    asides: frozenset[int] = frozenset()
    note: str = ""

    def text(self) -> str:
        """The table in lines, for a terminal, and its note; a number is never broken.

        >>> print(Table(("model", "MAE"), (("lgb", "0.5"), ("gin", "12"))).text())
        model  MAE
        lgb    0.5
        gin     12
        """
        lines = (self.columns, *self.rows)
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        shown = [
            "  ".join(
                cell.rjust(width) if place >= self.numbers else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*shown, self.note] if self.note else shown)


def digits(value: float, places: int = 4) -> str:
    """A number with so many digits that count, a dash for none.

    >>> digits(0.123456), digits(float("nan")), digits(1234567.0)
    ('0.1235', '–', '1.235e+06')
    """
    return f"{value:.{places}g}" if math.isfinite(value) else MISSING


def fixed(value: float, places: int = 4) -> str:
    """A number with so many decimals, a dash for none."""
    return f"{value:.{places}f}" if math.isfinite(value) else MISSING


def seconds(value: float) -> str:
    """A short time with its unit.

    >>> seconds(0.0000123), seconds(0.0123), seconds(12.3)
    ('12.3 µs', '12.3 ms', '12.3 s')
    """
    if not math.isfinite(value):
        return MISSING
    for factor, unit in ((1e6, "µs"), (1e3, "ms")):
        if value * factor < 1000:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"


def table_html(table: Table) -> str:
    """The table in a box of its own that scrolls."""

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="number">{escape(text)}</{tag}>'
            if place >= table.numbers
            else f"<{tag}>{escape(text)}</{tag}>"
            for place, text in enumerate(texts)
        )

    kinds = ['<tr class="aside">' if number in table.asides else "<tr>" for number in range(len(table.rows))]
    rows = "".join(f"{kind}{cells('td', row)}</tr>" for kind, row in zip(kinds, table.rows, strict=True))
    heads = cells("th", table.columns)
    note = f'<p class="caption">{escape(table.note)}</p>' if table.note else ""
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{note}'
