"""Reports of studies are complete and self-contained, with the same numbers everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import altair as alt
import numpy as np
import pytest

from nasbed import Metric, NasbedError, space
from nasbed.benchmarks import TabularBenchmark
from nasbed.drawing.figures import save_figures
from nasbed.results import Rows, TableInfo, write_results
from nasbed.studies.landscape.page import landscape_facts, write_landscape_report
from nasbed.studies.landscape.study import LandscapeStudy, landscape_study
from nasbed.studies.nas_hpo.numbers import nas_hpo_numbers
from nasbed.studies.nas_hpo.page import nearest_definition, write_nas_hpo_report
from nasbed.studies.nas_hpo.study import DEFINITIONS, nas_hpo_study
from support.pages import check_page
from support.tables import VALIDATION, nb201_table

FIGURES = {"distributions", "costs", "operations", "shapes", "walks", "distance", "volume", "fidelities"}
MAGIC = {"svg": b"<svg", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> LandscapeStudy:
    table = nb201_table(tmp_path_factory.mktemp("tables") / "nb201", share=0.1)
    return landscape_study(table, np.random.default_rng(0), walk_steps=300)


@pytest.fixture(scope="module")
def folder(study: LandscapeStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "new" / "landscape"
    write_landscape_report(study, folder, formats=("svg", "png", "pdf"))
    return folder


def test_landscape_report_is_one_page_with_every_figure(folder: Path) -> None:
    charts = check_page(folder / "report.html").charts
    assert {name.split("-")[1] for name in charts} == FIGURES
    assert (folder / "report.html").stat().st_size < 1_500_000
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"{name}.{form}" for name in FIGURES for form in MAGIC}
    for path in (folder / "figures").iterdir():
        assert path.read_bytes().startswith(MAGIC[path.suffix[1:]]), path
    assert {path.name for path in folder.iterdir()} == {"report.html", "numbers.json", "figures"}


def test_landscape_numbers_are_those_of_the_study(folder: Path, study: LandscapeStudy) -> None:
    numbers = json.loads((folder / "numbers.json").read_text())
    assert numbers["architectures"] == study.architectures and numbers["best"]["architecture"] == study.best
    (replacement,) = study.replacements
    written = np.array(numbers["replacements"][0]["change"], dtype=float)  # null becomes NaN
    np.testing.assert_array_equal(written, replacement.change)
    assert numbers["distance"]["fitness_distance_correlation"] == study.distance.correlation
    facts = landscape_facts(study)
    page = (folder / "report.html").read_text()
    assert f"{study.distance.correlation:.3f}" in page and facts["table"]["table"] == "generated/nb201"


def test_landscape_report_omits_what_a_table_lacks(tmp_path: Path) -> None:
    """One run, one fidelity, no times, and no two architectures that are neighbours."""
    darts = space("darts")
    rng = np.random.default_rng(0)
    codes = darts.codes([darts.sample(rng) for _ in range(40)])
    rows = Rows.of(codes, {VALIDATION.key: rng.uniform(80, 95, 40)}, fidelity=100)
    table = TabularBenchmark(write_results(tmp_path / "t", TableInfo("small", "darts", (VALIDATION,)), [rows]))
    study = landscape_study(table, rng)
    assert study.costs is None and not study.noise and not study.walks
    write_landscape_report(study, tmp_path / "report", formats=("svg",))
    figures = {path.stem for path in (tmp_path / "report" / "figures").iterdir()}
    assert {"distributions", "distance"} <= figures and not figures & {"costs", "walks", "fidelities", "operations"}
    check_page(tmp_path / "report" / "report.html")


def test_nas_hpo_report_shows_every_reading(tmp_path: Path) -> None:
    """Losses that the hyperparameters only shift: every reading ranks alike, so every correlation is 1."""
    fcnet = space("fcnet")
    loss = Metric("loss", split="validation", direction="minimize", bounds=(0, float("inf")))
    codes = fcnet.codes(list(fcnet.enumerate()))
    values = (codes * 7.0 ** -np.arange(9)).sum(axis=1)
    rows = Rows.of(codes, {loss.key: values}, fidelity=100, seed=0)
    about = TableInfo("generated/protein", "fcnet", (loss,))
    results = nas_hpo_study(TabularBenchmark(write_results(tmp_path / "t", about, [rows])))
    assert [result.transfer.spearman for result in results] == pytest.approx([1.0] * len(DEFINITIONS))
    write_nas_hpo_report(results, tmp_path / "report", formats=("svg",))
    check_page(tmp_path / "report" / "report.html")
    assert json.loads((tmp_path / "report" / "numbers.json").read_text()) == nas_hpo_numbers(results)
    assert nearest_definition(results) in results
    with pytest.raises(NasbedError, match="protein"):
        nearest_definition([])


def test_unknown_formats_are_refused(tmp_path: Path) -> None:
    chart = alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_point(clip=True).encode(alt.X("x:Q"))
    with pytest.raises(NasbedError, match="svg, png, pdf"):
        save_figures({"figure": chart}, tmp_path / "figures", ["gif"])
    assert not list(tmp_path.iterdir())
