"""The report of judged proxies: figures say what the numbers say, the page is whole and safe."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from nasbed import Metric
from nasbed.core.errors import InvalidOption
from nasbed.drawing.label_places import LETTER, LINE, label_places
from nasbed.drawing.number_texts import MISSING
from nasbed.evaluation.proxies import JudgedTask, RankedTask, judge_proxies
from nasbed.reports.proxies.figures import ordered_proxies, proxies_figures, task_titles
from nasbed.reports.proxies.page import write_proxies_report
from nasbed.reports.proxies.tables import full_table, headline_table, outcome, proxies_numbers, short_table
from support.pages import check_page

ACCURACY = Metric("accuracy", split="test", unit="%", bounds=(0, 100))
ODD = "<b>&\"'a name of some length"


def task(
    name: str, *, repeats: bool = False, seeds: int = 1, extra_scores: dict[str, np.ndarray] | None = None
) -> RankedTask:
    """1 000 items: ``broad`` is good over all and chance among the best 100, ``sharp`` the other way round."""
    rng = np.random.default_rng(0)
    truth = np.sort(90 + rng.normal(size=1000))[::-1].copy()
    best = np.arange(1000) < 100
    broad = truth + rng.normal(scale=0.3, size=1000)
    broad[best] = rng.permutation(broad[best])
    sharp = truth + rng.normal(scale=4, size=1000)
    sharp[best] = truth[best] + 10
    scores = {
        "params": truth + rng.normal(scale=0.8, size=1000),
        "broad": broad,
        "sharp": sharp,
        **(extra_scores or {}),
    }
    columns = {key: np.repeat(column[:, None], seeds, axis=1) for key, column in scores.items()}
    trainings = truth[:, None] + 0.1 * rng.normal(size=(1000, 3)) if repeats else None
    return RankedTask(
        name, ACCURACY, "nb201", np.zeros((1000, 6), dtype=np.int64), truth, columns, {"params": 0.002}, trainings, 3
    )


def judged(task: RankedTask, **options: Any) -> JudgedTask:
    return judge_proxies(task, np.random.default_rng(1), **({"top_percent": 10, "resamples": 100} | options))


@pytest.fixture(scope="module")
def tasks() -> list[JudgedTask]:
    constant, empty = np.ones(1000), np.full(1000, np.nan)
    return [
        judged(task("one/task", repeats=True)),
        judged(task("other", seeds=2, extra_scores={"constant": constant, "empty": empty})),
        judged(task(ODD, extra_scores={ODD: np.arange(1000.0)})),
    ]


def test_words_name_who_is_lost_at_the_top(tasks: list[JudgedTask]) -> None:
    text = outcome(tasks[0])
    assert "not significantly different from zero, or below it, within the top 10 %: broad (0.9" in text
    assert "top 10 % sharp (1.00)" in text and "One training predicts the mean of the others" in text
    assert "Over all, broad is significantly better than params" in text
    silent = judged(
        RankedTask(
            "none", ACCURACY, "nb201", np.zeros((50, 6), dtype=np.int64), np.arange(50.0), {"params": np.ones((50, 1))}
        )
    )
    assert outcome(silent) == "No proxy has a correlation with the truth."


def test_terminal_table_fits_and_marks_what_is_missing(tasks: list[JudgedTask]) -> None:
    for task in tasks:
        assert max(map(len, short_table(task).text().splitlines())) <= 100
    rows = {row[0]: row for row in short_table(tasks[1]).rows}
    assert all(cell.strip() == MISSING for cell in rows["empty"][1:])
    assert rows["constant"][1].strip() == MISSING and rows["constant"][3].startswith("0.")
    assert short_table(tasks[0]).rows[0][0] == "broad"


def test_full_tables_have_seeds_and_times(tasks: list[JudgedTask]) -> None:
    assert "± seeds" not in headline_table(tasks[0]).columns and "± seeds" in headline_table(tasks[1]).columns
    rows = {row[0]: row for row in full_table(tasks[1]).rows}
    assert rows["params"][-1] == "2 ms" and rows["broad"][-1] == MISSING
    assert "seeds" in full_table(tasks[1]).columns and rows["empty"][-2] == "0" and rows["empty"][-3] == "1000"


def test_heat_maps_hold_every_proxy_of_every_task(tasks: list[JudgedTask]) -> None:
    figures = proxies_figures(tasks)
    assert list(figures) == ["spearman", "top", "overlap", "global-against-top"]
    order = ordered_proxies(tasks)
    assert order[0] == "broad" and order[-2:] == ["constant", "empty"]
    (cells,) = figures["top"].to_dict()["datasets"].values()
    rows = {(row["task"], row["proxy"]): row for row in cells}
    assert len(rows) == len(tasks) * len(order)
    assert rows["other", "constant"]["value"] is None and rows["other", "constant"]["text"] == MISSING
    assert rows["one/task", "sharp"]["value"] == pytest.approx(1)
    broad = tasks[0].proxy("broad").value("top_spearman")
    assert rows["one/task", "broad"]["text"] == f"{broad:.2f}".replace("-", "−")


def test_tasks_of_one_name_are_distinguished(tasks: list[JudgedTask]) -> None:
    assert task_titles([tasks[0], tasks[1], tasks[0]]) == ["one/task", "other", "one/task (2)"]


@pytest.mark.figures
def test_report_is_whole_and_escaped(tasks: list[JudgedTask], tmp_path: Path) -> None:
    write_proxies_report(tasks, tmp_path / "out", formats=["svg"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<b>&\"'a name" not in page
    check_page(tmp_path / "out" / "report.html")
    for figure in ("spearman", "top", "overlap", "global-against-top"):
        ElementTree.parse(tmp_path / "out" / "figures" / f"{figure}.svg")
    numbers = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert numbers == json.loads(json.dumps(proxies_numbers(tasks)))
    first = numbers["tasks"][0]
    assert first["noise_ceiling"]["trainings"] == 3 and first["left_out"] == 3
    assert first["proxies"]["params"]["measures"]["spearman"]["value"] == tasks[0].proxy("params").value("spearman")
    assert numbers["tasks"][1]["proxies"]["constant"]["measures"]["spearman"] == {"reason": "all scores are equal"}


def test_report_of_too_few_architectures_is_drawn(tmp_path: Path) -> None:
    small = RankedTask(
        "few", ACCURACY, "nb201", np.zeros((3, 6), dtype=np.int64), np.arange(3.0), {"nwot": np.ones((3, 2))}
    )
    write_proxies_report([judged(small, top_percent=1)], tmp_path / "out", formats=["svg"])
    assert "less than one" in (tmp_path / "out" / "report.html").read_text()


def test_report_refuses_bad_input(tasks: list[JudgedTask], tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="svg, png, pdf"):
        write_proxies_report(tasks, tmp_path / "out", formats=["gif"])
    with pytest.raises(InvalidOption, match="at least 1 task"):
        write_proxies_report([], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_labels_do_not_cover_each_other() -> None:
    rng = np.random.default_rng(2)
    points = [(float(x), float(y)) for x, y in 150 + 60 * rng.random((12, 2))]
    names = [f"proxy_{number}" for number in range(12)]
    middles = [label.middle for label in label_places(points, names, width=380, height=380)]
    boxes = [
        (x - LETTER * len(name) / 2, y - LINE / 2, x + LETTER * len(name) / 2, y + LINE / 2)
        for (x, y), name in zip(middles, names, strict=True)
    ]
    for box, rival in combinations(boxes, 2):
        assert (
            box[2] <= rival[0] + 0.2 or rival[2] <= box[0] + 0.2 or box[3] <= rival[1] + 0.2 or rival[3] <= box[1] + 0.2
        )
    assert all(min(left, top) >= 0 and max(right, bottom) <= 380 for left, top, right, bottom in boxes)
    assert label_places([], [], width=10, height=10) == []
