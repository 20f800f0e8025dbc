"""The command ``nasbed study common-recipe``."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch", reason="needs torch")

from nasbed.cli import app
from nasbed.experiments.recipe_grid import JOURNAL
from nasbed.training import load_recipe
from support.commands import run_command
from support.pages import check_page

RECIPE = """
name = "tiny"
epochs = [1]
batch = 64
epoch_images = 192
learning_rate = 0.5
skeleton = { channels = 4, cells_per_stage = 1 }
"""


def test_common_recipe_command_chooses_and_keeps_what_was_trained(tmp_path: Path) -> None:
    recipe, out = tmp_path / "tiny.toml", tmp_path / "recipe"
    recipe.write_text(RECIPE)
    command = ["study", "common-recipe", "--space", "nb201", "--recipe", str(recipe), "--count", "2", "--out", str(out)]
    command += ["--vary", "learning_rate=0.1,1e30", "--processes", "1"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "learning_rate=0.1 (H†)" in result.stdout and "H† is learning_rate=0.1:" in result.stdout
    assert load_recipe(out / "recipe.toml").learning_rate == 0.1, "1e30 diverges at once"
    check_page(out / "report.html")
    journal = out / JOURNAL
    kept = journal.read_bytes()
    assert CliRunner().invoke(app, command).stdout == result.stdout
    assert journal.read_bytes() == kept, "nothing is trained twice"


def test_common_recipe_command_refuses_what_is_no_hyperparameter(tmp_path: Path) -> None:
    process = run_command("study", "common-recipe", "--vary", "epochs=1,2", "--out", str(tmp_path / "recipe"))
    assert process.returncode == 2 and "epochs cannot vary" in process.stderr
    assert not (tmp_path / "recipe").exists()
