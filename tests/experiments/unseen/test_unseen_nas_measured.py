"""NAS methods on unseen datasets: searched, trained from scratch, resumed, and never mixed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")


from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.datasets.dataset import Dataset
from nasbed.datasets.opening import open_dataset
from nasbed.experiments.unseen import search as unseen_nas_search
from nasbed.experiments.unseen.budget import NasBudget, nas_methods
from nasbed.experiments.unseen.nas import measured_nas, trained, trained_together
from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import UnseenResult, append_result, read_results
from nasbed.experiments.unseen.run import NasRun
from nasbed.experiments.unseen.runs import NasPlan, measure
from nasbed.experiments.unseen.search import OnEpoch, recorded_outcome, searched
from nasbed.oneshot import METHODS
from nasbed.oneshot.pruning.settings import bonsai_cells
from nasbed.oneshot.record import read_record
from nasbed.spaces.bonsai import BonsaiGenotype
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.studies.one_shot.records import read_searches
from nasbed.studies.unseen.curves import curve_charts
from nasbed.studies.unseen.study import unseen_study
from nasbed.training import load_recipe, train
from support.draw_method import DrawMethod, DrawSettings
from support.forks import fork_script

BUDGET = NasBudget.alike(search_epochs=2, search_channels=4, search_cells=2, search_images=64, channels=4, cells=2)
RECIPE = load_recipe("unseen")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A folder as the competition has them, called as one of the paper's, with three patterns under noise."""
    folder = tmp_path_factory.mktemp("made") / "Chesseract"
    folder.mkdir()
    rng = np.random.default_rng(0)
    patterns = rng.normal(size=(3, 2, 8, 8))
    for part, count in (("train", 128), ("valid", 30), ("test", 60)):
        labels = np.arange(count) % 3
        noise = rng.normal(size=(count, 2, 8, 8))
        images = np.clip(128 + 50 * (patterns[labels] + noise), 0, 255).round().astype(np.float32)
        np.save(folder / f"{part}_x.npy", images)
        np.save(folder / f"{part}_y.npy", labels)
    (folder / "metadata").write_text(json.dumps({"num_classes": 3, "input_shape": [218, 2, 8, 8], "codename": "x"}))
    return open_dataset(str(folder))


def test_methods_are_the_columns_of_the_papers_table_and_more() -> None:
    assert nas_methods()[:5] == list(published().nas_titles) and {"darts", "gdas", "random-ws"} < set(nas_methods())


@pytest.mark.parametrize("cells", [1, 2, 3, 8, 20])
def test_bonsai_cells_reduce_where_darts_cells_do(cells: int) -> None:
    letters = bonsai_cells(cells)
    assert len(letters) == cells
    assert {place for place, letter in enumerate(letters) if letter == "r"} == DartsSkeleton(cells=cells).reductions


@pytest.mark.parametrize(
    "method",
    [
        "pc-darts",
        pytest.param("bonsai-net", marks=pytest.mark.thorough),
        pytest.param("rs-darts", marks=pytest.mark.thorough),
        "rs-bonsai",
    ],
)
def test_measured_nas_tells_what_was_done(method: str, dataset: Dataset, tmp_path: Path) -> None:
    reports: list[str] = []
    result = measured_nas(
        method,
        dataset,
        RECIPE,
        budget=BUDGET,
        epochs=1,
        seed=1,
        checkpoints=tmp_path,
        progress=lambda part, epoch, description: reports.append(f"{part} {epoch}"),
    )
    random = method.startswith("rs-")
    assert reports == (["train 1"] if random else ["search 1", "search 2", "train 1"])
    assert (result.dataset, result.model, result.epochs, result.seeds) == ("chesseract", method, 1, (0, 1))
    assert result.status == "ok" and result.images == (128, 30, 60) and result.recipe["skeleton"]["channels"] == 4
    assert result.search_epochs == (0 if random else 2) and (result.search_time_s == 0) == random
    assert unseen_study([result]).cells["chesseract", method].published == published().nas["chesseract"][method]
    arch = recorded_outcome(result).architecture
    assert arch is not None and arch.to_json() == result.architecture
    assert arch.space == ("bonsai-rr-2" if "bonsai" in method else "darts")
    recipe = BUDGET.recipe(method, RECIPE)
    assert train(arch, dataset, recipe, seed=1, epochs=1).test_accuracy == result.test_accuracy
    if "bonsai" in method:  # as earlier versions stored it
        earlier = replace(result, architecture=BonsaiGenotype.of(arch).to_json())
        assert recorded_outcome(earlier).architecture == arch
    repeated = measured_nas(method, dataset, RECIPE, budget=BUDGET, epochs=1, seed=0, checkpoints=tmp_path)
    assert repeated.architecture == result.architecture and repeated.setting == result.setting


def test_method_of_a_plugin_is_searched_and_trained_in_its_own_space(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(METHODS, "_entries", {**METHODS._entries, "draw": DrawMethod})
    shared = {"search_epochs": 2, "channels": 4, "cells": 2}
    budget = NasBudget.alike(**shared, draw={"draws": [7]})  # type: ignore[arg-type]
    assert budget.settings("draw") == DrawSettings(epochs=2, draws=(7,))
    assert nas_methods()[:5] == list(published().nas_titles) and {"draw", "rs-nb201"} < set(nas_methods())
    file = tmp_path / "r.jsonl"
    assert measure([dataset], NasPlan(("draw", "rs-nb201"), RECIPE, budget, epochs=1), file) == 2
    searched, random = read_results([file])
    assert searched.search == {"space": "nb201", "epochs": 2, "draws": [7]} and random.search == {"space": "nb201"}
    for result in (searched, random):
        arch = recorded_outcome(result).architecture
        assert result.status == "ok" and arch is not None and arch.space == "nb201"
        assert result.recipe["skeleton"] == {"channels": 4}
    (comparison,) = unseen_study([searched, random]).comparisons
    assert (comparison.model, comparison.space, len(comparison.by_chance)) == ("draw", "nb201", 1)


def test_random_architectures_are_another_for_every_seed(dataset: Dataset) -> None:
    for method in ("rs-darts", "rs-bonsai"):
        architectures = {searched(NasRun(method, dataset, RECIPE, BUDGET, seed)).architecture for seed in range(5)}
        assert len(architectures) == 5


def test_interrupted_search_and_training_resume_to_the_same_result(dataset: Dataset, tmp_path: Path) -> None:
    def measured(folder: Path, *, stop: str = "") -> UnseenResult:
        def on_progress(part: str, epoch: int, description: str) -> None:
            if stop == f"{part} {epoch}":
                raise KeyboardInterrupt

        options = {"budget": BUDGET, "epochs": 2, "checkpoints": folder, "progress": on_progress}
        return measured_nas("gdas", dataset, RECIPE, **options)  # type: ignore[arg-type]

    complete = measured(tmp_path / "whole")
    for stop in ("search 1", "train 1"):
        with pytest.raises(KeyboardInterrupt):
            measured(tmp_path / "parts", stop=stop)
    parts = measured(tmp_path / "parts")
    same = {"train_time_s": 0.0, "search_time_s": 0.0}
    assert replace(parts, **same) == replace(complete, **same)  # type: ignore[arg-type]


def test_measure_does_nothing_twice_and_reads_architectures_from_the_file(dataset: Dataset, tmp_path: Path) -> None:
    file, parts = tmp_path / "r.jsonl", []

    @contextmanager
    def bar(title: str, epochs: int) -> Iterator[OnEpoch]:
        parts.append((title.split(": ")[1], epochs))
        yield lambda epoch, description: None

    plan = NasPlan(("gdas", "rs-darts"), RECIPE, BUDGET, epochs=1)
    checkpoints = tmp_path / "checkpoints"
    assert measure([dataset], plan, file, checkpoints=checkpoints, bar=bar) == 2
    assert parts == [("search", 2), ("training with seed 0", 1), ("training with seed 0", 1)]
    assert [path.name.split("-search-")[0] for path in checkpoints.iterdir()] == ["chesseract-gdas-0"]
    first = file.read_bytes()
    assert measure([dataset], plan, file) == 0 and file.read_bytes() == first
    parts.clear()
    assert measure([dataset], replace(plan, train_seeds=2), file, bar=bar) == 2
    assert parts == [("training with seed 1", 1)] * 2
    parts.clear()
    assert measure([dataset], replace(plan, epochs=2), file, bar=bar) == 2
    assert parts == [("training with seed 0", 2)] * 2
    results = read_results([file])
    assert len({result.architecture for result in results if result.model == "gdas"}) == 1


def test_searches_are_recorded_as_oneshot_records_its_own_and_not_done_again(dataset: Dataset, tmp_path: Path) -> None:
    searches, plan = tmp_path / "searches", NasPlan(("gdas", "bonsai-net"), RECIPE, BUDGET, epochs=1)
    first, second = (tmp_path / name for name in ("first.jsonl", "second.jsonl"))
    assert measure([dataset], plan, first, searches=searches) == 2
    (record,) = read_searches([searches])  # what nasbed study one-shot watches
    pruned = read_record(next(searches.glob("*bonsai-net*/search.json")))
    ends = [record.searched.architecture, pruned.searched.architecture]
    assert [arch and arch.to_json() for arch in ends] == [result.architecture for result in read_results([first])]
    assert len(record.searched.epochs) == len(pruned.searched.epochs) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unseen_nas_search, "search", None)  # searching would fail
        assert measure([dataset], plan, second, searches=searches) == 2
    before, repeated = (
        [replace(result, train_time_s=0.0) for result in read_results([path])] for path in (first, second)
    )
    assert before == repeated
    different = NasRun("gdas", dataset, RECIPE, BUDGET, search_seed=1)
    with pytest.raises(InvalidOption, match="the record of another search than gdas with seed 1 on chesseract"):
        searched(different, record=next(searches.glob("*gdas*/search.json")))


def test_what_cannot_be_kept_is_reported_before_a_search(dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    plan = NasPlan(("gdas",), RECIPE, BUDGET, epochs=1)
    for name in ("checkpoints", "searches"):
        with pytest.raises(InvalidOption, match="file is a file; move it away"):
            measure([dataset], plan, tmp_path / "r.jsonl", **{name: tmp_path / "file"})  # type: ignore[arg-type]


def test_damaged_record_of_a_search_is_reported(dataset: Dataset, tmp_path: Path) -> None:
    run = NasRun("gdas", dataset, RECIPE, BUDGET)
    record = run.record(tmp_path)
    assert record is not None
    searched(run, record=record)
    content = record.read_bytes()
    for broken in (b"", content[: len(content) // 2], content.replace(b"gdas", b"gdaz")):
        record.write_bytes(broken)
        with pytest.raises(BadFile, match=r"search\.json"):
            searched(run, record=record)


def test_results_of_other_searches_are_never_mixed(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(METHODS, "_entries", {**METHODS._entries, "draw": DrawMethod})
    file = tmp_path / "r.jsonl"
    for epochs, draws in ((1, [7]), (2, [7]), (2, [8])):
        budget = NasBudget.alike(search_epochs=epochs, channels=4, cells=2, draw={"draws": draws})
        measure([dataset], NasPlan(("draw",), RECIPE, budget, epochs=1), file)
    results = read_results([file])
    assert len({result.setting for result in results}) == 3
    study = unseen_study(results)
    assert study.cells["chesseract", "draw"].seeds == (0,) and study.unpublished == ["draw"]
    assert study.cells["chesseract", "draw"].search["epochs"] == 2
    assert sum("of another setting" in line for line in study.notes) == 2


def test_networks_trained_together_have_the_results_they_have_alone(
    dataset: Dataset, tmp_path: Path, thorough: bool
) -> None:
    epochs = 2 if thorough else 1
    seeds = 2 if thorough else 1
    plan = NasPlan(("rs-darts", "rs-bonsai"), RECIPE, BUDGET, epochs=epochs, seeds=seeds, train_seeds=2)
    counts = [
        measure([dataset], replace(plan, together=is_together), tmp_path / f"{is_together}")
        for is_together in (True, False)
    ]
    together, separate = (
        {(result.model, *result.seeds): result for result in read_results([tmp_path / f"{is_together}"])}
        for is_together in (True, False)
    )
    assert counts == [4 * seeds] * 2 and set(together) == set(separate)
    for key, result in together.items():
        expected = separate[key]
        assert (result.setting, result.architecture, result.parameters) == (
            expected.setting,
            expected.architecture,
            expected.parameters,
        )
        assert result.test_accuracy == pytest.approx(expected.test_accuracy, abs=2)  # an image in 60
        assert (f"{2 * seeds} networks together" in result.device) == (key[0] == "rs-darts")
    run = NasRun("rs-bonsai", dataset, RECIPE, BUDGET)
    with pytest.raises(InvalidOption, match="rs-bonsai on chesseract; train it alone"):
        trained_together([(run, searched(run), 0)])


@pytest.mark.parametrize("together", [False, True])
def test_learning_curve_is_in_the_results_and_changes_nothing_else(
    dataset: Dataset, tmp_path: Path, together: bool
) -> None:
    plan = NasPlan(("rs-darts",), RECIPE, BUDGET, epochs=2, train_seeds=2, together=together)
    plain, curved = tmp_path / "plain.jsonl", tmp_path / "curved.jsonl"
    measure([dataset], plan, plain)
    with_curve = replace(plan, learning_curve=True)
    assert measure([dataset], with_curve, curved) == 2
    for result, expected in zip(read_results([curved]), read_results([plain]), strict=True):
        assert list(result.validated) == ["1", "2"] and not expected.validated
        assert result.validated["2"] == result.validation_accuracy == expected.validation_accuracy
        assert replace(result, validated={}, train_time_s=0.0) == replace(expected, train_time_s=0.0)
    assert measure([dataset], with_curve, plain) == 0, "a result is not repeated for its curve"
    study = unseen_study(read_results([curved]))
    assert list(curve_charts(study)) == ["nas-curves"]
    ((cell, points),) = ((cell, cell.curve) for cell in study.cells.values())
    assert cell.model == "rs-darts" and list(points) == [1, 2]


def test_networks_trained_together_resume_where_they_were_interrupted(dataset: Dataset, tmp_path: Path) -> None:
    epochs: list[int] = []
    last = 1

    @contextmanager
    def bar(title: str, count: int) -> Iterator[OnEpoch]:
        def report(epoch: int, description: str) -> None:
            epochs.append(epoch)
            if epoch == last:
                raise KeyboardInterrupt

        yield report

    plan = NasPlan(("rs-darts",), RECIPE, BUDGET, epochs=2, train_seeds=2, together=True)
    file, whole, checkpoints = tmp_path / "r.jsonl", tmp_path / "whole.jsonl", tmp_path / "checkpoints"
    with pytest.raises(KeyboardInterrupt):
        measure([dataset], plan, file, checkpoints=checkpoints, bar=bar)
    assert [path.name.split("-together-")[0] for path in checkpoints.iterdir()] == ["chesseract-2"]
    last = 0
    assert measure([dataset], plan, file, checkpoints=checkpoints, bar=bar) == 2
    assert epochs == [1, 2] and not list(checkpoints.iterdir())
    measure([dataset], plan, whole)
    resumed, expected = (
        [replace(result, train_time_s=0.0) for result in read_results([path])] for path in (file, whole)
    )
    assert resumed == expected


def test_search_that_diverged_is_a_result_that_says_so(dataset: Dataset, tmp_path: Path) -> None:
    wild = {"learning_rate": 1e30, "gradient_clip": None, "batch": 16}
    shared = {
        "search_epochs": 1,
        "search_channels": 4,
        "search_cells": 2,
        "search_images": 64,
        "channels": 4,
        "cells": 2,
    }
    budget = NasBudget.alike(**shared, supernet=wild)  # type: ignore[arg-type]
    run = NasRun("gdas", dataset, RECIPE, budget, epochs=1)
    result = trained(run, searched(run))
    assert result.status == "diverged" and result.reason.startswith("the search: ") and result.architecture == ""
    append_result(tmp_path / "r.jsonl", result)
    assert read_results([tmp_path / "r.jsonl"])[0].setting == result.setting
    assert measure([dataset], NasPlan(("gdas",), RECIPE, budget, epochs=1), tmp_path / "r.jsonl") == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ("pcdarts",)}, "did you mean pc-darts"),
        ({"methods": ()}, "a method or more"),
        ({"recipe": load_recipe("snb-darts"), "together": True}, "mixup"),
    ],
)
def test_plans_that_cannot_be_done_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises((InvalidOption, UnknownName), match=message):
        replace(NasPlan(("rs-darts",), RECIPE, BUDGET), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "changes", "message"),
    [
        ("rs-darts", {"channels": 3}, "an even number of channels"),
        ("rs-darts", {"epochs": 3}, "the budgets 1, 2, 4, 8, 16, 32, 64"),
        ("rs-bonsai", {"recipe": load_recipe("snb-darts")}, "no auxiliary classifier"),
    ],
)
def test_networks_that_cannot_be_trained_are_refused_before_a_search(
    method: str, changes: dict[str, object], message: str, dataset: Dataset
) -> None:
    budget = NasBudget.alike(channels=int(str(changes.pop("channels", 4))), cells=2)
    options = {"recipe": RECIPE, "budget": budget} | changes
    with pytest.raises(InvalidOption, match=message):
        measured_nas(method, dataset, **options)  # type: ignore[arg-type]


def test_measuring_needs_torch_numpy_and_scipy_alone() -> None:
    absent = ["typer", "rich", "pyarrow", "numba", "ConfigSpace", "lightgbm", "xgboost", "altair", "sklearn", "pandas"]
    code = (
        f"import sys; absent = {absent}\n"
        "for name in list(sys.modules):\n"
        "    if name.partition('.')[0] in ('nasbed', *absent): del sys.modules[name]\n"
        "sys.modules.update(dict.fromkeys(absent))\n"
        "import nasbed.experiments.unseen.runs, nasbed.studies.unseen.study, nasbed.datasets.opening\n"
        "from nasbed.spaces import space; import numpy; space('darts').sample(numpy.random.default_rng(0))"
    )
    assert fork_script(code).wait(timeout=60) == 0
