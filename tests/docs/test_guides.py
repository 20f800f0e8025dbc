"""The guides that add a space, a proxy and a method can be followed from top to bottom."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")

from support.followed_pages import PageFollower

SHORTER: dict[str, dict[str, str]] = {
    "add-a-method": {"--seeds 20": "--seeds 1 --engine serial", "300ev": "30ev"},
    "add-a-proxy": {
        "--count 200": "--count 12 --batch 4 --processes 1",
        "--top-percent 10": "--top-percent 50",
    },
    "add-a-space": {
        "epochs = [2]": "epochs = [1]\nepoch_images = 64",
        "seeds = [0, 1]": "seeds = [0]",
        "collect campaign.toml": "collect campaign.toml --engine serial",
        "--seeds 10": "--seeds 1 --engine serial",
    },
}
"""What takes long on a page, and what runs instead, unless the run is thorough."""


@pytest.mark.parametrize(
    "page",
    [
        "add-a-method",
        pytest.param(
            "add-a-proxy", marks=pytest.mark.thorough
        ),  # tests/proxies/test_proxy_scoring.py has the same steps
        pytest.param("add-a-space", marks=pytest.mark.thorough),  # tests/spaces/test_new_space.py goes the same way
    ],
)
def test_guide_can_be_followed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thorough: bool) -> None:
    reader = PageFollower(tmp_path, monkeypatch, exact=thorough)
    before = set(sys.modules)
    try:
        reader.follow(page, None if thorough else SHORTER[page])
    finally:
        for name in set(sys.modules) - before:
            if name.startswith("nasbed_"):
                del sys.modules[name]
