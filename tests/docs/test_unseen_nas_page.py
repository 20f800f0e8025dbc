"""The page about NAS methods on unseen datasets runs as it is printed, and its finding has what was measured."""

from __future__ import annotations

import re
from math import log
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.core.architecture import Architecture
from nasbed.core.home import embedded_home
from nasbed.experiments.unseen.budget import nas_methods
from nasbed.experiments.unseen.presets import PresetChoice
from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import read_results
from nasbed.oneshot.record import read_record
from nasbed.studies.unseen.random_baseline import chance_comparisons, spread, summary_lines
from nasbed.training import load_recipe
from support.documentation import DOCS, page_text
from support.unseen_dataset import unseen_folder

PAGE, FINDING = page_text("unseen-nas"), page_text("nas-on-unseen-data")


def test_unseen_nas_page_runs_and_names_every_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thorough: bool
) -> None:
    """On a smaller dataset than the page's and by a quicker method, except in a thorough run."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    smaller = {} if thorough else {'"digits"': repr(str(unseen_folder(tmp_path / "gutenberg"))), '"pc-darts"': '"gdas"'}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        for printed, shorter in smaller.items():
            assert printed in block
            block = block.replace(printed, shorter)
        exec(block, names)
    assert names["result"].status == "ok" and len((tmp_path / "nas.jsonl").read_text().splitlines()) == 4
    assert [name for name in nas_methods() if f"`{name}`" not in PAGE] == []


def test_nas_on_unseen_data_has_what_was_measured() -> None:
    results = read_results([embedded_home() / "results" / "unseen-nas.jsonl"])
    assert {(result.status, result.epochs) for result in results} == {("ok", 8)} and len(results) == 4 * (
        7 * 3 + 5 * 3 + 5
    )
    comparisons = {(result.dataset, result.model): result for result in chance_comparisons(results)}
    datasets = ("cifar10@16", "addnist", "language", "chesseract")
    for model in ("darts", "darts2", "gdas", "pc-darts", "drnas", "random-ws", "bonsai-net"):
        cells = (comparisons[dataset, model] for dataset in datasets)
        assert (
            f"| `{model}` | {' | '.join(f'{spread(cell.accuracies)} ({cell.beaten})' for cell in cells)} |" in FINDING
        )
    for model, title in (("darts", "DARTS"), ("bonsai-net", "Bonsai")):
        cells = (comparisons[dataset, model] for dataset in datasets)
        assert f"| 5 random, {title} | {' | '.join(spread(cell.by_chance) for cell in cells)} |" in FINDING
    text = re.sub(r"\s+", " ", FINDING)
    (line,) = summary_lines(list(comparisons.values()))
    assert line.startswith(
        "Of 28 found architectures 22 are above the mean of the random ones, and 8 above all of them"
    )
    assert "Of the 28 found architectures 22 are above the mean of the random ones, and 8 above all five" in text
    above = {model for _, model in comparisons} - {
        result.model for result in comparisons.values() if (result.difference or 0) <= 0
    }
    assert above == {"darts", "pc-darts"}


def test_nas_on_unseen_data_has_the_long_trainings_on_chesseract() -> None:
    """They differ from the short ones in their epochs and their precision alone."""
    short, long = (
        read_results([embedded_home() / "results" / f"unseen-nas{part}.jsonl"]) for part in ("", "-chesseract")
    )
    paper = published()
    assert [result.model for result in long] == ["pc-darts", "drnas", "bonsai-net", "rs-darts"]
    for result in long:
        same = [
            other
            for other in short
            if (other.dataset, other.model, other.search_seed) == (result.dataset, result.model, result.search_seed)
        ]
        search = (result.parameters, result.search_time_s, result.dataset_hash)
        assert {(other.parameters, other.search_time_s, other.dataset_hash) for other in same} == {search}
        assert {name for name in result.recipe if result.recipe[name] != same[0].recipe[name]} == {"precision"}
        assert result.epochs == 64 and result.dataset == "chesseract"
        before = spread([other.test_accuracy or 0.0 for other in same])
        accuracy = paper.accuracy(result.dataset, result.model)
        assert f"| `{result.model}` | {before} | {result.test_accuracy:.2f} | {accuracy:.2f} |" in FINDING
        assert abs((result.test_accuracy or 0.0) - (accuracy or 0.0)) < (2.1 if result.model == "rs-darts" else 2)


def test_nas_on_unseen_data_has_the_searches_of_the_preset() -> None:
    """They are the preset's own but for what it has for CIFAR alone; their records have the architectures trained."""
    results = read_results([embedded_home() / "results" / "unseen-nas-presets.jsonl"])
    choice = PresetChoice("paper", recipe=load_recipe("unseen"), channels=16, cells=8)
    measured = {(result.dataset, result.model): result.test_accuracy or 0.0 for result in results}
    paper = {key: published().accuracy(*key) or 0.0 for key in measured}
    for result in results:
        configuration = choice.configuration(result.model, result.dataset, 64)
        assert (result.search, result.preset) == (configuration.budget.search(result.model), configuration.description)
        assert result.epochs == 64 and f"{result.train_loss:.3f}" <= "0.002"
    datasets, minutes = ("chesseract", "language", "addnist"), []
    for model in ("pc-darts", "rs-darts"):
        cells = [f"{measured[dataset, model]:.2f} | {paper[dataset, model]:.2f}" for dataset in datasets]
        assert f"| `{model}` | {' | '.join(cells)} |" in FINDING
    assert max(abs(measured[key] - paper[key]) for key in measured if key[0] != "addnist") < 1.4
    below = [f"{paper['addnist', model] - measured['addnist', model]:.1f}" for model in ("pc-darts", "rs-darts")]
    assert f"On AddNIST they are {' and '.join(below)} below" in FINDING
    leads, leads_of_paper = (
        listed([f"{table[dataset, 'rs-darts'] - table[dataset, 'pc-darts']:.2f}" for dataset in datasets])
        for table in (measured, paper)
    )
    assert f"by {leads} points here, by {leads_of_paper} there" in FINDING
    for searched in (result for result in results if result.model == "pc-darts"):
        assert [searched.search[name] for name in ("epochs", "batch", "channels")] == [50, 256, 16]
        record = read_record(DOCS.parent / "campaigns" / "presets" / f"{searched.dataset}-pc-darts-0" / "search.json")
        assert Architecture.from_json(searched.architecture) == record.searched.architecture
        assert (record.dataset_hash, len(record.searched.epochs)) == (searched.dataset_hash, 50)
        minutes.append(f"{record.searched.search_time_s / 60:.0f}")
    assert f"The searches took {listed(minutes)} minutes" in FINDING


def test_nas_on_unseen_data_has_the_search_that_waits_for_its_training() -> None:
    (path,) = (DOCS.parent / "campaigns" / "unseen-remaining").glob("searches/*/search.json")
    record = read_record(path)
    choice = PresetChoice("paper", recipe=load_recipe("unseen"), channels=16, cells=8)
    assert {name: record.settings.plain()[name] for name in ("epochs", "batch", "channels", "cells")} == {
        name: choice.configuration("gdas", "chesseract", 64).budget.search("gdas")[name]
        for name in ("epochs", "batch", "channels", "cells")
    }
    epochs = record.searched.epochs
    assert f"{len(epochs)} epochs in {record.searched.search_time_s / 3600:.1f} hours of one CPU core" in FINDING
    accuracies = [epoch.validation_accuracy or 0.0 for epoch in epochs]
    assert max(accuracies[100:139]) < 40 and min(accuracies[139:]) > 50, "a guess has 33.3"


def listed(texts: list[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def test_nas_on_unseen_data_has_three_more_datasets() -> None:
    """Searched and trained as on the other datasets, in another precision and once each."""
    first = {result.model: result for result in read_results([embedded_home() / "results" / "unseen-nas.jsonl"])}
    models = ("pc-darts", "drnas", "rs-darts", "bonsai-net", "rs-bonsai")
    accuracies: dict[tuple[str, str], list[float]] = {}
    datasets = ("gutenberg", "multnist", "cifartile")
    for dataset in datasets:
        results = read_results([embedded_home() / "results" / f"unseen-nas-{dataset}.jsonl"])
        assert {(result.status, result.dataset, result.epochs) for result in results} == {("ok", dataset, 8)}
        for result in results:
            other = first[result.model]
            assert result.search == other.search and list(result.validated) == [str(epoch) for epoch in range(1, 9)]
            assert {name for name in result.recipe if result.recipe[name] != other.recipe[name]} == {"precision"}
            accuracies.setdefault((dataset, result.model), []).append(result.test_accuracy or 0.0)
    for model in models:
        cells = [
            f"{spread(accuracies[dataset, model])} | {published().accuracy(dataset, model):.2f}" for dataset in datasets
        ]
        assert f"| `{model}` | {' | '.join(cells)} |" in FINDING
    mean = {key: sum(values) / len(values) for key, values in accuracies.items()}
    assert {key for key in mean if mean[key] > (published().accuracy(*key) or 0.0)} == {
        ("gutenberg", "rs-bonsai"),
        ("multnist", "rs-bonsai"),
        ("cifartile", "rs-bonsai"),
    }
    assert (
        max(mean["gutenberg", model] for model in models)
        == mean["gutenberg", "rs-darts"]
        < 2.4 + min(mean["gutenberg", model] for model in models)
    )
    leads = [
        mean["multnist", model] - mean["multnist", random]
        for model, random in (("pc-darts", "rs-darts"), ("drnas", "rs-darts"), ("bonsai-net", "rs-bonsai"))
    ]
    shipped = [result for path in (embedded_home() / "results").glob("*.jsonl") for result in read_results([path])]
    tiles = {result.model: result for result in shipped if result.dataset == "cifartile" and result.search}
    for tile in tiles.values():
        twin = next(result for result in shipped if (result.dataset, result.model) == ("multnist", tile.model))
        assert (tile.search, tile.recipe) == (twin.search, twin.recipe)
        assert (tile.architecture == twin.architecture) == tile.model.startswith("rs-")
    losses = [tile.train_loss or 0.0 for tile in tiles.values()]
    assert f"Losses end at {min(losses):.2f} to {max(losses):.2f} nats, where a guess has {log(4):.2f}" in FINDING
    cnns = {result.model: result for result in shipped if result.dataset == "cifartile" and not result.search}
    of_darts = [tile.test_accuracy or 0.0 for model, tile in tiles.items() if "bonsai" not in model]
    assert f"ResNet-18's {cnns['resnet18'].test_accuracy:.2f} after 64 epochs" in FINDING
    assert min(of_darts) > (cnns["resnet18"].test_accuracy or 0.0)
    best_cnn = max(published().accuracy("cifartile", model) or 0.0 for model in cnns if "-" not in model)
    above = [(published().accuracy("cifartile", model) or 0.0) - best_cnn for model in tiles if model != "rs-bonsai"]
    assert f"{min(above):.0f} to {max(above):.0f} points above its best CNN, DenseNet with {best_cnn}" in FINDING
    seconds = [tile.search_time_s for tile in tiles.values() if tile.search_time_s]
    assert (len(seconds), round(min(seconds) / 60), round(max(seconds) / 60)) == (3, 1, 3)
    for dataset, is_better in {"addnist": True, "language": True, "chesseract": False}.items():
        values = [
            result.test_accuracy or 0.0
            for result in shipped
            if (result.dataset, result.model) == (dataset, "rs-bonsai")
        ]
        assert len(values) == 5
        assert (sum(values) / 5 > (published().accuracy(dataset, "rs-bonsai") or 0.0)) == is_better
    assert f"by {min(leads):.2f} to {max(leads):.2f} points. One of each says little." in FINDING
