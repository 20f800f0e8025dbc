"""``nasbed train`` and live runs as a user meets them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.cli import main
from support.commands import run_command

pytestmark = pytest.mark.usefixtures("without_charts")

QUICK = """
name = "quick"
epochs = [1, 2]
batch = 32
learning_rate = 0.1
epoch_images = 128

[skeleton]
channels = 4
cells_per_stage = 1
"""


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    path = tmp_path / "quick.toml"
    path.write_text(QUICK)
    return str(path)


def in_this_process(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["nasbed", *arguments])
    with pytest.raises(SystemExit) as error:
        main()
    return int(error.value.code or 0)


def test_train_prints_accuracies_and_resumes(tmp_path: Path, recipe: str) -> None:
    arguments = (
        "train",
        "nb201",
        "--sample-seed",
        "0",
        "--recipe",
        recipe,
        "--device",
        "cpu",
        "--checkpoint",
        str(tmp_path / "c.pt"),
    )

    def run(*options: str) -> CompletedProcess[str]:
        return run_command(*arguments, *options)

    outcome = run()
    assert outcome.returncode == 0 and outcome.stderr == "", outcome.stderr
    for word in (
        "status               ok",
        "validation accuracy",
        "test accuracy",
        "train loss",
        "train time",
        "quick",
    ):
        assert word in outcome.stdout
    assert "by epoch" not in outcome.stdout
    repeated = json.loads(run("--resume", "--json").stdout)
    assert repeated["status"] == "ok" and f"{round(repeated['test_accuracy'], 3)} %" in outcome.stdout


def test_train_prints_the_learning_curve(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], recipe: str
) -> None:
    arguments = ("train", "nb201", "--sample-seed", "0", "--recipe", recipe, "--device", "cpu", "--learning-curve")
    assert in_this_process(monkeypatch, *arguments, "--json") == 0
    curve = json.loads(capsys.readouterr().out)["validation_curve"]
    assert in_this_process(monkeypatch, *arguments) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"by epoch {curve[0]:.2f} {curve[1]:.2f} % validation accuracy" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nb201",), "give one architecture: either its text or --sample-seed"),
        (("nb201", "--sample-seed", "0", "--resume"), "--checkpoint FILE"),
        (("nb201", "--sample-seed", "0", "--recipe", "smal"), "did you mean small"),
        (("nb201", "--sample-seed", "0", "--epochs", "7"), "budgets 1, 3, 9 epochs, got 7"),
        (("nb201", "--sample-seed", "0", "--recipe", "small-darts"), "skeleton of nb201"),
        (("nb201", "--sample-seed", "0", "--device", "gpu"), "a device is auto"),
        (("nb201", "--sample-seed", "0", "--checkpoint", __file__), "resume from it with --resume"),
        (("nb201", "--sample-seed", "0", "--checkpoint", __file__, "--resume"), "not a checkpoint of a training"),
    ],
)
def test_train_user_errors_are_one_line_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert in_this_process(monkeypatch, "train", *arguments) == 2
    printed = capsys.readouterr().err
    assert message in printed and len(printed.strip().splitlines()) == 1


def test_train_says_that_a_training_diverged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "wild.toml"
    path.write_text(QUICK.replace("learning_rate = 0.1", "learning_rate = 1e6"))
    assert in_this_process(monkeypatch, "train", "nb201", "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|", "--recipe", str(path)) == 0  # fmt: skip
    printed = capsys.readouterr().out
    assert "diverged: " in printed and "accuracy" not in printed


def test_list_recipes_prints_files_to_change(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert in_this_process(monkeypatch, "list", "recipes") == 0
    listed = capsys.readouterr().out
    assert "nb101" in listed and "4, 12, 36, 108" in listed and "snb-fbnet" in listed
    assert in_this_process(monkeypatch, "list", "recipes", "snb-darts") == 0
    (tmp_path / "mine.toml").write_text(capsys.readouterr().out)
    assert in_this_process(monkeypatch, "list", "recipes", str(tmp_path / "mine.toml"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["mixup"] == 0.2
    assert in_this_process(monkeypatch, "list", "recipes", "--json") == 0
    assert {recipe["name"] for recipe in json.loads(capsys.readouterr().out)} >= {"nb101", "small"}


def test_run_compares_methods_by_live_training(tmp_path: Path, recipe: str) -> None:
    benchmark = f"live:nb201/digits/{recipe}"
    options = ("--optimizers", "rs,re", "--seeds", "2", "--budget", "2ev", "--engine", "serial")
    outcome = run_command("run", benchmark, *options, "--out", tmp_path / "runs")
    assert outcome.returncode == 0, outcome.stderr
    assert "the best in any of these runs" in outcome.stdout and "mean validation regret" in outcome.stdout
    assert (tmp_path / "runs" / "report.html").is_file()
