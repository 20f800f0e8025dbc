"""Pages of the documentation, wherever they stand in its folder."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def page_path(name: str) -> Path:
    """The file of a page by its name without suffix; no two pages have the same."""
    (path,) = DOCS.rglob(f"{name}.md")
    return path


def page_text(name: str) -> str:
    """The text of a page."""
    return page_path(name).read_text(encoding="utf-8")


def python_blocks(name: str) -> list[str]:
    """The Python code on a page, block by block."""
    return re.findall(r"```python\n(.*?)```", page_text(name), flags=re.DOTALL)
