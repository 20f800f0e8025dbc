"""``data baseline`` and ``study unseen`` as a user meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("torch", reason="needs torch")

import torch

from nasbed.cli.data.baseline import baseline
from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.datasets import prepare
from nasbed.datasets.opening import open_dataset
from nasbed.networks.baselines import BASELINES
from nasbed.studies.unseen.command import unseen
from nasbed.terminal.interruption import checkpoint_kept, checkpoints_kept
from nasbed.terminal.progress import TrainingsBar, bars
from support.commands import run_command

APP = typer.Typer()
APP.command()(baseline)
APP.command()(unseen)


def tiny(*, classes: int, channels_in: int) -> Any:
    return torch.nn.Sequential(
        torch.nn.Conv2d(channels_in, 4, 3),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(4, classes),
    )


@pytest.fixture(autouse=True)
def _tiny_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BASELINES._entries, "tiny", tiny)


def competition_folder(path: Path, *, shape: tuple[int, int, int], classes: int, batches: int = 1) -> Path:
    """A folder as the competition has them, with random images that train for so many batches an epoch."""
    rng = np.random.default_rng(0)
    path.mkdir()
    for part, count in (("train", 64 * batches), ("valid", 20), ("test", 20)):
        np.save(path / f"{part}_x.npy", rng.integers(0, 256, (count, *shape)).astype(np.float32))
        np.save(path / f"{part}_y.npy", rng.integers(0, classes, count))
    settings = {"num_classes": classes, "input_shape": [64 * batches + 40, *shape], "codename": "x"}
    (path / "metadata").write_text(json.dumps(settings))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset with the shape and name of AddNIST and few images."""
    return competition_folder(tmp_path / "AddNIST", shape=(3, 28, 28), classes=20)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    """Two datasets of one size, which differ in channels, classes and length; the first trains longer."""
    return (
        str(competition_folder(tmp_path / "First", shape=(3, 12, 12), classes=5, batches=2)),
        str(competition_folder(tmp_path / "Second", shape=(1, 12, 12), classes=3)),
    )


def run(*arguments: str) -> str:
    outcome = CliRunner().invoke(APP, arguments, catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def test_baseline_on_a_folder_is_shown_beside_the_paper_and_added_to_a_file(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    shared = ("baseline", str(folder), "--device", "cpu", "--out", str(out))
    printed = run(*shared, "--network", "resnet18", "--epochs", "1")
    assert "64 images trained on, 20 validate, 20 test" in printed
    assert "92.08 % after 64 epochs (table 1)" in printed and "points" in printed
    first = out.read_text()
    result = json.loads(run(*shared, "--network", "tiny", "--epochs", "2", "--seed", "1", "--json"))
    assert out.read_text().startswith(first) and len(out.read_text().splitlines()) == 2
    assert result["published"] is None and list(result["validated"]) == ["1", "2"] and result["images"] == [64, 20, 20]
    assert result["versions"]["torch"] == torch.__version__ and result["recipe"]["name"] == "unseen"
    page = run("unseen", str(out), "--out", str(tmp_path / "page"), "--format", "svg")
    accuracy = json.loads(first)["test_accuracy"]
    assert "1 are your own" in page and "93.48" not in page  # that of AddNIST is replaced
    assert f"{accuracy:.2f} [1×1]*" in page and "Table 3" in page and "64 + 20 + 20 images" in page
    assert (tmp_path / "page" / "report.html").is_file()


def test_folder_has_the_hash_and_moments_that_it_has_when_prepared(folder: Path) -> None:
    direct, prepared = open_dataset(str(folder)), prepare("addnist-folder", folder)
    assert (direct.hash, direct.mean, direct.std, direct.published) == (
        prepared.hash,
        prepared.mean,
        prepared.std,
        prepared.published,
    )
    assert direct.name == "addnist" and np.array_equal(direct.train.images, prepared.train.images)


def test_baseline_resumes_from_its_checkpoint(tmp_path: Path) -> None:
    shared = ("baseline", "digits", "--network", "tiny", "--epochs", "2", "--device", "cpu", "--checkpoint", str(tmp_path / "c"))  # fmt: skip
    first = json.loads(run(*shared, "--json"))
    repeated = json.loads(run(*shared, "--resume", "--json"))
    assert repeated == first and list(repeated["validated"]) == ["1", "2"]
    with pytest.raises(InvalidOption, match="resume from it with --resume"):
        run(*shared)


def test_datasets_together_give_what_each_gives_alone_and_are_written_as_they_end(
    folders: tuple[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "results.jsonl"
    shared = ("--epochs", "1", "--device", "cpu", "--json")
    together = json.loads(run("baseline", *folders, "--together", "--out", str(out), *shared))
    alone = [json.loads(run("baseline", folder, "--together", *shared)) for folder in folders]
    for own, expected in zip(together, alone, strict=True):
        assert own["train_loss"] == pytest.approx(expected["train_loss"], rel=1e-4)
        different = {name for name in own if own[name] != expected[name]}
        assert different <= {"train_loss", "train_time_s"}, different
    assert [result["dataset"] for result in together] == ["first", "second"]
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["dataset"] for line in lines] == ["second", "first"]  # that with fewer batches ends first
    assert [line["test_accuracy"] for line in lines] == [result["test_accuracy"] for result in reversed(together)]


def test_datasets_in_turn_are_the_trainings_of_each(folders: tuple[str, str]) -> None:
    shared = ("--network", "tiny", "--epochs", "1", "--device", "cpu")
    results = json.loads(run("baseline", *folders, *shared, "--json"))
    assert [result["dataset"] for result in results] == ["first", "second"]
    for result, folder in zip(results, folders, strict=True):
        expected = json.loads(run("baseline", folder, *shared, "--json"))
        assert result | {"train_time_s": 0} == expected | {"train_time_s": 0}
    for options in ((), ("--together",)):
        blocks = run("baseline", *folders, *shared, *options).split("\n\n")
        printed = [re.search(r"^dataset +(\w+): ", block, re.MULTILINE) for block in blocks]
        assert {match[1] for match in printed if match is not None} == {"first", "second"} and len(blocks) == 2


@pytest.mark.parametrize("options", [(), ("--together",)], ids=["in turn", "together"])
def test_several_datasets_resume_from_a_folder_of_checkpoints(
    options: tuple[str, ...], folders: tuple[str, str], tmp_path: Path
) -> None:
    """The second has its checkpoint already, and its result; it is neither trained nor written again."""
    kept, out = tmp_path / "kept" / "here", tmp_path / "results.jsonl"
    shared = ("--network", "tiny", "--epochs", "2", "--device", "cpu", "--out", str(out), "--json")
    second = json.loads(run("baseline", folders[1], *shared, "--checkpoint", str(kept / "second.pt")))
    resumed = ("baseline", *folders, *shared, *options, "--checkpoint", str(kept))
    with pytest.raises(InvalidOption, match=r"second\.pt exists already; resume from it with --resume"):
        run(*resumed)
    results = json.loads(run(*resumed, "--resume"))
    assert sorted(path.name for path in kept.iterdir()) == ["first.pt", "second.pt"]
    assert [list(result["validated"]) for result in results] == [["1", "2"]] * 2
    assert results[1]["test_accuracy"] == second["test_accuracy"]
    assert [json.loads(line)["dataset"] for line in out.read_text().splitlines()] == ["second", "first"]
    assert json.loads(run(*resumed, "--resume")) == results
    assert len(out.read_text().splitlines()) == 2


def test_bar_counts_the_epochs_of_all_trainings() -> None:
    with bars() as shown:
        bar = TrainingsBar(shown, ["first", "second"], 4)
        bar.report(1, 3, "loss 0.5")
        bar.report(0, 1, "loss 0.7")
        assert (shown.tasks[0].completed, shown.tasks[0].total) == (4, 8)
        assert shown.tasks[0].description == "first  loss 0.7"
        with bar.finish(1):
            assert shown.tasks[0].completed == 5


def test_interrupted_trainings_say_which_checkpoints_are_kept(tmp_path: Path) -> None:
    file, other = tmp_path / "first.pt", tmp_path / "second.pt"
    assert checkpoints_kept([None]) == checkpoint_kept(None) and checkpoints_kept([file]) == checkpoint_kept(file)
    assert checkpoints_kept([None, None]).endswith("with --checkpoint DIR they can be resumed")
    assert f"nothing was written to {tmp_path};" in checkpoints_kept([file, other])
    file.touch()
    assert f"epochs of 1 of 2 trainings are kept in {tmp_path}; resume with" in checkpoints_kept([file, other])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("AddNIST", "First", "--together"), "see images of one size, these see 28 × 28, 12 × 12 pixels; train them"),
        (("First", "Second", "--together", "--precision", "bfloat16"), "computes in bfloat16; train them alone"),
        (("First", "Second", "--together", "--recipe", "nb101"), "the recipe nb101 sets optimizer"),
        (("First", "Second", "First"), "differ in name, first occurs 2 times; name it once"),
        (("First", "Second", "--paper", "addnist"), "--paper names one dataset, got 2 datasets; train them one by one"),
        (("First", "Second", "--resume"), "name their folder with --checkpoint DIR"),
        (("First", "Second", "--checkpoint", "AddNIST/metadata"), "AddNIST/metadata is a file; name another"),
        (("First", "--checkpoint", "AddNIST"), "is a file, AddNIST is a folder; name a file in it"),
    ],
)
def test_errors_about_several_datasets_are_one_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, folder: Path, folders: tuple[str, str], tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    shared = ("--device", "cpu", "--out", "results.jsonl")
    kept = () if "--checkpoint" in arguments or "--resume" in arguments else ("--checkpoint", "kept")
    refused = run_command("data", "baseline", *arguments, *shared, *kept, cwd=tmp_path)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1) and message in refused.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("baseline", "digits", "--network", "resnet-18"), "did you mean resnet18"),
        (("baseline", "digits", "--epochs", "3"), "budgets 1, 2, 4, 8, 16, 32, 64 epochs, got 3"),
        (("baseline", "digits", "--resume"), "--checkpoint FILE"),
        (("baseline", "digits", "--paper", "addnst"), "did you mean addnist"),
        (("baseline", "digits", "--out", __file__), "a result is an object of JSON"),
        (("baseline", "nowhere/at-all"), "a dataset's name is a word"),
        (("unseen", "nothing.jsonl"), "cannot be read"),
        (("unseen", "--out", __file__), "is a file"),
    ],
)
def test_user_errors_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(NasbedError, match=message) as caught:
        run(*arguments)
    assert "\n" not in str(caught.value)


def test_study_without_arguments_shows_what_is_published_and_what_comes_with_the_package() -> None:
    printed = run("unseen")
    count = re.search(r"Measured here: (\d+) of the 96", printed)
    assert count is not None and int(count[1]) >= 20 and " 93.48 " in printed and "Chesseract" in printed
    assert "Measured here: 0 of the 96" in run("unseen", "--only-mine")
    assert json.loads(run("unseen", "--json"))["published"]["best"]["geoclassing"]["competition"] == 96.08
