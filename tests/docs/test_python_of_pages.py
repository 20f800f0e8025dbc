"""The Python on pages of docs runs as it is printed. Pages that are not named here have tests of their own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

import nasbed
from nasbed.compat import PACKAGES
from nasbed.core.execution import SerialEngine
from support.documentation import page_text
from support.surrogates import write_evaluations

SHORTER: dict[str, dict[str, str]] = {
    "baselines": {'load_recipe("unseen"), seed=0': 'FEW_IMAGES(load_recipe("unseen")), seed=0'},
    "faq": {'recipe = load_recipe("small-nb201")': 'recipe = FEW_IMAGES(load_recipe("small-nb201"))'},
    "suites": {'budget="150ev"': 'budget="9ev"', "seeds=5": "seeds=1"},
    "surrogates": {
        "members=10, processes=4": "settings={'rounds': 5}",
        "trials=50": "trials=1, settings={'rounds': 50}, engine=SERIAL",
        'parts=["fits"]': 'parts=["fits"], engine=SERIAL',
    },
    "training": {"seed=0)\noutcome.status": "seed=0, epochs=1)\noutcome.status"},
}
"""What takes long on a page, and what runs instead: fewer and smaller models, fewer epochs."""


def blocks(page: str) -> list[str]:
    text = page_text(page)
    for printed, shorter in SHORTER.get(page, {}).items():
        assert printed in text
        text = text.replace(printed, shorter)
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What a reader has: a table in the working directory, and an architecture. Drop-ins are removed afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    table = write_evaluations(tmp_path / "my-table", count=300)
    arch = nasbed.space(table.about.space).sample(np.random.default_rng(0))
    yield {"arch": arch, "SERIAL": SerialEngine(), "FEW_IMAGES": partial(replace, epoch_images=64)}
    for name in chain.from_iterable(PACKAGES.values()):
        sys.modules.pop(name, None)


PAGES = ["baselines", "collecting", "compat", "datasets", "faq", "leaderboard", "networks", "python", "suites"]
PAGES += ["surrogates", "training"]


@pytest.mark.parametrize("page", PAGES)
def test_python_of_a_page_runs(page: str, names: dict[str, Any]) -> None:
    for block in blocks(page):
        exec(block, names)
