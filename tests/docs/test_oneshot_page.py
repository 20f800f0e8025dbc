"""The page about one-shot search runs as it is printed, and names every method."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.oneshot import METHODS, SearchSettings
from support.documentation import page_text

PAGE = page_text("oneshot")


def test_oneshot_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(block, names)
    assert names["again"].searched.architecture == names["found"].architecture
    assert names["table"].manifest.rows == 3


def test_oneshot_page_names_every_method_and_setting() -> None:
    before_presets = PAGE.partition("## Presets")[0]
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", before_presets, flags=re.MULTILINE)) == set(METHODS)
    own = {"epochs", "batch", "channels", "cells", "epoch_images", "precision"}
    missing = [name for name in SearchSettings.names() if name not in own and f"`{name}`" not in PAGE]
    assert not missing, missing
