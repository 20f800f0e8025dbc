"""docs/findings/small-cells-on-chesseract.md says what the journal and the table have."""

from __future__ import annotations

import json
import re
import sqlite3

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import spearmanr

import nasbed
from nasbed.experiments.unseen.published import published
from support.documentation import DOCS, page_text

CAMPAIGNS = DOCS.parent / "campaigns"
PAGE = page_text("small-cells-on-chesseract")


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[tuple[dict[str, float], list[float]]]]:
    """The values and the learning curve of each of the 24 cells, in their order, by epochs."""
    copy = tmp_path_factory.mktemp("journal") / "journal.sqlite"
    copy.write_bytes((CAMPAIGNS / "journals" / "nb201-chesseract-64.sqlite").read_bytes())
    trainings: dict[int, list[tuple[dict[str, float], list[float]]]] = {8: [], 64: []}
    codes: dict[int, list[tuple[int, ...]]] = {8: [], 64: []}
    query = 'SELECT code, fidelity, "values", points FROM trials JOIN results USING (number) JOIN curves USING (number)'
    for code, epochs, values, points in sqlite3.connect(copy).execute(f"{query} ORDER BY number"):
        codes[epochs].append(tuple(json.loads(code)))
        trainings[epochs].append((json.loads(values), json.loads(points)))
    assert codes[8] == codes[64] == [arch.code for arch in cells()]
    return trainings


def cells() -> list[nasbed.Architecture]:
    """The twelve best of the table, and twelve random ones."""
    lines = (CAMPAIGNS / "chesseract-24.txt").read_text(encoding="utf-8").split()
    return [nasbed.space("nb201").parse(line) for line in lines]


def row(accuracies: NDArray[np.float64]) -> tuple[str, str, str]:
    best, random = (f"{np.median(half):.2f}" for half in (accuracies[:12], accuracies[12:]))
    return best, random, f"{accuracies.min():.2f} to {accuracies.max():.2f}"


def test_table_has_the_medians_of_the_journal(journal: dict[int, list[tuple[dict[str, float], list[float]]]]) -> None:
    in_table = np.array(nasbed.load("nb201-chesseract-v1.0").mean_test(cells()), dtype=float)
    measured = [np.array([values["test_accuracy"] for values, _ in journal[epochs]]) for epochs in (8, 64)]
    rows = re.findall(r"^\| \**\d+ .* \|$", PAGE, re.MULTILINE)
    shown = [tuple(text.strip(" *") for text in line.split("|")[2:5]) for line in rows]
    assert shown == [row(accuracies) for accuracies in (in_table, *measured)]
    best = max(published().cnn["chesseract"].values())
    above = measured[1] - best
    assert (best, (above > 0).sum()) == (59.60, 10) and f"by {above.max():.1f} points at most" in PAGE
    assert f"correlate by {spearmanr(*measured).statistic:.2f} (Spearman)" in PAGE
    assert round(np.median(in_table) - np.median(measured[1])) == 8 and round(np.ptp(measured[1])) == 4


def test_cells_memorise_after_a_few_epochs(journal: dict[int, list[tuple[dict[str, float], list[float]]]]) -> None:
    assert all(values["train_accuracy"] >= 99.9 for values, _ in journal[64])
    curves = np.array([points for _, points in journal[64]])
    assert curves.shape == (24, 64)
    assert {2, 3, 4, 5} == set((curves.argmax(axis=1) + 1).tolist())
    assert f"with {np.median(curves.max(axis=1)):.1f} % in the median" in PAGE
    assert round(np.median(curves.max(axis=1)) - np.median(curves[:, -1])) == 5
