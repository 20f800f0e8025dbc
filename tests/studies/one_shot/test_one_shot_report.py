"""The page of watched searches: whole, self-contained, the same numbers everywhere, a failure in words."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from nasbed import Architecture
from nasbed.studies.one_shot.page import write_one_shot_report
from nasbed.studies.one_shot.study import OneShotStudy, one_shot_study
from nasbed.studies.one_shot.tables import method_table, search_table
from nasbed.studies.one_shot.words import RULE, failure_words, outcome
from support.oneshot_searches import (
    ACCURACY,
    ERROR,
    FALLING,
    JUMP,
    RISING,
    Additive,
    nb201_search,
    search_record,
    search_result,
)
from support.pages import check_page

WORDS = (
    "2 of 2 go wrong (seeds 0 and 1): from epoch 5 on the prediction falls by 24.00 points in the mean while the "
    "supernet’s accuracy rises by 35.0 points."
)


@pytest.fixture(scope="module")
def study() -> OneShotStudy:
    records = [
        *(search_record("darts", seed, nb201_search(FALLING, RISING, JUMP)) for seed in (0, 1)),
        search_record("<gdas>", 0, nb201_search([0] * 12)),
        search_record("<gdas>", 1, nb201_search([1] * 3, status="diverged")),
    ]
    return one_shot_study(records, Additive(), random=200, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def folder(study: OneShotStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "new" / "one-shot"
    write_one_shot_report(study, folder, formats=("svg",))
    return folder


def test_method_table_has_the_numbers_made_by_hand(study: OneShotStudy) -> None:
    rows = {row[0]: dict(zip(method_table(study).columns, row, strict=True)) for row in method_table(study).rows}
    darts, gdas = rows["darts"], rows["<gdas>"]
    assert darts["final [%]"] == "54.00 ± 0.00" and darts["best on the way [%]"] == "84.00 ± 0.00"
    assert darts["stopped by skips [%]"] == "74.00 ± 0.00 (2 of 2)"
    assert darts["stopped by eigenvalue [%]"] == "84.00 ± 0.00 (2 of 2)"
    assert darts["skips: cell"] == "6.0" and darts["supernet [%]"] == "95.0 ± 0.0"
    assert gdas["seeds"] == "2, 1 diverged" and gdas["final [%]"] == "84.00"
    assert gdas["stopped by skips [%]"] == "84.00 (0 of 2)" and gdas["stopped by eigenvalue [%]"] == "not measured"
    assert gdas["rank correlation"] == "–"
    assert rows["random, best of 200"]["final [%]"] == f"{study.reference.best:.2f}"


def test_outcome_says_who_goes_wrong_and_what_stopping_gains(study: OneShotStudy) -> None:
    assert failure_words(study, study.methods[0]) == WORDS
    first, darts, gdas = outcome(study)
    assert first.startswith("additive gives the mean predicted validation accuracy. Of 200 random architectures")
    assert darts.startswith("darts ends at 54.00 % (the mean of 2 seeds)") and "30.00 points below the best" in darts
    assert "Stopped by skips, 2 of 2 would have ended early, which changes the prediction by +20.00 points." in darts
    assert (
        "Stopped by eigenvalue, 2 of 2 would have ended early, which changes the prediction by +30.00 points." in darts
    )
    assert (
        "it does not decline, and it ends no worse than the mean of random architectures." in gdas
        and "Seed 1 diverged after epoch 3: the loss is no number." in gdas
    )


def test_an_error_that_rises_is_said_to_rise() -> None:
    own = one_shot_study(
        [search_record("darts", 3, nb201_search(FALLING)), search_record("gdas", 3, nb201_search([0, 1]))],
        Additive(ERROR), random=50, rng=np.random.default_rng(0),
    )  # fmt: skip
    words = failure_words(own, own.methods[0])
    assert words.startswith("1 of 1 goes wrong (seed 3): from epoch 5 on the prediction rises by 24.00 points while")
    assert failure_words(own, own.methods[1]).startswith(
        "The rule for going wrong needs at least 10 epochs, and it ends"
    )


def test_a_search_that_ends_worse_than_random_is_not_said_to_go_well(tmp_path: Path) -> None:
    """Cells of pooling throughout have 42 %, so the search never declines; random cells have 56.4 % in the mean."""
    pooling = Architecture("nb201", (4,) * 6)
    poor, brief = (search_result([pooling] * count, [0] * count) for count in (12, 4))
    fair = nb201_search([0] * 12)
    for metric in (ACCURACY, ERROR):
        records = [
            search_record("poor", 0, poor), search_record("mixed", 0, fair), search_record("mixed", 1, poor), search_record("mixed", 2, poor),
            search_record("both", 4, nb201_search(FALLING)), search_record("both", 5, poor), search_record("fair", 0, fair), search_record("brief", 0, brief),
        ]  # fmt: skip
        study = one_shot_study(records, Additive(metric), random=200, rng=np.random.default_rng(0))
        words = {method.name: failure_words(study, method) for method in study.methods}
        behind = abs(study.reference.mean - (42.0 if metric is ACCURACY else 58.0))
        points = f"{behind:.2f} points"
        than = "worse than the mean of random architectures"
        assert behind > study.reference.std / 2
        assert words["poor"] == f"By the rule it does not decline, but it ends {points} {than} (seed 0)."
        assert words["mixed"] == (
            f"By the rule no search declines, but 2 of 3 end {points} in the mean {than} (seeds 1 and 2)."
        )
        assert words["both"].startswith("1 of 2 goes wrong (seed 4): ")
        assert words["both"].endswith(f" Of the others, 1 ends {points} {than} (seed 5).")
        assert words["fair"] == (
            "By the rule it does not decline, and it ends no worse than the mean of random architectures."
        )
        assert words["brief"] == (
            f"The rule for going wrong needs at least 10 epochs, but it ends {points} {than} (seed 0)."
        )
        column = {(row[0], row[1]): row[-1] for row in search_table(study).rows}
        assert column["poor", "0"] == "no; ends worse than random" and column["mixed", "0"] == "no"
        assert column["brief", "0"] == "too short; ends worse than random"
    shown = one_shot_study(records[:1], Additive(metric), random=200, rng=np.random.default_rng(0))
    write_one_shot_report(shown, tmp_path / "out", formats=())
    page = unescape((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert f'<h3 class="alert">poor: {words["poor"]}' in page
    numbers = json.loads((tmp_path / "out" / "numbers.json").read_text())["methods"]
    search = next(method for method in numbers if method["name"] == "poor")["searches"][0]
    assert search["worse_than_random"] and search["behind_random"] == pytest.approx(behind)


@pytest.mark.figures
def test_page_is_self_contained_and_has_every_figure(folder: Path) -> None:
    charts = check_page(folder / "report.html").charts
    assert {name.rpartition("-")[0] for name in charts} == {"figure-method-1", "figure-method-2", "figure-together"}
    svgs = [(folder / "figures" / f"method-{number}.svg").read_text() for number in (1, 2)]
    for first, text in zip((svgs[0], charts["figure-method-1-1"]), (svgs[1], charts["figure-method-2-1"]), strict=True):
        assert "goes wrong" in first and "goes wrong" not in text
    for text in ("stop: skips", "stop: eigenvalue", "random, mean", "validation accuracy [%]", "skip connections"):
        assert f">{text}<" in svgs[0]
    assert {path.name for path in (folder / "figures").iterdir()} == {"method-1.svg", "method-2.svg", "together.svg"}


def test_page_has_every_number_and_the_rule(folder: Path, study: OneShotStudy) -> None:
    page = unescape((folder / "report.html").read_text(encoding="utf-8"))
    for table in (method_table(study), search_table(study)):
        assert all(cell in page for row in table.rows for cell in row) and table.note in page
    assert all(text in page for text in outcome(study)) and RULE in page
    assert f'<h3 class="alert">darts: {WORDS}' in page
    assert list(search_table(study).rows[0]) == ["darts", "0", "12", "24 s", "54.00", "84.00, 1", "74.00, 7", "84.00, 5, after 10", "6", "95.0", "-0.96",
            "from 5, by 24.00; ends slightly worse than random"]  # fmt: skip


def test_numbers_are_those_of_the_study(folder: Path, study: OneShotStudy) -> None:
    numbers = json.loads((folder / "numbers.json").read_text())
    darts, gdas = numbers["methods"]
    assert darts["failed"] == 2 and gdas["failed"] == 0 and numbers["outcome"] == outcome(study)
    first = darts["searches"][0]
    assert first["stops"] == {"skips": {"after": 7, "taken": 7, "prediction": 74.0},
                              "eigenvalue": {"after": 10, "taken": 5, "prediction": 84.0}}  # fmt: skip
    assert first["goes_wrong"] == {"epoch": 5, "lost": 24.0, "gained": 35.0}
    assert first["prediction"][-1] == first["final"] == 54.0 and first["skips"]["cell"] == list(FALLING)
    assert gdas["searches"][0]["rank_correlation"] is None and gdas["searches"][1]["final"] is None
