"""The paper's tables on unseen datasets: consistent in themselves, and results put beside them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.experiments.unseen.published import METHODS, disagreements, published, remarks
from nasbed.experiments.unseen.results import UnseenResult, append_result, read_results, shipped_results
from nasbed.studies.unseen.study import unseen_study
from nasbed.studies.unseen.tables import cell_text, outcome

RESULT = UnseenResult(
    dataset="addnist", model="resnet18", epochs=64, seed=0, status="ok", test_accuracy=91.0, dataset_hash="a"
)


def test_table_3_is_the_best_of_tables_1_and_2() -> None:
    paper = published()
    for dataset in paper.datasets:
        assert paper.best[dataset]["cnn"] == max(paper.cnn[dataset].values())
        assert paper.best[dataset]["nas"] == max(paper.nas[dataset][method] for method in METHODS)
    assert disagreements(paper) == []


def test_disagreements_would_be_seen() -> None:
    paper = published()
    wrong = replace(paper, best={**paper.best, "language": {"cnn": 90.0, "nas": 90.12, "competition": 89.71}})
    assert disagreements(wrong) == ["Language: the best of table 1 is 93.97, table 3 has 90.0 as CNN"]


def test_tables_say_what_the_papers_text_says() -> None:
    """Sections 5 and 6, sentence by sentence."""
    paper = published()

    def winners(columns: tuple[str, ...], table: str) -> dict[str, list[str]]:
        datasets: dict[str, list[str]] = {}
        for dataset, row in getattr(paper, table).items():
            datasets.setdefault(max(columns, key=lambda column: row[column]), []).append(dataset)
        return datasets

    cnn = winners(tuple(paper.cnn_titles), "cnn")
    assert cnn["alexnet"] == ["addnist", "multnist", "gutenberg"]  # "highest accuracy on three of the eight"
    assert cnn["densenet161"] == ["cifartile", "isabella", "geoclassing", "chesseract"]
    assert cnn["resnext50"] == ["language"] and "resnet18" not in cnn
    language = sorted(paper.cnn["language"].values())
    assert 6.5 < language[-1] - language[-2] < 7  # "almost 7% higher than the other methods"
    assert sorted(paper.cnn["geoclassing"], key=paper.cnn["geoclassing"].__getitem__)[:2] == [
        "convnext-base",
        "resnet18",
    ]
    nas = winners(METHODS, "nas")
    assert (len(nas["pc-darts"]), len(nas["drnas"]), len(nas["bonsai-net"])) == (4, 2, 2)
    beats = [name for name, row in paper.nas.items() if row["rs-darts"] > max(row["pc-darts"], row["drnas"])]
    assert beats == ["addnist", "isabella", "chesseract"]
    assert paper.nas["language"]["rs-darts"] == paper.nas["language"]["pc-darts"]
    best = winners(("cnn", "nas", "competition"), "best")
    assert len(best["nas"]) + len(best["competition"]) == 7 and len(best["competition"]) == 3


def test_random_column_is_one_over_the_classes_of_the_datasets() -> None:
    paper = published()
    assert [round(value, 1) for value in paper.chance.values()] == [5, 10, 10, 25, 16.7, 25, 10, 33.3]


def test_resnet18_column_is_what_the_datasets_themselves_say() -> None:
    from nasbed.datasets.unseen import UNSEEN

    paper = published()
    for name in paper.datasets:
        dataset = UNSEEN.get(name)()
        assert dataset.benchmark == paper.accuracy(name, "resnet18") and dataset.counts == paper.images[name]
        assert paper.chance[name] == pytest.approx(100 / len(dataset.classes))


def test_remarks_name_the_random_searches_that_beat_table_3() -> None:
    lines = remarks(published())
    assert [line.split(":")[0] for line in lines if "above all of table 3" in line] == ["Isabella", "Chesseract"]
    assert sum("below the 25 of a guess" in line for line in lines) == 2


def test_study_takes_mean_and_deviation_over_seeds_and_marks_large_differences() -> None:
    results = [replace(RESULT, seed=seed, test_accuracy=value) for seed, value in enumerate((90.0, 92.0, 94.0))]
    results.append(replace(RESULT, seed=3, status="diverged", test_accuracy=None))
    results.append(replace(RESULT, model="vgg16", test_accuracy=80.0))
    cells = unseen_study(results).cells
    cell = cells["addnist", "resnet18"]
    assert (cell.mean, cell.std, cell.seeds, cell.diverged, cell.published) == (92.0, 2.0, (0, 1, 2), 1, 92.08)
    assert cell.difference == pytest.approx(-0.08) and not cell.large
    assert cells["addnist", "vgg16"].large and cells["addnist", "vgg16"].std is None


def test_study_never_mixes_settings_and_says_what_it_left_out() -> None:
    results = [
        replace(RESULT, epochs=4, test_accuracy=50.0),
        RESULT,
        replace(RESULT, dataset_hash="other", seed=1, test_accuracy=10.0),
        replace(RESULT, dataset_hash="other", seed=2, test_accuracy=20.0),
        replace(RESULT, dataset="digits"),
    ]
    study = unseen_study(results)
    assert study.cells["addnist", "resnet18"].mean == 15.0  # the most epochs, then the most seeds
    assert len(study.notes) == 3
    assert unseen_study(results, epochs=4).cells["addnist", "resnet18"].mean == 50.0
    with pytest.raises(InvalidOption, match="there are results of 4, 64"):
        unseen_study(results, epochs=5)


def test_of_equal_epochs_a_preset_counts() -> None:
    searched = replace(RESULT, model="pc-darts", search={"space": "darts", "epochs": 20}, search_seed=0)
    by_preset = replace(searched, search={"space": "darts", "epochs": 10}, preset={"name": "paper"}, test_accuracy=95.0)
    cell = unseen_study([by_preset, searched]).cells["addnist", "pc-darts"]
    assert cell.mean == 95.0 and cell_text(cell) == "95.00 [1×64 s10 p]"
    longer = replace(searched, epochs=128, test_accuracy=96.0)
    assert unseen_study([by_preset, longer]).cells["addnist", "pc-darts"].mean == 96.0


def test_own_results_replace_shipped_ones_of_the_same_dataset_and_model() -> None:
    own = [replace(RESULT, epochs=1, test_accuracy=30.0)]
    shipped = [RESULT, replace(RESULT, model="vgg16", test_accuracy=80.0)]
    study = unseen_study(own, shipped=shipped)
    assert {model: (cell.mean, cell.shipped) for (_, model), cell in study.cells.items()} == {
        "resnet18": (30.0, False),  # though it has fewer epochs
        "vgg16": (80.0, True),
    }
    assert study.sources == (1, 1) and not study.notes
    assert "2 of the 96 accuracies" in outcome(study)[0] and "1 are your own, 1 come with nasbed" in outcome(study)[0]
    selected = unseen_study(own, shipped=shipped, epochs=64)
    assert selected.cells["addnist", "resnet18"].shipped and selected.sources == (2, 0)


def test_shipped_results_are_ok_and_of_the_papers_images() -> None:
    paper, results = published(), shipped_results()
    assert len(results) >= 172 and all(result.status == "ok" for result in results)
    for result in results:
        assert result.images == paper.images.get(result.dataset, result.images)
    assert not [note for note in unseen_study([], shipped=results).notes if "occurs twice" in note]


def test_study_finds_the_best_of_the_measured_as_table_3_does() -> None:
    results = [
        RESULT,
        replace(RESULT, model="resnet18-kit", test_accuracy=93.0),
        replace(RESULT, model="rs-darts", test_accuracy=99.0),
        replace(RESULT, model="drnas", test_accuracy=95.0),
    ]
    study = unseen_study(results)
    cnn, nas = study.best("addnist", "cnn"), study.best("addnist", "nas")
    assert cnn is not None and cnn.model == "resnet18-kit" and cnn.published == 92.08
    assert nas is not None and nas.model == "drnas"
    assert study.best("language", "cnn") is None and study.best("addnist", "competition") is None


def test_results_are_appended_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "r.jsonl"
    full = replace(RESULT, images=(3, 2, 1), recipe={"batch": 64}, validated={"1": 5.0, "2": None}, train_time_s=1.5)
    append_result(path, full)
    first = path.read_bytes()
    append_result(path, replace(full, seed=1))
    assert path.read_bytes().startswith(first)
    assert read_results([path]) == [full, replace(full, seed=1)]


def test_a_torn_last_line_is_as_if_never_written(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append_result(path, RESULT)
    path.write_bytes(path.read_bytes() + b'{"format": 1, "data')
    assert read_results([path]) == [RESULT]
    append_result(path, replace(RESULT, seed=1))
    assert read_results([path]) == [RESULT, replace(RESULT, seed=1)]


def test_accuracy_of_an_epoch_that_is_not_finite_is_stored_as_none(tmp_path: Path) -> None:
    append_result(tmp_path / "r.jsonl", replace(RESULT, validated={"1": math.nan, "2": 50.0}))
    (stored,) = read_results([tmp_path / "r.jsonl"])
    assert stored.validated == {"1": None, "2": 50.0}


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"format": 1, "data\n')
    append_result(path, RESULT)
    with pytest.raises(BadFile, match=r"line 1: a result is an object of JSON.*remove the line"):
        read_results([path])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "has the format 1"),
        ({"test_accuracy": 101.0}, "the field test_accuracy"),
        ({"test_accuracy": None}, "the field test_accuracy"),
        ({"seed": "0"}, "the field seed"),
        ({"more": 1}, "the field more"),
        *(
            ({"validated": curve}, "the field validated")
            for curve in ([1, 2], {"a": 1.0}, {"0": 1.0}, {"1": math.nan}, {"1": "x"}, {"1": 1e308})
        ),
    ],
)
def test_results_of_another_kind_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "r.jsonl"
    append_result(path, RESULT)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BadFile, match=message):
        read_results([path])
