"""The content of an export: what the API answers, in one file."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

from nasbed.explorer import export
from nasbed.explorer.catalogue import BenchmarkView, Catalogue
from nasbed.explorer.diagram import diagram_data
from nasbed.explorer.fixed_drawing import fixed_drawing
from support.commands import run_command
from support.tables import nb201_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """156 cells of NAS-Bench-201."""
    folder = tmp_path_factory.mktemp("exported") / "table"
    nb201_table(folder, share=0.01)
    return folder


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with nothing but the place of the data."""
    path = tmp_path_factory.mktemp("page") / "export.html"
    path.write_text(f"<!doctype html><title>x</title>{export.MARKER}<p>end")
    return path


def test_page_holds_every_point_and_what_the_api_answers_for_it(
    table: Path, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "TEMPLATE", template)
    monkeypatch.setattr(export, "MOST_DETAILED", 20)
    result = run_command("explore", table, "--export", tmp_path / "page.html")
    assert result.returncode == 0, result.stderr
    assert "156 architectures, 20 of them with details" in result.stdout
    page = (tmp_path / "page.html").read_text()
    found_data = re.search('<script type="application/octet-stream" id="export">([A-Za-z0-9+/=]+)</script>', page)
    assert found_data is not None and page.endswith("<p>end") and export.MARKER not in page
    content = json.loads(gzip.decompress(base64.b64decode(found_data[1])))
    view = Catalogue(str(table)).open(str(table))
    assert content["texts"] == view.points.space.texts(view.points.codes) and content["row_note"] is None
    points = base64.b64decode(content["points"])
    assert points == view.points.packed(list(view.points.columns))
    assert content["benchmark"]["rows"] == 156 and "20 of 156" in content["details_note"]
    best = int(np.argmax(view.points.values("validation_accuracy")))
    assert str(best) in content["details"]
    for row, details in content["details"].items():
        assert details["row"] == int(row) and details["text"] == content["texts"][int(row)]
        for edit in details["edits"]["edits"]:
            assert edit["row"] is None or content["texts"][edit["row"]] == edit["text"]
        assert details["across"]["benchmarks"][0]["value"] == pytest.approx(
            details["values"]["validation_accuracy"]["mean"]
        )


def test_large_table_is_sampled_with_its_best_and_says_so(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MOST_POINTS", 50)
    monkeypatch.setattr(export, "MOST_DETAILED", 5)
    content = export.export_content(Catalogue(str(table)))
    view = Catalogue(str(table)).open(str(table))
    assert len(content["texts"]) == len(set(content["texts"])) == 50 and "50 of 156" in content["row_note"]
    best = view.points.space.format(view.points.architecture(int(np.argmax(view.points.values("validation_accuracy")))))
    assert best in content["texts"] and len(content["details"]) == 5


def test_one_drawing_and_a_table_of_options_show_every_cell(table: Path) -> None:
    view = Catalogue(str(table)).open(str(table))
    rows = np.arange(view.points.rows)
    fixed = fixed_drawing(view, rows)
    assert fixed is not None
    options = np.frombuffer(base64.b64decode(fixed["codes"]), np.uint8).reshape(len(rows), len(fixed["slots"]))
    space = view.points.space
    for row in (0, 50, 155):
        arch = view.points.architecture(row)
        (cell,) = diagram_data(space, arch)
        labels = {node["edit"]: (node["label"], node["fill"], node["used"]) for node in cell["nodes"] if node["edit"]}
        chosen = [fixed["options"][option] for option in options[row]]
        assert [labels[slot] for slot in fixed["slots"]] == [tuple(option.values()) for option in chosen]
        places = [
            [(node["id"], node["x"], node["y"]) for node in drawn["nodes"]] for drawn in (cell, fixed["diagram"][0])
        ]
        assert places[0] == places[1] and cell["edges"] == fixed["diagram"][0]["edges"]


@pytest.mark.parametrize("name", ["nb101-mini-cifar10-16-v1.0", "darts-cifar10-16"])
def test_cells_with_different_edges_have_no_common_drawing(name: str) -> None:
    assert fixed_drawing(BenchmarkView.load(name), np.arange(10)) is None


@pytest.mark.parametrize("path, words", [("page.txt", "its file ends in .html"), ("no/page.html", "existing folder")])
def test_place_of_an_export_is_checked_first(tmp_path: Path, path: str, words: str) -> None:
    result = run_command("explore", "nb201-cifar10-16-v1.0", "--export", tmp_path / path)
    assert result.returncode == 2 and words in result.stderr and result.stderr.count("\n") == 1
