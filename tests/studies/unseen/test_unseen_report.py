"""The page of the study of unseen datasets: whole, self-contained, the same numbers everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nasbed.drawing.marks import dashes, series, shapes
from nasbed.experiments.unseen.results import UnseenResult
from nasbed.studies.unseen.figures import unseen_figures
from nasbed.studies.unseen.page import write_unseen_report
from nasbed.studies.unseen.study import unseen_study
from nasbed.studies.unseen.tables import cell_text, far_lines, outcome, unseen_tables
from support.pages import check_page


def result(dataset: str, model: str, seed: int, accuracy: float, **changes: object) -> UnseenResult:
    fields = {"epochs": 64, "status": "ok", "images": (45_000, 15_000, 10_000)} | changes
    return UnseenResult(dataset=dataset, model=model, seed=seed, test_accuracy=accuracy, **fields)  # type: ignore[arg-type]


RESULTS = [
    result("addnist", "resnet18", 0, 91.0),
    result("addnist", "resnet18", 1, 92.0),
    result("addnist", "resnet18-kit", 0, 96.5, images=(500, 100, 100)),
    result("cifartile", "resnet18", 0, 46.0, epochs=4),
    result("cifartile", "drnas", 0, 82.0),
]


def test_tables_show_measured_beside_published_with_marks_and_dashes() -> None:
    tables = unseen_tables(unseen_study(RESULTS))
    assert list(tables) == ["Table 1: CNNs", "Table 2: NAS methods", "Table 3: the best of each"]
    cnn = tables["Table 1: CNNs"]
    assert cnn.columns[:5] == ("dataset", "ResNet-18", "here", "here, resnet18-kit", "AlexNet")
    assert cnn.rows[0][:4] == ("AddNIST", "92.08", "91.50 ± 0.71 [2×64]", "96.50*")
    assert cnn.rows[3][:4] == ("CIFARTile", "45.56", "46.00 [1×4]", "–")
    best = tables["Table 3: the best of each"]
    assert best.columns == ("dataset", "CNN", "here", "which", "NAS", "here", "which", "Competition")
    assert best.rows[3] == ("CIFARTile", "51.28", "46.00 [1×4]", "resnet18", "92.28", "82.00", "drnas", "73.08")
    assert cell_text(None) == "–"


def test_outcome_says_what_is_far_what_is_short_and_what_is_missing() -> None:
    text = "\n".join(outcome(unseen_study(RESULTS)))
    assert "3 of the 96 accuracies" in text and "3 of 3 are within 3. Variants" in text
    distances = (91.5 - 92.08, 46.0 - 45.56, 82.0 - 81.08)
    assert f"difference is {sum(map(abs, distances)) / 3:.2f} points" in text and "do not count: resnet18-kit" in text
    kit_alone = "\n".join(outcome(unseen_study(RESULTS[2:])))
    assert "3 of the 96 accuracies" in kit_alone and "2 of 3 are within 3.\n" in kit_alone
    assert far_lines(unseen_study(RESULTS)) == [
        "resnet18-kit, points from the published: +4.42 on AddNIST (1 training)."
    ]
    assert "500 + 100 + 100 images, the paper has 45 000 + 15 000 + 10 000" in text
    assert "not measured on any dataset: AlexNet, VGG16" in text and "some of these had 4" in text


def test_curves_are_means_of_the_epochs_that_all_trainings_validated(tmp_path: Path) -> None:
    trainings = [
        result("addnist", "vgg16", 0, 91.0, validated={"1": 20.0, "2": 40.0, "10": 90.0}),
        result("addnist", "vgg16", 1, 92.0, validated={"2": 50.0, "1": 30.0, "10": None}),
        result("addnist", "resnet18", 0, 92.0, validated={"64": 91.0}),
        result("addnist", "pc-darts", 0, 92.0, validated={"1": 50.0, "2": 60.0}),
        result("addnist", "darts", 0, 92.0, validated={"1": 50.0, "2": 70.0}, search={"space": "darts"}),
    ]
    study = unseen_study(trainings)
    assert list(study.cells["addnist", "vgg16"].curve.items()) == [(1, 25.0), (2, 45.0)]
    write_unseen_report(study, tmp_path / "new", formats=("svg",))
    check_page(tmp_path / "new" / "report.html")
    expected = {
        "curves": [("vgg16", 1, 25.0), ("vgg16", 2, 45.0)],
        "nas-curves": [("pc-darts", 1, 50.0), ("pc-darts", 2, 60.0), ("darts", 1, 50.0), ("darts", 2, 70.0)],
    }
    for name, points in expected.items():
        assert (tmp_path / "new" / "figures" / f"{name}.svg").is_file()
        chart = unseen_figures(study)[name].to_dict()
        (panel,) = chart["concat"]
        guess, lines = (chart["datasets"][layer["data"]["name"]] for layer in panel["layer"])
        assert panel["title"] == "AddNIST" and guess == [{"accuracy": 5.0}]
        assert {(row["model"], row["epoch"], row["accuracy"]) for row in lines} == set(points)


def test_models_that_share_a_colour_differ_in_shape() -> None:
    """The palette has eight colours; a table of the paper has more models."""
    names = [f"model-{place}" for place in range(11)]
    for looks in (shapes(names, "model", None), dashes(names, "model", None)):
        kinds = [str(kind) for kind in looks.to_dict()["scale"]["range"]]
        colours = series(names, "model", None).to_dict()["scale"]["range"]
        assert len(kinds) == 11 and len(set(zip(colours, kinds, strict=True))) == 11 > len(set(colours))


@pytest.mark.parametrize("measured", [True, False])
def test_page_is_self_contained_and_numbers_are_those_of_the_tables(tmp_path: Path, measured: bool) -> None:
    study = unseen_study(RESULTS if measured else [])
    write_unseen_report(study, tmp_path / "new", formats=("svg",))
    html = (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    check_page(tmp_path / "new" / "report.html")
    assert "92.08" in html and "68.83" in html and ("91.50 ± 0.71 [2×64]" in html) == measured
    figures = {path.name for path in (tmp_path / "new" / "figures").iterdir()}
    assert figures == ({"best.svg", "published-measured.svg"} if measured else {"best.svg"})
    numbers = json.loads((tmp_path / "new" / "numbers.json").read_text())
    assert (
        len(numbers["measured"]) == (4 if measured else 0) and numbers["published"]["cnn"]["addnist"]["vgg16"] == 92.06
    )
