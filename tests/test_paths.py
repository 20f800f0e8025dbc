"""Public functions take a path as text, too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nasbed
import nasbed.oneshot
import nasbed.training
from nasbed.benchmarks import SurrogateBenchmark, TabularBenchmark
from nasbed.drawing import save_cells
from nasbed.drawing.figures import save_figures, write_report
from nasbed.drawing.page import write_numbers, write_page
from nasbed.experiments import campaign
from nasbed.experiments.compare import compare
from nasbed.experiments.release import ReleasePlan, release
from nasbed.experiments.release_archive import install_archive, write_archive
from nasbed.experiments.runs import load_run, load_runs, save_run, save_setup
from nasbed.experiments.scoring import score_architectures
from nasbed.experiments.tuning import load_runtime_settings, load_settings, tune
from nasbed.oneshot.export import export_search
from nasbed.oneshot.record import read_record, write_record
from nasbed.proxies.score_files.published import published_scores
from nasbed.proxies.table import ScoreTable, open_scores
from nasbed.reports.comparison import write_comparison
from nasbed.reports.fit.page import write_fit_report
from nasbed.reports.proxies.page import write_proxies_report
from nasbed.reports.tuning import write_tuning_report
from nasbed.results import Manifest, Results, write_results
from nasbed.results.export import export_results
from nasbed.results.importing import import_tables
from nasbed.results.merge import merge_results
from nasbed.studies.validation import validate_results
from nasbed.studies.validation.page import write_validation
from nasbed.surrogates.artefact import Artefact
from support.surrogates import small_surrogate, write_evaluations

PUBLIC: list[Callable[..., Any]] = [
    *(nasbed.load, Results.open, write_results, Manifest.read, export_results, import_tables, merge_results),
    *(Artefact.save, Artefact.load, TabularBenchmark.open, SurrogateBenchmark.open, save_cells),
    *(ScoreTable.read, ScoreTable.write, open_scores, score_architectures, compare, load_runs),
    *(nasbed.training.train, nasbed.training.train_network, nasbed.training.load_recipe, nasbed.oneshot.search),
    *(write_record, read_record, export_search, campaign.Campaign.read, campaign.Journal.reading),
    *(campaign.collect, campaign.campaign_status, campaign.export_journals, campaign.FunctionTrainer),
    *(
        nasbed.compare,
        nasbed.collect,
        nasbed.fit,
        nasbed.score,
        nasbed.Runs.write_report,
        load_run,
        save_run,
        save_setup,
    ),
    *(save_figures, write_report, write_page, write_numbers, write_comparison, write_fit_report, write_tuning_report),
    *(write_proxies_report, write_validation, validate_results, tune, load_settings, load_runtime_settings),
    *(ReleasePlan.read, release, write_archive, install_archive, published_scores),
]


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: f"{function.__module__}.{function.__qualname__}")
def test_public_function_declares_paths_as_text_or_path(function: Callable[..., Any]) -> None:
    annotations = [str(parameter.annotation) for parameter in inspect.signature(function).parameters.values()]
    paths = [annotation for annotation in annotations if "Path" in annotation]
    assert paths
    assert all("str" in annotation for annotation in paths)


def test_paths_as_text_are_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = write_evaluations(tmp_path / "source")
    write_results("copy", source.about, source.batches())
    reloaded = Results.open("copy")
    assert len(TabularBenchmark.open("copy")) == len(TabularBenchmark.open(tmp_path / "copy"))
    assert export_results(reloaded, "rows.csv") == reloaded.manifest.rows
    options = {"space": "nb201", "name": "again", "metrics": "validation_accuracy", "fidelity": "12"}
    [imported] = import_tables("table", "rows.csv", "imported", options)
    assert imported.manifest.rows == reloaded.manifest.rows
    assert merge_results([reloaded, source], "merged").results.manifest.rows == reloaded.manifest.rows
    artefact = small_surrogate(tmp_path)
    assert artefact.save("x.snb") == Path("x.snb")
    assert artefact.save("x") == Path("x")
    assert Artefact.load("x.snb").name == Artefact.load("x").name == artefact.name
    assert isinstance(nasbed.load("x.snb"), SurrogateBenchmark)
    arch = next(nasbed.space("nb201").enumerate())
    save_cells(nasbed.space("nb201").diagrams(arch), "cell.svg")
    assert Path("cell.svg").read_text().startswith("<svg")
    trainer = campaign.FunctionTrainer(lambda arch, fidelity, seed: 1.0, "nb201", folder=".")
    assert trainer.function(arch, 1, 0) == 1.0


def test_reports_and_runs_are_written_to_paths_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runs = nasbed.compare("nb201-chesseract-v1.0", "rs", seeds=1, budget="5ev", progress=False)
    save_setup("stored", runs.setup)
    save_run("stored/runs", runs.runs[0])
    assert load_run("stored/runs/rs-0.npz").codes.tolist() == load_runs("stored").runs[0].codes.tolist()
    write_numbers("numbers", {"one": 1})
    write_page("page.html", "A page", [])
    assert Path("numbers/numbers.json").read_text() and "A page" in Path("page.html").read_text()
