"""Architectures of searches beside random ones, as a table, a figure and lines, from measured results."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

import pytest

from nasbed.core.home import embedded_home
from nasbed.experiments.unseen.results import UnseenResult, read_results
from nasbed.studies.unseen.figures import found_chart
from nasbed.studies.unseen.study import UnseenStudy, unseen_study
from nasbed.studies.unseen.tables import found_lines, found_table

RESULTS = read_results([embedded_home() / "results" / "unseen-nas.jsonl"])
STUDY = unseen_study(RESULTS)


def accuracies(dataset: str, model: str, search_seed: int = 0) -> list[float]:
    return [
        result.test_accuracy or 0.0
        for result in RESULTS
        if (result.dataset, result.model, result.search_seed) == (dataset, model, search_seed)
    ]


def test_table_has_every_found_architecture_the_best_of_a_dataset_and_space_first() -> None:
    table = found_table(STUDY)
    assert table is not None and len(table.rows) == 28
    assert list(dict.fromkeys(row[0] for row in table.rows)) == ["AddNIST", "Language", "Chesseract", "cifar10@16"]
    pc_darts, chance = (
        accuracies("addnist", "pc-darts"),
        [fmean(accuracies("addnist", "rs-darts", at)) for at in range(5)],
    )
    assert table.rows[0] == (
        "AddNIST",
        "pc-darts",
        "0",
        "20 + 8",
        f"{fmean(pc_darts):.2f} ± {stdev(pc_darts):.2f}",
        f"{fmean(chance):.2f} ± {stdev(chance):.2f} (5)",
        f"{fmean(pc_darts) - fmean(chance):+.2f}",
        "5 of 5",
    )
    for dataset in ("AddNIST", "Language", "Chesseract", "cifar10@16"):
        own = [row for row in table.rows if row[0] == dataset]
        means = [float(row[4].split()[0]) for row in own]
        assert [row[1] for row in own][-1] == "bonsai-net" and means[:-1] == sorted(means[:-1], reverse=True)


def panels(study: UnseenStudy) -> dict[str, list[list[dict[str, Any]]]]:
    """By dataset, the rows behind each layer of its panel: random ones, the deviations, the means."""
    chart = found_chart(study)
    assert chart is not None
    drawn = chart.to_dict()
    return {
        panel["title"]: [drawn["datasets"][layer["data"]["name"]] for layer in panel["layer"]]
        for panel in drawn["concat"]
    }


def test_figure_has_a_panel_a_dataset_with_points_and_random_ones() -> None:
    drawn = panels(STUDY)
    assert list(drawn) == ["AddNIST", "Language", "Chesseract", "cifar10@16"]
    ticks, _, points = drawn["AddNIST"]
    assert len(points) == 7 and len(ticks) == 35
    (point,) = (row for row in points if row["method"] == "darts2")
    values = accuracies("addnist", "darts2")
    assert point["accuracy"] == pytest.approx(fmean(values), abs=1e-4)
    assert point["high"] - point["low"] == pytest.approx(2 * stdev(values), abs=1e-3)
    chance = [fmean(accuracies("addnist", "rs-darts", at)) for at in range(5)]
    assert [row["accuracy"] for row in ticks if row["method"] == "darts2"] == pytest.approx(chance, abs=1e-4)


def changed_results(models: tuple[str, ...], **changes: Any) -> list[UnseenResult]:
    return [replace(result, **changes) for result in RESULTS if result.dataset == "addnist" and result.model in models]


def test_rows_of_one_method_are_distinguished_by_what_differs() -> None:
    twice = [*RESULTS, *changed_results(("darts",), search_seed=1)]
    names = [row["method"] for row in panels(unseen_study(twice))["AddNIST"][2]]
    assert {"darts seed 0", "darts seed 1"} <= set(names) and len(set(names)) == 8


def test_without_chance_there_is_no_figure_but_what_to_measure() -> None:
    study = unseen_study(changed_results(("pc-darts", "darts", "bonsai-net")))
    table = found_table(study)
    assert found_chart(study) is None and table is not None and [row[-1] for row in table.rows] == ["–"] * 3
    assert found_lines(study) == [
        "AddNIST: no random architecture was trained like those of pc-darts, darts; measure rs-darts at the same "
        "settings.",
        "AddNIST: no random architecture was trained like those of bonsai-net; measure rs-bonsai at the same settings.",
    ]
    assert found_table(unseen_study([])) is None and found_lines(unseen_study([])) == []
