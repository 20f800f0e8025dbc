"""Found against random architectures in numbers and words, and results files of before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nasbed.core.errors import BadFile
from nasbed.experiments.unseen.results import UnseenResult, append_result, read_results
from nasbed.studies.unseen.random_baseline import chance_comparisons, comparison_text, summary_lines
from nasbed.studies.unseen.study import unseen_study
from nasbed.studies.unseen.tables import budget_lines, cell_text, comparison_lines, unseen_numbers, unseen_tables

RECIPE = {"batch": 64, "skeleton": {"channels": 16, "cells": 8}}
FOUND = UnseenResult(
    dataset="addnist",
    model="pc-darts",
    epochs=64,
    seed=0,
    status="ok",
    test_accuracy=95.0,
    dataset_hash="a",
    recipe=RECIPE,
    search={"space": "darts", "epochs": 50, "channels": 16, "cells": 8, "batch": 64, "precision": "float32"},
    search_seed=0,
    architecture="{}",
)
CHANCE = replace(FOUND, model="rs-darts", search={"space": "darts"})
BEFORE = (
    '{"format": 1, "dataset": "addnist", "model": "resnet18", "epochs": 64, "seed": 1, "status": "ok", "test_accuracy": '
    '91.5, "validation_accuracy": 92.0, "validated": {"1": 50.0}, "train_loss": 0.1, "train_time_s": 3.5, '
    '"dataset_hash": "abc", "images": [45000, 15000, 10000], "parameters": 11000000, "recipe": {"batch": 64}, '
    '"device": "cpu", "versions": {"torch": "2.7"}, "reason": ""}\n'
)


def random_results(*accuracies: float) -> list[UnseenResult]:
    return [replace(CHANCE, search_seed=seed, test_accuracy=value) for seed, value in enumerate(accuracies)]


def test_lines_written_before_searches_were_measured_still_read(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(BEFORE)
    (old,) = read_results([path])
    assert (old.seeds, old.search, old.search_epochs, old.architecture) == ((-1, 1), {}, 0, "")
    append_result(path, FOUND)
    assert read_results([path]) == [old, FOUND]
    cells = unseen_study(read_results([path])).cells
    assert cell_text(cells["addnist", "resnet18"]) == "91.50" and cells["addnist", "resnet18"].architectures == 0


@pytest.mark.parametrize("change", [{"search": 3}, {"search": {"epochs": "x"}}, {"search_seed": "0"}])
def test_searches_of_another_kind_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "r.jsonl"
    append_result(path, FOUND)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BadFile, match=f"the field {next(iter(change))}"):
        read_results([path])


def test_found_is_compared_by_its_mean_with_each_random_one() -> None:
    trainings = [replace(FOUND, seed=seed, test_accuracy=value) for seed, value in enumerate((95.0, 96.0, 97.0))]
    (comparison,) = chance_comparisons([*trainings, *random_results(94.0, 95.0, 95.5, 96.5, 98.0)])
    assert (comparison.mean, comparison.beaten, comparison.equalled) == (
        96.0,
        3,
        0,
    ) and comparison.difference == pytest.approx(0.2)
    assert comparison_text(comparison, "AddNIST") == (
        "AddNIST, pc-darts, 50 epochs of search with seed 0: 96.00 ± 1.00 % over 3 trainings of 64 epochs; 5 random "
        "architectures: 95.80 ± 1.52 %, from 94.00 to 98.00. It is 0.20 points above their mean; it beats 3 of 5; another "
        "random architecture would beat as many with a probability of 3 in 6."
    )
    assert (
        "Of 1 found architecture 1 is above the mean of the random ones, and 0 above all"
        in summary_lines([comparison])[0]
    )


def test_random_architecture_with_several_trainings_counts_once_and_last_bits_are_no_victory() -> None:
    chance = [replace(CHANCE, seed=seed, test_accuracy=value) for seed, value in enumerate((94.0, 96.0))]
    (comparison,) = chance_comparisons([replace(FOUND, test_accuracy=95.0000001), *chance])
    assert comparison.by_chance == (95.0,) and (comparison.beaten, comparison.equalled) == (0, 1)
    assert comparison_text(comparison, "AddNIST").endswith(
        "It is 0.00 points above that; it beats 0 of 1 and equals 1."
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"epochs": 32},
        {"dataset_hash": "b"},
        {"recipe": RECIPE | {"skeleton": {"channels": 36, "cells": 20}}},
        {"dataset": "language"},
        {"model": "rs-bonsai", "search": {"space": "bonsai"}},
        {"status": "diverged", "test_accuracy": None},
    ],
)
def test_found_is_compared_with_nothing_that_was_trained_otherwise(changes: dict[str, object]) -> None:
    (comparison,) = chance_comparisons([FOUND, replace(CHANCE, **changes)])  # type: ignore[arg-type]
    assert comparison.by_chance == () and comparison.difference is None
    assert "no random architecture was trained alike: measure rs-darts." in comparison_text(comparison, "AddNIST")
    assert summary_lines([comparison]) == []


def test_tables_show_methods_with_their_search_and_others_apart() -> None:
    results = [
        FOUND,
        replace(FOUND, search_seed=1, test_accuracy=97.0),
        replace(FOUND, model="gdas"),
        *random_results(90.0),
    ]
    study = unseen_study([*results, replace(FOUND, dataset="mine")])
    table = unseen_tables(study)["Table 2: NAS methods"]
    assert table.columns[:3] == ("dataset", "PC-DARTS", "here")
    assert table.columns[-2:] == ("here, gdas (not in the paper)", "Random")
    assert table.rows[0][1:3] == ("96.60", "96.00 ± 1.41 [2×64 s50]") and table.rows[0][-2] == "95.00 [1×64 s50]"
    best = study.best("addnist", "nas")
    assert best is not None and best.model == "pc-darts" and best.architectures == 2
    said_of = "\n".join(budget_lines(study))
    assert "pc-darts: searched for 50 epochs of all images (channels 16, cells 8, batches of 64, in float32)" in said_of
    assert "rs-darts: one random architecture per seed" in said_of and "preset configuration" in said_of
    lines = comparison_lines(study)
    assert len(lines) == 5 and lines[3].startswith("mine, pc-darts") and "measure rs-darts" in lines[3]
    assert len(unseen_numbers(study)["compared"]) == 4
    assert study.notes == ("mine, 1 result: not in the paper's tables",)


def test_searches_of_more_epochs_count_and_others_are_noted() -> None:
    less = replace(FOUND, search={**FOUND.search, "epochs": 5}, test_accuracy=99.0)
    study = unseen_study([FOUND, less, replace(less, seed=1)])
    assert study.cells["addnist", "pc-darts"].mean == 95.0
    assert study.notes == (
        "pc-darts on addnist, 64 epochs after 5 of search, 2 trainings: of another setting than what is shown",
    )
