"""Tables of numbers as text, for a terminal and for a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NumberTable:
    """Texts in columns; columns from ``numbers`` on are right-aligned. ``asides`` are rows from other publications or
    data; ``note`` explains them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 1
    asides: frozenset[int] = frozenset()
    note: str = ""

    def text(self) -> str:
        """The table as lines for a terminal, and its note. Numbers are never wrapped.

        >>> print(NumberTable(("model", "MAE"), (("lgb", "0.5"), ("gin", "12"))).text())
        model  MAE
        lgb    0.5
        gin     12
        """
        rows = (self.columns, *self.rows)
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.columns))]
        lines = [
            "  ".join(
                cell.rjust(width) if i >= self.numbers else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, self.note] if self.note else lines)
