"""LaTeX without a TeX at hand: what a document needs of a tabular is checked on its text."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.table_files import latex_tabular, write_csv

HOSTILE = "a_b & c% $x$ #1 {y} \\z ~ ^ < > | – −3 …"
MACROS = {"begin", "end", "hline", "textbf", "ldots", "\\"}
MACROS |= {f"text{name}" for name in ("backslash", "asciitilde", "asciicircum", "less", "greater", "bar")}


def check_tabular(text: str, columns: int) -> list[list[str]]:
    """The cells of a tabular, if LaTeX would read it: known macros, balanced braces, no bare special character."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert body.isascii()
    assert set(re.findall(r"\\([a-zA-Z]+|\\)", body)) <= MACROS
    bare = re.sub(r"\\[&%$#_{}\\]", "", body)
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0 and bare.count("$") % 2 == 0 and not re.search(r"[%#_~^]", bare)
    match = re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}\n(.*)\\end\{tabular\}\n?", body, flags=re.DOTALL)
    assert match is not None and len(match[1]) == columns
    rows = [line for line in match[2].splitlines() if line != r"\hline"]
    cells = [re.split(r"(?<!\\) & ", row.removesuffix(r" \\")) for row in rows]
    assert all(row.endswith(r" \\") for row in rows) and {len(row) for row in cells} == {columns}
    return cells


def test_latex_escapes_everything_and_marks_the_best() -> None:
    table = NumberTable(("method", HOSTILE), ((HOSTILE, "1.5"), ("re", "–")))
    text = latex_tabular(table, bold={(0, 1)}, rules={1}, comment="two\nlines")
    cells = check_tabular(text, 2)
    assert text.startswith("% two\n% lines\n") and text.count(r"\hline") == 4
    assert cells[1][1] == r"\textbf{1.5}" and cells[2] == ["re", "--"]
    assert cells[0][1] == cells[1][0] and r"\textbackslash{}z" in cells[1][0]


def test_csv_is_read_back(tmp_path: Path) -> None:
    write_csv(tmp_path / "t.csv", ("a", "b"), [(HOSTILE, 1), ('"q", x', "")])
    with (tmp_path / "t.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["a", "b"], [HOSTILE, "1"], ['"q", x', ""]]


def test_csv_has_no_formula(tmp_path: Path) -> None:
    write_csv(tmp_path / "table.csv", ("method", "regret"), [("=HYPERLINK(1)", "-0.5"), ("@SUM(A1)", 2.0)])
    assert (tmp_path / "table.csv").read_text() == "method,regret\n'=HYPERLINK(1),-0.5\n'@SUM(A1),2.0\n"
