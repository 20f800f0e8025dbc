"""Fitting and tuning from the command line: what is printed, what is written, what is refused."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import nasbed
from nasbed import NasbedError
from nasbed.cli import app
from nasbed.core.execution import SerialEngine
from nasbed.core.home import surrogates_folder
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.artefact import Artefact
from support.surrogates import write_evaluations

QUICK = ["--set", "rounds=20", "--set", "learning_rate=0.2", "--set", "lambda_l2=1.0", "--set", "features=onehot"]
SMALL = ["--ensemble", "2", "--processes", "1", *QUICK]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("fit") / "table"
    write_evaluations(folder, count=300)
    return str(folder)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials without processes of their own, which take seconds to start."""
    monkeypatch.setattr("nasbed.core.execution.LocalEngine", lambda processes: SerialEngine())


def call(*words: str | Path) -> Result:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit | NasbedError):
        raise result.exception
    return result


def output_of(*words: str | Path) -> str:
    result = call(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def refusal(*words: str | Path) -> str:
    """The one line of an error that the user made."""
    result = call(*words)
    assert isinstance(result.exception, NasbedError), result.output
    message = str(result.exception)
    assert "\n" not in message
    return message


def fetched(page: Path) -> list[str]:
    """Whatever a page would load from elsewhere."""
    processes: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            processes.extend(value or "" for name, value in attrs if name in ("src", "href"))

    Reader().feed(page.read_text())
    return processes


def test_fit_makes_a_benchmark_that_answers(table: str, tmp_path: Path) -> None:
    out = tmp_path / "made" / "mine.snb"
    text = output_of("fit", table, "--model", "lgb", *SMALL, "--out", out)
    benchmark = nasbed.load(str(out))
    assert benchmark.name == "snb-nb201-cifar10-lgb-v1.0"
    arch = benchmark.space.sample(np.random.default_rng(0))
    assert 0 <= benchmark.query(arch, seed=0)["validation_accuracy"] <= 100
    about = Artefact.load(out).manifest
    for expected in (f"{about.figures['r2']:.4f}", f"{about.figures['runtime_r2']:.4f}", about.name, str(out)):
        assert expected in text
    for name in ("R²", "sparse Kendall", "mean absolute error [%]", "90 % intervals", "time to load"):
        assert name in text
    assert re.search(r"nasbed run \S*mine\.snb", text)
    page = tmp_path / "made" / "mine.html"
    assert fetched(page) == []
    assert page.read_text().count('<div class="chart"') == 5
    assert about.members.settings["rounds"] == 20
    assert refusal("fit", table, *SMALL, "--out", out).startswith(f"{out} exists")


def test_fit_without_a_path_is_found_by_name(table: str) -> None:
    text = output_of("fit", table, *SMALL, "--optimizers", "rs", "--no-runtime", "--version", "2.1")
    name = "snb-nb201-cifar10-lgb-rand-v2.1"
    assert f"nasbed run {name}" in text
    assert "runtime" not in text
    assert nasbed.load(name).name == name
    assert name in output_of("list", "benchmarks", "--json")
    assert (surrogates_folder() / f"{name}.html").is_file()


@pytest.mark.usefixtures("in_process")
def test_fit_tunes_first(table: str, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    output_of("fit", table, *SMALL, "--tune", "2", "--out", out)
    best = json.loads((tmp_path / "tuned-tuning" / "best.json").read_text())
    settings = Artefact.load(out).manifest.members.settings
    assert {name: settings[name] for name in best["settings"]} == best["settings"]
    assert best["settings"]["features"] == "onehot"
    assert (tmp_path / "tuned.html").is_file()


@pytest.mark.usefixtures("in_process")
def test_tune_says_how_to_resume(table: str, tmp_path: Path) -> None:
    out = tmp_path / "trials"
    words: list[str | Path] = [
        "tune",
        table,
        "--model",
        "rf",
        "--set",
        "features=onehot",
        "--set",
        "trees=8",
        "--processes",
        "1",
        "--seed",
        "3",
        "--out",
        out,
    ]
    text = output_of(*words, "--trials", "4")
    best = json.loads((out / "best.json").read_text())
    assert best["trials"] == 4
    assert f"{best['validation']['skt']:.4f}" in text
    assert f"{best['test']['r2']:.4f}" in text
    assert fetched(out / "report.html") == []
    assert (out / "report.html").read_text().count('<div class="chart"') == 1 + 4
    assert "of 5" in output_of(*words, "--trials", "5")
    command = next(line for line in text.splitlines() if "nasbed fit" in line).partition("nasbed ")[2].split()
    fitted = call(*command, "--ensemble", "1", "--processes", "1", "--out", tmp_path / "rf.snb")
    assert fitted.exit_code == 0, fitted.exception
    assert "flatter" not in fitted.output
    best = json.loads((out / "best.json").read_text())
    assert Artefact.load(tmp_path / "rf.snb").manifest.members.settings.items() >= best["settings"].items()


@pytest.mark.usefixtures("in_process")
def test_fit_tells_of_settings_tuned_on_other_rows(table: str, tmp_path: Path) -> None:
    """With another seed the test part is another: the trials have seen some of it."""
    out = tmp_path / "trials"
    output_of("tune", table, "--model", "lgb", *QUICK, "--trials", "1", "--processes", "1", "--out", out)
    words: list[str | Path] = ["fit", table, "--settings", out / "best.json", "--ensemble", "1", "--processes", "1"]
    assert "may have seen the test part" in output_of(*words, "--seed", "1", "--out", tmp_path / "one.snb")
    assert "may have seen" not in output_of(*words, "--out", tmp_path / "other.snb")
    assert "settings of lgb, not of rf" in refusal(*words, "--model", "rf", "--out", tmp_path / "third.snb")


@pytest.mark.usefixtures("in_process")
def test_tune_tells_when_no_trial_had_the_highest_budget(table: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install 'nasbed[torch]'")
    words: list[str | Path] = [
        "tune",
        table,
        "--model",
        "mlp",
        "--set",
        "layers=1",
        "--set",
        "width=16",
        "--set",
        "batch_size=128",
    ]
    text = output_of(*words, "--trials", "3", "--processes", "1", "--out", tmp_path / "trials")
    assert "highest budget, 128 epochs; raise the number of trials" in text
    assert "Best is trial 0 of 3: the defaults" in text


@pytest.mark.parametrize("command", ["fit", "tune"])
def test_commands_refuse_in_one_line(command: str, table: str, tmp_path: Path) -> None:
    out: list[str | Path] = ["--out", tmp_path / "never"]
    assert "did you mean lgb" in refusal(command, table, "--model", "lgbm", *out)
    assert "no setting 'round'; did you mean rounds" in refusal(
        command, table, "--model", "lgb", "--set", "round=3", *out
    )
    assert "KEY=VALUE" in refusal(command, table, "--model", "lgb", "--set", "rounds", *out)
    assert "did you mean validation_accuracy" in refusal(command, table, "--metric", "valid_accuracy", *out)
    assert "did you mean rs" in refusal(command, table, "--optimizers", "rss", *out)
    assert "at least one search method" in refusal(command, table, "--optimizers", ",", *out)
    assert "has the fidelities 12, got 3" in refusal(command, table, "--fidelity", "3", *out)
    assert "no benchmark is called 'nothing'" in refusal(command, "nothing", *out)
    assert list(tmp_path.iterdir()) == []


def test_fit_refuses_what_it_cannot_do(table: str, tmp_path: Path) -> None:
    out: list[str | Path] = ["--out", tmp_path / "never"]
    settings = tmp_path / "settings.json"
    settings.write_text("nonsense")
    assert "cannot be read" in refusal("fit", table, "--settings", settings, *out)
    assert "omit one" in refusal("fit", table, "--settings", settings, "--tune", "3", *out)
    settings.write_text(json.dumps({"depth": 3}))
    assert "no setting 'depth'" in refusal("fit", table, "--settings", settings, *out)
    assert "skt or r2" in refusal("fit", table, "--tune", "2", "--score", "tau", *out)
    output_of("fit", table, *SMALL, "--no-runtime", "--out", tmp_path / "mine.snb")
    assert "is a surrogate" in refusal("fit", tmp_path / "mine.snb", *out)
    assert "trials go into a folder" in refusal("tune", table, "--out", settings)


def test_list_surrogates_names_models_and_defaults() -> None:
    models = {model["name"]: model for model in json.loads(output_of("list", "surrogates", "--json"))}
    assert models.keys() == set(SURROGATES)
    assert models["lgb"]["settings"]["num_leaves"] == 40
    text = output_of("list", "surrogates")
    assert all(model["summary"] in text for model in models.values())
