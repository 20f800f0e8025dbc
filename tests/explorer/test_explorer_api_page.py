"""The page on the explorer's API: its Python runs as printed, against an explorer that is served."""

from __future__ import annotations

import re
from typing import Any

import pytest

import nasbed
from nasbed.explorer.openapi import openapi_document
from support.documentation import page_text
from support.explorers import Explorer

PAGE = page_text("explorer-api")


def test_python_of_the_page_runs(explorer: Explorer, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(block.replace("127.0.0.1:8471", f"127.0.0.1:{explorer.port}"), names)
    table = nasbed.load("nb201-cifar10-16-v1.0")
    best = max(table.mean_objective(explorer.catalogue.open(table.name).points.codes))
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0]) == table.query(names["cells"][0], seed=0)["validation_accuracy"]
    rows, shown = lines[1].split()
    assert int(rows) == 15_625 and float(shown) == pytest.approx(best)


def test_page_names_every_request() -> None:
    for path in openapi_document()["paths"]:
        assert f"{path.replace('{id}', 'ID')}" in PAGE
