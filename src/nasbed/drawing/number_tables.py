"""Tables of numbers as text, for a terminal and for a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NumberTable:
    """Texts in columns; those from ``numbers`` on are set to the right. ``asides`` are rows that others measured, on
    data of their own, and ``note`` says where."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 1
    asides: frozenset[int] = frozenset()
    note: str = ""

    def text(self) -> str:
        """The table in lines, for a terminal, and its note; a number is never broken.

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
