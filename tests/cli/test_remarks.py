"""What a comparison says of its methods so that readers do not misread it: in the terminal, on the page, in the file."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nasbed import Metric, space
from nasbed.cli import app
from nasbed.experiments.runs import load_run, load_runs
from nasbed.results import Rows, TableInfo, write_results
from support.tables import additive, nb201_table

pytestmark = pytest.mark.usefixtures("without_charts")

OWN = """
from nasbed.optimizers.random_search import RandomSearch


class Says(RandomSearch):
    name = "says"

    @property
    def start_size(self):
        return 25

    def remarks(self):
        return ["It was written on a Friday."]


class Silent(RandomSearch):
    name, start_size = "silent", None
"""


@pytest.fixture(scope="module")
def two_fidelities(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(nb201_table(tmp_path_factory.mktemp("remarks") / "table").results.folder)


@pytest.fixture(scope="module")
def one_fidelity(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All nb201 cells at one fidelity; the times of those without a 3×3 convolution are missing."""
    folder = tmp_path_factory.mktemp("remarks") / "table"
    codes = space("nb201").codes(list(space("nb201").enumerate()))
    time_s = np.where((codes == 3).any(axis=1), 1.0, np.nan)
    accuracy = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    rows = Rows.of(codes, {accuracy.key: additive(codes)}, fidelity=200, seed=0, train_time_s=time_s)
    write_results(folder, TableInfo("made-up", "nb201", (accuracy,)), [rows])
    return str(folder)


def remarks(table: str, methods: str, budget: str, out: Path, *options: str) -> dict[tuple[str, str], str]:
    """The remarks on methods by method and kind; the terminal and the page have them too."""
    words = ["run", table, "--optimizers", methods, "--budget", budget, "--out", str(out), "--seeds", "2"]
    result = CliRunner().invoke(app, [*words, "--engine", "serial", *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    page = unescape((out / "report.html").read_text())
    entries = json.loads((out / "numbers.json").read_text())["remarks"]
    for entry in entries:
        mark = "* " if entry["method"] else ""
        assert f"{mark}{entry['text']}\n" in result.stdout and f'<p class="note">{mark}{entry["text"]}</p>' in page
        assert not mark or f"\n{entry['method']} * " in f"\n{result.stdout}"
    return {(entry["method"], entry["kind"]): entry["text"] for entry in entries if entry["method"]}


def test_methods_that_never_left_their_random_start_are_named(one_fidelity: str, tmp_path: Path) -> None:
    texts = remarks(one_fidelity, "rs,re,bananas,ls,tpe", "100ev", tmp_path)
    assert set(texts) == {("re", "start"), ("bananas", "start")}
    for method in ("re", "bananas"):
        assert texts[method, "start"] == (
            f"{method} never left its start: it takes 100 evaluations and a run has 100. What is ranked here is random "
            "search."
        )


def test_start_that_takes_most_of_a_run_is_named_and_a_short_one_is_not(one_fidelity: str, tmp_path: Path) -> None:
    texts = remarks(one_fidelity, "re,nre", "40ev", tmp_path, "--set", "re.population_size=30", "--set",
                   "nre.population_size=10")  # fmt: skip
    assert texts == {("re", "start"): "re is mostly random search: 75 % of its evaluations are its start of 30."}


def test_warm_start_that_takes_the_whole_run_is_not_called_random(one_fidelity: str, tmp_path: Path) -> None:
    texts = remarks(one_fidelity, "re", "12ev", tmp_path, "--warm-start", "params:50")
    assert "What is ranked here is random search." in texts["re", "start"]
    assert "it takes 100 evaluations" in texts["re+params", "start"]
    assert texts["re+params", "start"].endswith("What is ranked here is what its proxy chose.")


def test_methods_with_several_fidelities_say_what_they_are_on_one(one_fidelity: str, tmp_path: Path) -> None:
    texts = remarks(one_fidelity, "rs,hb,bohb,asha,dehb", "14ev", tmp_path)
    assert texts["hb", "method"].endswith("nothing to stop early: it is random search.")
    assert texts["bohb", "method"].endswith("its kernel densities alone decide.")
    assert texts["asha", "method"].endswith("nothing to stop early: it is random search.")
    assert texts["dehb", "method"].endswith("use de, whose population is larger.")
    assert texts["bohb", "start"].startswith("bohb never left its start")
    assert "rs" not in {method for method, _ in texts}


def test_budget_of_evaluations_that_mixes_fidelities_is_named(two_fidelities: str, tmp_path: Path) -> None:
    texts = remarks(two_fidelities, "rs,hb", "30ev", tmp_path / "evaluations")
    low = np.mean([run.fidelity < 200 for run in load_runs(tmp_path / "evaluations").of("hb")])
    assert set(texts) == {("hb", "fidelities")} and 0 < low < 1
    assert texts["hb", "fidelities"].startswith(f"Of the evaluations of hb, {100 * low:.0f} % are below the highest")
    assert remarks(two_fidelities, "rs,hb", "2000s", tmp_path / "seconds") == {}


def test_budget_in_seconds_says_which_evaluations_were_free(one_fidelity: str, tmp_path: Path) -> None:
    texts = remarks(one_fidelity, "rs", "30s", tmp_path / "seconds")
    runs = load_runs(tmp_path / "seconds").runs
    free = np.mean(np.concatenate([(run.codes != 3).all(axis=1) for run in runs]))
    assert texts["rs", "time"].startswith(f"Of the evaluations of rs, {100 * free:.0f} % have no time")
    assert remarks(one_fidelity, "rs", "30ev", tmp_path / "evaluations") == {}


def test_method_of_ones_own_has_its_say(one_fidelity: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    methods = ",".join(f"{tmp_path / 'own.py'}:{name}" for name in ("Says", "Silent"))
    texts = remarks(one_fidelity, methods, "20ev", tmp_path / "out")
    assert texts == {
        ("says", "method"): "says: It was written on a Friday.",
        ("says", "start"): "says never left its start: it takes 25 evaluations and a run has 20. What is ranked here "
        "is random search.",
    }


def test_run_files_of_before_remarks_are_read(one_fidelity: str, tmp_path: Path) -> None:
    remarks(one_fidelity, "hb", "5ev", tmp_path)
    for path in sorted((tmp_path / "runs").glob("*.npz")):
        with np.load(path) as data:
            columns = {key: data[key] for key in data}
        facts = json.loads(str(columns.pop("facts")))
        assert facts.pop("remarks") and facts.pop("random_start") == 1
        np.savez_compressed(path, facts=np.array(json.dumps(facts)), **columns)
        assert load_run(path).remarks == () and load_run(path).random_start is None
    assert CliRunner().invoke(app, ["report", str(tmp_path)]).exit_code == 0
