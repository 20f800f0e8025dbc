"""The time that datasets share, and the accuracy that scores 0."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.challenge.contest_data import arrays_sha256, open_contest_data
from nasbed.challenge.leaderboard import leaderboard, rescore
from nasbed.challenge.pinned_baseline import PinnedBaseline, baseline_of, shipped_baselines, write_baseline
from nasbed.challenge.zero import zero_of
from nasbed.cli.challenge.baseline import baseline as baseline_command
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.datasets.opening import open_dataset
from nasbed.datasets.unseen import UNSEEN
from nasbed.datasets.unseen.digests import pinned_digests
from nasbed.experiments.unseen.results import UnseenResult, append_result, read_results
from nasbed.training import load_recipe
from support.commands import run_command
from support.documentation import page_text
from support.submissions import BENCHMARK, run_on, write_dataset, write_submission


@pytest.mark.sandbox
def test_total_time_is_shared_by_datasets_and_survives_interruptions(tmp_path: Path) -> None:
    datasets = [write_dataset(tmp_path / name) for name in ("one", "two", "three")]
    entry = write_submission(
        tmp_path / "entry", processor_init="print('CLOCK', clock.check(), metadata['time_remaining'])"
    )
    runs, started = tmp_path / "runs", list[str]()
    (first,) = run_on(entry, datasets[:1], runs, total_time_s=1000.0)
    assert (first.time_s, first.total_time_s) == (60, 1000)  # the limit of one dataset
    record = runs / "entry" / "one" / "result.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"seconds": 960.0}))
    (second,) = run_on(entry, datasets[1:2], runs, total_time_s=1000.0)
    assert second.time_s == 40 and second.ended == "finished"  # what 960 s leave of 1000
    log = (runs / "entry" / "two" / "log.txt").read_text().split()
    assert log[0] == "CLOCK" and all(0 < float(word) < 40 for word in log[1:3])
    record.write_text(json.dumps(json.loads(record.read_text()) | {"seconds": 999.5}))
    results = run_on(entry, datasets, runs, total_time_s=1000.0, on_start=started.append)
    assert started == [] and [result.dataset for result in results] == ["one", "two", "three"]
    assert (results[2].ended, results[2].score, results[2].seconds) == ("time", -10, 0)
    assert results[2].reason == "no time was left of 1000 s for all datasets"
    with pytest.raises(InvalidOption, match="other total time"):
        run_on(entry, datasets, runs, total_time_s=2000.0)


@pytest.mark.sandbox
def test_total_time_that_a_dataset_uses_up_is_gone_for_the_next(tmp_path: Path) -> None:
    datasets = [write_dataset(tmp_path / name) for name in ("one", "two")]
    entry = write_submission(tmp_path / "entry", train="import time; time.sleep(1000)")
    first, second = run_on(entry, datasets, tmp_path / "runs", total_time_s=1.2)
    assert first.reason.startswith("more than 1.2 s") and "what was left of 1.2 s for all datasets" in first.reason
    assert (second.ended, second.score) == ("time", -10) and second.reason.startswith("no time was left")


def test_shipped_zeros_are_those_of_the_page_on_the_pinned_bytes() -> None:
    """The table of docs/findings/cnn-baselines.md, which docs/how-to/challenge.md repeats; the tables of NAS-Bench-Unseen
    note the hash of the data they were trained on."""
    tabular = {"addnist": 93.48, "language": 87.15, "multnist": 93.32, "gutenberg": 38.53, "chesseract": 53.46}
    accuracies = tabular | {"cifartile": 42.51}
    page = page_text("challenge")
    assert len(shipped_baselines()) == len(accuracies)
    for name, accuracy in accuracies.items():
        digests = pinned_digests(name)
        baseline = shipped_baselines()[arrays_sha256(digests.arrays)]
        assert baseline.accuracy == pytest.approx(accuracy, abs=5e-3)
        assert (baseline.network, baseline.epochs, baseline.seeds) == ("resnet18", 64, (0,))
        assert f"{UNSEEN.get(name)().title} ({accuracy:.2f})" in page
        if name not in tabular:
            continue
        table = nasbed.load(f"nb201-{name}-v1.0")
        assert isinstance(table, TabularBenchmark) and baseline.dataset_hash in table.results.about.notes
    missing = " and ".join(UNSEEN.get(name)().title for name in UNSEEN.names() if name not in accuracies)
    assert f"only {missing} need one" in " ".join((baseline_command.__doc__ or "").split())


def pinned(folder: Path, **changed: Any) -> PinnedBaseline:
    data = open_contest_data(folder)
    facts = {"data_sha256": data.sha256, "dataset_hash": "h", "network": "resnet18", "epochs": 64, "seeds": (0, 1)}
    more = {"accuracies": (30.0, 50.0), "recipe": {"name": "unseen"}, "device": "cpu", "versions": {}}
    return PinnedBaseline(**{**facts, **more, **changed})


def test_zero_is_of_the_same_bytes_or_of_the_metadata_by_name(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "data")
    data = open_contest_data(folder)
    with pytest.raises(
        InvalidOption, match="measured on the same bytes, data has none; run: nasbed challenge baseline"
    ):
        zero_of(data, "measured")
    assert (zero_of(data, "paper").accuracy, zero_of(data, "paper").kind) == (BENCHMARK, "paper")
    write_baseline(folder, pinned(folder))
    zero = zero_of(data, "measured")
    assert (zero.accuracy, zero.kind) == (40, "measured")  # the mean of 30 and 50
    assert zero.source == "resnet18, recipe unseen, 64 epochs, seeds 0, 1"
    with pytest.raises(InvalidOption, match="remove it to pin another"):
        write_baseline(folder, pinned(folder))
    for name in ("valid_x", "test_x"):  # a reduced or changed dataset loses its zero
        np.save(folder / f"{name}.npy", np.load(folder / f"{name}.npy") + 1)
        with pytest.raises(BadFile, match="measured on other bytes"):
            zero_of(open_contest_data(folder), "measured")
    for text in ("{}", "no", json.dumps({"accuracies": [50], "seeds": [0]})):
        (folder / "baseline.json").write_text(text)
        with pytest.raises(BadFile, match="not a baseline"):
            zero_of(data, "measured")
    (folder / "baseline.json").unlink()
    write_baseline(folder, pinned(folder, accuracies=(100.0, 100.0)))
    with pytest.raises(InvalidOption, match="below 100 %"):
        zero_of(open_contest_data(folder), "measured")
    with pytest.raises(InvalidOption, match="measured or paper"):
        zero_of(data, "guess")


@pytest.mark.sandbox
def test_zeros_of_two_kinds_are_not_ranked_together_in_silence(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "data")
    old = run_on(write_submission(tmp_path / "old"), [folder], tmp_path / "runs")  # 25 % right
    write_baseline(folder, pinned(folder, accuracies=(10.0, 20.0)))
    new = [replace(result, submission="new") for result in rescore(old, [open_contest_data(folder)], "measured")]
    assert [old[0].score, new[0].score] == pytest.approx([5 * 10 / 80, 10 * 10 / 85])
    assert (old[0].zero, new[0].zero, new[0].benchmark) == ("paper", "measured", 15)
    with pytest.raises(InvalidOption, match="have one zero, the runs of data have several"):
        leaderboard([*old, *new])
    elsewhere = [replace(old[0], submission="new", dataset="other")]
    notes = " ".join(leaderboard([*new, *elsewhere]).notes)
    assert "two kinds of zero, measured: data; paper: other" in notes and "not measured on these bytes" in notes
    np.save(folder / "train_y.npy", np.load(folder / "train_y.npy")[::-1])
    with pytest.raises(InvalidOption, match="no folder has the bytes of data"):
        rescore(old, [open_contest_data(folder)], "paper")


def test_baseline_is_taken_from_results_on_these_bytes_only(tmp_path: Path) -> None:
    folder, results = write_dataset(tmp_path / "data"), tmp_path / "results.jsonl"
    recipe = load_recipe("unseen").settings()
    right = UnseenResult(
        "data", "resnet18", 64, 0, "ok", 40.0, dataset_hash=open_dataset(str(folder)).hash, recipe=recipe
    )
    for result in (
        replace(right, dataset_hash="other", test_accuracy=1.0),
        replace(right, model="vgg16", test_accuracy=2.0),
        replace(right, epochs=32, test_accuracy=3.0),
        replace(right, recipe={**recipe, "batch": 32}, test_accuracy=4.0),
        replace(right, status="diverged", test_accuracy=None),
    ):
        append_result(results, result)
    command = ("challenge", "baseline", folder, "--from", results)
    process = run_command(*command)
    assert process.returncode == 2 and "has the bytes of data" in process.stderr
    for result in (right, replace(right, test_accuracy=90.0), replace(right, seed=1, test_accuracy=42.0)):
        append_result(results, result)
    process = run_command(*command)
    assert process.returncode == 0, process.stderr
    assert "score 0 is 41.00 %, resnet18, recipe unseen, 64 epochs, seeds 0, 1" in process.stdout
    baseline = baseline_of(open_contest_data(folder))
    assert baseline is not None and baseline.accuracies == (40, 42)


@pytest.mark.thorough
def test_baseline_is_measured_and_pinned(tmp_path: Path) -> None:
    """A training is the one of 'nasbed data baseline', to the last digit."""
    pytest.importorskip("torch")
    folder, results = write_dataset(tmp_path / "data", images=200), tmp_path / "results.jsonl"
    process = run_command("challenge", "baseline", folder, "--epochs", "1", "--device", "cpu", "--seeds", "2")
    assert process.returncode == 0, process.stderr
    for seed in range(2):
        run_command("data", "baseline", folder, "--epochs", 1, "--device", "cpu", "--seed", seed, "--out", results)
    baseline = baseline_of(open_contest_data(folder))
    assert baseline is not None and baseline.epochs == 1
    assert list(baseline.accuracies) == [result.test_accuracy for result in read_results([results])]
