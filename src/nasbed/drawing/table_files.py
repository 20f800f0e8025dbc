"""Tables as files: LaTeX for a paper, CSV for everything else."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from nasbed.core.files import complete_file
from nasbed.drawing.number_tables import NumberTable

_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "−": "$-$",
    "…": r"\ldots{}",
    "±": r"$\pm$",
}
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


def latex_text(text: str) -> str:
    """A text with everything escaped that has a meaning in LaTeX.

    >>> print(latex_text("a_b & 5 %"))
    a\\_b \\& 5 \\%
    """
    return _SPECIAL.sub(lambda match: _LATEX[match.group()], text)


def latex_tabular(
    table: NumberTable, *, bold: Collection[tuple[int, int]] = (), rules: Collection[int] = (), comment: str = ""
) -> str:
    """A table as a ``tabular`` that any document can ``\\input``: it needs no package.

    Args:
        table: the texts; columns from ``table.numbers`` on are right-aligned.
        bold: the cells in bold, by row and column.
        rules: the rows that a line stands above.
        comment: what the file says of itself, before the table.
    """
    columns = "".join("r" if i >= table.numbers else "l" for i in range(len(table.columns)))
    lines = [f"% {line}" for line in comment.splitlines()]
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\hline", _latex_row(map(latex_text, table.columns)), r"\hline"]
    for i, row in enumerate(table.rows):
        if i in rules:
            lines.append(r"\hline")
        texts = [latex_text(text) for text in row]
        lines.append(_latex_row(rf"\textbf{{{text}}}" if (i, j) in bold else text for j, text in enumerate(texts)))
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _without_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "@", "\t", "\r")) else cell


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file, which appears only when it is complete. A text that a spreadsheet would take for a formula gets
    an apostrophe before it, as names in runs of others may be anything."""
    with complete_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_without_formula(cell) for cell in row] for row in rows)


def write_text(path: Path, text: str) -> None:
    """Write a text file, which appears only when it is complete."""
    with complete_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
