"""The tutorials are the notebooks in words: the same code, and what it shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.documentation import python_blocks
from support.followed_pages import PageFollower

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"
TWINS = {
    "first-comparison": "1_first_comparison",
    "your-own-method": "2_your_own_method",
    "judge-a-proxy": "4_judging_a_proxy",
}


def lines(cells: list[str]) -> list[str]:
    return [line for cell in cells for line in cell.splitlines() if line.strip()]


@pytest.mark.parametrize("page", sorted(TWINS))
def test_tutorial_has_the_code_of_its_notebook(page: str) -> None:
    cells = json.loads((NOTEBOOKS / f"{TWINS[page]}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert lines(python_blocks(page)) == lines(code)


@pytest.mark.thorough
@pytest.mark.parametrize("page", sorted(TWINS))
def test_tutorial_shows_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebooks run in every run of the tests, with smaller numbers."""
    pytest.importorskip("pandas", reason="needs pandas: pip install 'nasbed[pandas]'")
    PageFollower(tmp_path, monkeypatch, exact=True).follow(page)
