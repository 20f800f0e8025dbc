"""The page about populations runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def test_populations_page_runs() -> None:
    text = (Path(__file__).parents[3] / "docs" / "populations.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(block, names)
    assert [each.status for each in names["outcomes"]] == ["ok"] * 3
