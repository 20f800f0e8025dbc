"""The page about populations runs as it is printed, and the page on their speed has the measured numbers."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from support.documentation import DOCS, page_text

JOURNALS = DOCS.parent / "campaigns" / "journals"


def test_page_on_speed_has_the_measured_numbers() -> None:
    text = page_text("population-speed")
    measured = json.loads((DOCS / "findings" / "data" / "populations-h200.json").read_text(encoding="utf-8"))
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


def repeats(name: str) -> dict[tuple[str, int], list[float]]:
    """The times of each architecture and fidelity in a journal, in the order of its trials."""
    journal = JOURNALS / f"{name}.sqlite"
    times: dict[tuple[str, int], list[float]] = {}
    with closing(sqlite3.connect(f"{journal.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        query = "SELECT code, fidelity, train_time_s FROM trials JOIN results USING (number) ORDER BY number"
        for code, fidelity, seconds in connection.execute(query):
            times.setdefault((code, fidelity), []).append(seconds)
    return times


def r2(pairs: list[tuple[float, float]]) -> float:
    return float(np.corrcoef(np.array(pairs).T)[0, 1] ** 2)


def test_shares_of_measured_times_depend_on_the_company() -> None:
    text = page_text("population-speed")
    of_table, of_repeats = [], {}
    for name in ("addnist", "chesseract", "cifar10-16", "gutenberg", "language", "multnist"):
        table, again = repeats(f"nb201-{name}"), repeats(f"nb201-{name}-repeats")
        of_repeats[name] = r2([(first, second) for first, second in again.values()])
        of_table.append(r2([(table[key][0], seconds) for key, pair in again.items() for seconds in pair]))
    same_company = [of_repeats.pop("cifar10-16"), of_repeats.pop("chesseract")]
    for figures in (same_company, of_repeats.values(), of_table):
        assert f"| {min(figures):.3f} to {max(figures):.3f} |" in text
    assert min(same_company) > max(of_repeats.values())


def test_level_of_measured_times_moves_and_first_populations_are_not_slower() -> None:
    text = page_text("population-speed")
    for name, label in (("cifar10-16", "`cifar10@16`"), ("chesseract", "Chesseract")):
        pairs = np.array(list(repeats(f"nb201-{name}-repeats").values()))
        level = np.median(np.abs(pairs[:, 0] / pairs[:, 1] - 1))
        assert re.search(rf"{100 * level:.0f} % \({label}\)", text)
    for journal in JOURNALS.glob("nb201-*[!s].sqlite"):
        with closing(sqlite3.connect(f"{journal.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            query = "SELECT avg(train_time_s) FROM results GROUP BY ended_us ORDER BY ended_us"
            means = [mean for (mean,) in connection.execute(query)]
        assert means[0] < np.median(means), journal.name


def test_populations_page_runs() -> None:
    text = page_text("populations")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(block, names)
    assert [outcome.status for outcome in names["outcomes"]] == ["ok"] * 3
