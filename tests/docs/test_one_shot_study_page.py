"""docs/findings/one-shot-searches.md says of the one-shot searches that are kept what the study and the trainings of what they found say."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import nasbed
from nasbed.benchmarks.places import table_path
from nasbed.experiments.campaign import Campaign
from nasbed.experiments.campaign.trajectories import searched_architectures
from nasbed.oneshot.record import SearchRecord, read_record
from nasbed.results.rows import Rows, concatenate
from nasbed.results.store import Results
from nasbed.spaces import space
from nasbed.studies.one_shot.judges import judges_without_data
from nasbed.studies.one_shot.study import OneShotStudy, one_shot_study
from nasbed.studies.one_shot.tables import method_table
from support.documentation import page_text

ROOT = Path(__file__).resolve().parents[2]
PAGE = page_text("one-shot-searches")
TEXT = " ".join(PAGE.split())


@cache
def records() -> list[SearchRecord]:
    return [read_record(path) for path in sorted((ROOT / "campaigns" / "searches").glob("*/search.json"))]


@pytest.fixture(scope="module")
def seen() -> OneShotStudy:
    """By the surrogate that has seen the data of all searches."""
    benchmark = nasbed.load("snb-darts-cifar10-16-lgb-v2.0:mean")
    return one_shot_study(records(), benchmark, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def judged() -> OneShotStudy:
    """By judges without the data of each method, which take 5 minutes to fit."""
    benchmark = nasbed.load("snb-darts-cifar10-16-lgb-v2.0:mean")
    judges = judges_without_data(benchmark, [record.method for record in records()], processes=os.cpu_count() or 1)
    return one_shot_study(records(), benchmark, judges=judges, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def rows() -> Rows:
    return concatenate(list(Results.open(table_path("darts-cifar10-16-v2.0")).batches()))


def page_label(name: str) -> str:
    method = name.split(" (")[0]
    return f"`{method}`, longer" if "12800" in name else f"`{method}`"


def test_page_says_on_how_many_edges_gdas_ends_with_nothing() -> None:
    nothing = space("darts").cell_graph.with_none().operations.index("none")  # type: ignore[union-attr]
    last = [record.searched.epochs[-1].parameters["alphas"] for record in records() if record.method == "gdas"]
    counts = [int((alphas.argmax(axis=-1) == nothing).sum()) for alphas in last]
    assert (min(counts), max(counts), len(counts), last[0].shape[:2]) == (16, 17, 3, (2, 14))
    assert f'"none" among them: on {min(counts)} or {max(counts)} of 28 edges at the end' in TEXT


def test_page_has_what_the_surrogate_that_has_seen_the_data_says(seen: OneShotStudy) -> None:
    *methods, mean, best = method_table(seen).rows
    for row in methods:
        (cells,) = re.findall(rf"^\| {page_label(row[0])} \| (.*) \|$", PAGE, flags=re.MULTILINE)
        assert cells.split(" | ")[1] == row[2]
    assert len(methods) == 7 and f"where the data is seen {mean[2]} and {best[2]}" in TEXT
    assert sum(len(method.failed) for method in seen.methods) == 7 and "With the data seen they are 7" in TEXT


@pytest.mark.thorough
def test_page_has_the_numbers_of_the_judged_searches(judged: OneShotStudy) -> None:
    table = method_table(judged)
    places = [
        place for place, name in enumerate(table.columns) if name.startswith(("final", "best", "stopped by skips"))
    ]
    *methods, mean, best = table.rows
    for row in methods:
        assert f"| {page_label(row[0])} | {' | '.join([*(row[place] for place in places), row[-1]])} |" in PAGE
    assert len(methods) == 7 and f"of random architectures {mean[2]}, the best of 1 000 {best[2]}, depending" in TEXT
    wrong = {method.name.split(" (")[0]: len(method.failed) for method in judged.methods if method.failed}
    assert sum(len(method.failed) for method in judged.methods) == 6 and wrong["darts2"] == 2
    assert "6 of the 20 searches go wrong" in TEXT


@pytest.mark.thorough
def test_page_names_the_searches_that_end_worse_than_random(judged: OneShotStudy) -> None:
    (sentence,) = re.findall(r"^- 4 of the 20 end worse than random: .*(?:\n  .*)*", PAGE, flags=re.MULTILINE)
    expected = {
        (method.name, search.seed): search.behind_random
        for method in judged.methods
        for search in method.searches
        if search.worse_than_random
    }
    assert {(name.split(" (")[0], seed) for name, seed in expected} == {
        ("darts2", 0),
        ("darts2", 1),
        ("random-ws", 0),
        ("darts", 1),
    }
    assert "`darts2` seeds 0 and 1" in sentence and "the longer `darts` seed 1" in sentence
    assert all(f"{behind:.2f}" in sentence for behind in expected.values())


@pytest.mark.thorough
def test_page_has_how_far_predictions_are_from_trainings(judged: OneShotStudy, rows: Rows) -> None:
    first = rows.seed == 0
    accuracy = dict(zip(map(tuple, rows.codes[first].tolist()), rows.values["validation_accuracy"][first], strict=True))
    visited = {
        (record.method, record.seed, record.settings.epochs): [
            epoch.architecture.code for epoch in record.searched.epochs
        ]
        for record in records()
    }
    errors = []
    for method in judged.methods:
        for search in method.searches:
            codes = visited[method.method, search.seed, 40 if "epochs 40" in method.name else 20]
            for code, prediction, seen in zip(codes, search.prediction, search.benchmark_prediction, strict=True):
                if code in accuracy:
                    errors.append((abs(prediction - accuracy[code]), abs(seen - accuracy[code])))
    error, seen_error = np.mean(errors, axis=0)
    assert f"of {len(errors)} epochs were [trained]" in TEXT
    assert f"by {error:.2f} points in the mean" in TEXT and f"misses them by {seen_error:.2f} only" in TEXT


def test_trainings_of_a_part_of_the_space_can_be_watched(rows: Rows) -> None:
    """Searches with an architecture that was not trained are left out, the random ones are those of random search."""
    study = one_shot_study(records(), nasbed.load("darts-cifar10-16-v2.0"), random=5000, rng=np.random.default_rng(0))
    assert study.measured and sum(len(method.searches) for method in study.methods) == 18
    assert sorted(name.split(" (")[0] for name in study.left_out) == ["darts", "darts"]
    random_accuracy = rows.values["validation_accuracy"][rows.method == "rs"]
    assert (
        study.reference.count == len({tuple(code) for code in rows.codes[rows.method == "rs"].tolist()})
        and study.reference.description == "architectures of random search"
    )
    # the noise study repeats some of them, so means over seeds differ a little from the first seed's
    assert study.reference.mean == pytest.approx(random_accuracy.mean(), abs=0.05)


def test_page_has_what_the_trainings_say(rows: Rows) -> None:
    first = rows.seed == 0
    accuracy = dict(zip(map(tuple, rows.codes[first].tolist()), rows.values["validation_accuracy"][first], strict=True))
    final, along = [], []
    for record in records():
        codes = [epoch.architecture.code for epoch in record.searched.epochs]
        if all(code in accuracy for code in codes):
            trained = [accuracy[code] for code in codes]
            final.append(trained[-1])
            along.append(spearmanr([epoch.validation_accuracy for epoch in record.searched.epochs], trained).statistic)
    random_accuracy = rows.values["validation_accuracy"][rows.method == "rs"].mean()
    assert f"architectures of {len(final)} of these searches were" in TEXT
    assert f"the final ones have {np.mean(final):.2f} % in the mean and random ones {random_accuracy:.2f}" in TEXT
    assert f"with the trained one is {np.mean(along):.2f} in the mean" in TEXT


def test_campaign_of_the_searches_is_what_the_table_has(rows: Rows) -> None:
    campaign = Campaign.read(ROOT / "campaigns" / "darts-cifar10-16-v2-oneshot.toml")
    expected = {(method, arch.code) for method, arch in searched_architectures(campaign, space("darts"))}
    methods = {method for method, _ in expected}
    rows_found = zip(rows.method.tolist(), map(tuple, rows.codes.tolist()), strict=True)
    assert {row for row in rows_found if row[0] in methods} == expected and len(expected) == 307


def test_records_are_of_one_dataset_and_one_budget_a_name() -> None:
    def called(record: SearchRecord) -> str:
        return record.method if record.settings.epochs == 20 else f"{record.method}, longer"

    counts: dict[str, int] = {}
    for record in records():
        assert record.dataset == "cifar10@16" and record.device == "NVIDIA H200"
        counts[called(record)] = counts.get(called(record), 0) + 1
    assert counts.pop("darts, longer") == 2 and set(counts.values()) == {3} and len(counts) == 6
