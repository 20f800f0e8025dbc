"""The page of a study of zero-cost proxies is complete and self-contained, with the same numbers everywhere."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from nasbed import Metric, space
from nasbed.evaluation.proxies import RankedTask
from nasbed.studies.zero_cost.page import write_zero_cost_report
from nasbed.studies.zero_cost.study import ZeroCostStudy, zero_cost_study
from nasbed.studies.zero_cost.tables import averages_table, few_points_table, outcome, statements_table
from support.pages import check_page

ACCURACY = Metric("accuracy", split="test", unit="%", bounds=(0, 100))
FIGURES = {"spearman", "top", "overlap", "global-against-top", "range", "few-points"}
PROXIES = ("params", "synflow", "ntk", "snip", "jacov")


def small_task(name: str, seed: int, count: int) -> RankedTask:
    nb201 = space("nb201")
    rng = np.random.default_rng(seed)
    codes = nb201.codes([nb201.sample(rng) for _ in range(count)])
    truth = 50 + codes.sum(axis=1) + rng.normal(size=count)
    scores = {proxy: (truth + (1 + place) * rng.normal(size=count))[:, None] for place, proxy in enumerate(PROXIES)}
    return RankedTask(name, ACCURACY, "nb201", codes, truth, scores)


@pytest.fixture(scope="module")
def study() -> ZeroCostStudy:
    return zero_cost_study(
        [small_task("one", 0, 200), small_task("<two>", 1, 200)],
        top_percent=10,
        rng=np.random.default_rng(0),
        resamples=30,
        references=10,
        halves=3,
        repeats=2,
        sizes=(25, 30),
        remarks={"<two>": "taken on images of one"},
    )


@pytest.fixture(scope="module")
def folder(study: ZeroCostStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "new" / "zero-cost"
    write_zero_cost_report(study, folder, ("svg",))
    return folder


def test_zero_cost_page_is_self_contained_and_has_every_figure(folder: Path) -> None:
    charts = check_page(folder / "report.html").charts
    for name in FIGURES:
        assert any(chart == f"figure-{name}" or chart.startswith(f"figure-{name}-") for chart in charts), name
    assert {path.name for path in (folder / "figures").iterdir()} == {f"{name}.svg" for name in FIGURES}
    assert {path.name for path in folder.iterdir()} == {"report.html", "numbers.json", "figures"}


def test_zero_cost_page_says_every_verdict_with_its_criterion(folder: Path, study: ZeroCostStudy) -> None:
    page = unescape((folder / "report.html").read_text(encoding="utf-8"))
    for statement in study.statements:
        assert statement.claim in page and statement.criterion in page and statement.why in page
    assert page.count("(not in the paper)") == sum(statement.ours for statement in study.statements) == 3
    assert "taken on images of one" in page and all(part in page for part in outcome(study))


def test_zero_cost_numbers_are_those_of_the_study(folder: Path, study: ZeroCostStudy) -> None:
    numbers = json.loads((folder / "numbers.json").read_text())
    assert {statement["key"]: statement["verdict"] for statement in numbers["statements"]} == {
        statement.key: statement.verdict for statement in study.statements
    }
    first, own = numbers["tasks"][0], study.tasks[0]
    assert own.few_points is not None
    assert first["proxies"]["ntk"]["spearman"][0] == own.measures.value("spearman", "ntk")
    assert first["few_points"]["kendall"]["lgb, proxies"] == own.few_points.taus["lgb", "proxies"].tolist()
    assert first["rank_average"]["spearman"]["gain"][0] == own.combined["spearman"].gain.estimate
    assert set(numbers["tasks"][0]["proxies"]) == set(PROXIES)


def test_outcome_of_several_tasks_counts_those_on_which_proxies_together_are_ahead(study: ZeroCostStudy) -> None:
    averages, features = outcome(study)[-2:]
    by_measure = {"Spearman over all": "spearman", "Spearman within the top": "top", "normalised RBO": "rbo"}
    for title, measure in by_measure.items():
        ahead = sum(task.combined[measure].gain.estimate > 0 for task in study.tasks)
        assert f"by {title} on {ahead} of 2 tasks (" in averages
    assert "with 25 trained architectures on 0 (lgb) and 0 (svr) of 2 tasks" in features
    assert "With 2 repeats no difference can be significant" in features


def test_zero_cost_tables_have_a_line_for_each(study: ZeroCostStudy) -> None:
    assert [row[0] for row in statements_table(study).rows] == [statement.key for statement in study.statements]
    assert len(averages_table(study).rows) == 2 * 3
    assert len(few_points_table(study).rows) == 2 * 2 * 2


def test_zero_cost_page_of_one_small_task_leaves_out_what_it_lacks(tmp_path: Path) -> None:
    small = zero_cost_study(
        [small_task("small", 0, 40)], top_percent=10, rng=np.random.default_rng(0), resamples=20, references=5, halves=2
    )
    write_zero_cost_report(small, tmp_path, ("svg",))
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == FIGURES - {"few-points"}
    assert "Scores as features" not in (tmp_path / "report.html").read_text()
    assert "cannot be said here" in outcome(small)[0]


def test_outcome_counts_a_measure_on_the_tasks_that_have_it() -> None:
    """Of half of 200 architectures 1 % has no order."""
    tasks = [small_task("small", 0, 200), small_task("large", 1, 2_000)]
    mixed = zero_cost_study(
        tasks, top_percent=1, rng=np.random.default_rng(0), resamples=20, references=5, halves=2, repeats=8, sizes=(25,)
    )
    averages, features = outcome(mixed)[-2:]
    assert averages.count(" of 2 tasks (") == 1 and averages.count(" of 1 task (") == 2
    assert features.endswith("with 25 trained architectures on 2 (lgb) and 2 (svr) of 2 tasks."), (
        "a proxy that is the truth with noise of one point helps any model"
    )
