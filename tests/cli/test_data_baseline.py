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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the competition has them, with the shape and name of AddNIST and few images."""
    rng = np.random.default_rng(0)
    path = tmp_path / "AddNIST"
    path.mkdir()
    for part, count in (("train", 64), ("valid", 20), ("test", 20)):
        np.save(path / f"{part}_x.npy", rng.integers(0, 256, (count, 3, 28, 28)).astype(np.float32))
        np.save(path / f"{part}_y.npy", rng.integers(0, 20, count))
    (path / "metadata").write_text(json.dumps({"num_classes": 20, "input_shape": [104, 3, 28, 28], "codename": "x"}))
    return path


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
    assert repeated["test_accuracy"] == first["test_accuracy"] and repeated["validated"] == {}
    with pytest.raises(InvalidOption, match="resume from it with --resume"):
        run(*shared)


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
