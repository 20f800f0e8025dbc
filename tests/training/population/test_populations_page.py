"""The page about populations runs as it is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[3] / "docs"


def test_populations_page_has_the_measured_numbers() -> None:
    text = (DOCS / "populations.md").read_text(encoding="utf-8")
    measured = json.loads((DOCS / "results" / "populations-h200.json").read_text(encoding="utf-8"))
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    for case in measured[:-1]:
        sides = case["case"].partition("-")[2].replace("x", "×")
        (row,) = [row for row in cells if row[0] == f"{case['space']}, {case['population']} networks, {sides}"]
        limits, times = case["limits"], case["times"]
        expected = (
            limits["step_ms"],
            limits["network_step_us"],
            limits["network_step_us"] * 256 / times["pixels"],
            limits["tflop_a_second"],
            limits["copy_percent"],
            limits["networks_a_minute"],
        )
        for cell, number in zip(row[2:], expected, strict=True):
            digits = cell.removesuffix(" %")
            assert float(digits) == pytest.approx(number, abs=0.51 * 10 ** -len(digits.partition(".")[2]))
    beside = {row[-1] for row in cells if row[-1].endswith("×")}
    assert beside == {"1 ×", *(f"{number:.0f} ×" for number in measured[-1]["times_the_plain_loop"].values())}


def test_populations_page_runs() -> None:
    text = (DOCS / "populations.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(block, names)
    assert [outcome.status for outcome in names["outcomes"]] == ["ok"] * 3
