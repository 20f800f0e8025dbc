"""The page about NAS methods on unseen datasets runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.evaluation.studies.unseen_nas_budget import nas_methods

PAGE = (Path(__file__).parents[2] / "docs" / "unseen-nas.md").read_text(encoding="utf-8")


def test_unseen_nas_page_runs_and_names_every_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(block, names)
    assert names["result"].status == "ok" and len((tmp_path / "nas.jsonl").read_text().splitlines()) == 4
    assert [name for name in nas_methods() if f"`{name}`" not in PAGE] == []
