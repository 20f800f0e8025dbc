"""``nasbed study one-shot`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from nasbed import NasbedError, space
from nasbed.benchmarks import load
from nasbed.oneshot.record import write_record
from nasbed.studies.one_shot.command import one_shot
from nasbed.studies.one_shot.records import embedded_surrogate
from support.oneshot_searches import FALLING, JUMP, RISING, nb201_search, search_record, search_result
from support.tables import nb201_table


def run(*arguments: str) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command("one-shot")(one_shot)
    return CliRunner().invoke(app, list(arguments))


def refusal(*arguments: str) -> str:
    """What the command line would print as its one line."""
    result = run(*arguments)
    assert isinstance(result.exception, NasbedError), result.output
    text = str(result.exception)
    assert "\n" not in text
    return text


@pytest.fixture(scope="module")
def darts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of one method and one of another, in the DARTS space."""
    folder = tmp_path_factory.mktemp("searches")
    for place, (method, seed) in enumerate((("darts", 0), ("darts", 1), ("pc-darts", 0))):
        rng = np.random.default_rng(place)
        archs = [space("darts").sample(rng) for _ in FALLING]
        searched = search_result(archs, FALLING, RISING, JUMP)
        write_record(
            search_record(method, seed, searched, space_name="darts"), folder / f"{method}-{seed}" / "search.json"
        )
    return folder


def test_one_shot_prints_a_table_and_writes_a_page_by_the_embedded_surrogate(darts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(str(darts), "--random", "100", "--no-leave-out", "--out", str(out), "--format", "svg")
    assert result.exit_code == 0, result.exception
    lines = result.output.splitlines()
    assert lines[0].split()[:2] == ["method", "seeds"] and lines[1].split()[:2] == ["darts", "2"]
    assert lines[-1].endswith("report.html") and "random, best of 100" in result.output
    assert "The searches ran on digits" in result.output and "stopped by eigenvalue" in lines[0]
    numbers = json.loads((out / "numbers.json").read_text())
    assert numbers["benchmark"] == embedded_surrogate("darts") and (out / "report.html").is_file()
    rng = np.random.default_rng(2)
    benchmark = load(numbers["benchmark"])
    expected = [benchmark.expected(space("darts").sample(rng)) for _ in FALLING]
    own = numbers["methods"][1]["searches"][0]
    assert own["prediction"] == pytest.approx([observation.values[benchmark.objective] for observation in expected])


def test_one_shot_prints_json_and_watches_other_spaces_by_their_tables(tmp_path: Path) -> None:
    nb201_table(tmp_path / "nb201")
    write_record(search_record("gdas", 4, nb201_search(FALLING, RISING)), tmp_path / "own.json")
    outcome = run(str(tmp_path / "own.json"), "--benchmark", f"{tmp_path / 'nb201'}:mean", "--stop", "skips", "--json")
    assert outcome.exit_code == 0, outcome.exception
    numbers = json.loads(outcome.output)
    (own,) = numbers["methods"][0]["searches"]
    assert own["stops"]["skips"]["after"] == 7 and list(own["stops"]) == ["skips"] and own["goes_wrong"]["epoch"] == 5
    assert numbers["random"]["architectures"] == 1000


def test_one_shot_refuses_bad_input_in_one_line_before_working(darts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_record(search_record("gdas", 0, nb201_search(FALLING)), tmp_path / "nb201.json")
    (tmp_path / "text.json").write_text("{}")
    for arguments, words in (
        ((str(tmp_path / "nb201.json"),), "no surrogate of nb201 comes with the package"),
        ((str(darts), str(tmp_path / "nb201.json")), "gdas with seed 0 is in the space nb201"),
        ((str(darts), "--benchmark", "darts-cifar10-16"), "use a surrogate"),
        ((str(darts), "--benchmark", "no/such"), "no/such does not exist"),
        ((str(darts), "--stop", "eigenvalues"), "no stopping rule is called 'eigenvalues'"),
        ((str(darts), "--format", "gif"), "svg, png, pdf"),
        ((str(tmp_path / "text.json"),), "is not a record of a search"),
        ((str(tmp_path / "missing"),), "check the path"),
    ):
        assert words in refusal(*arguments, "--out", str(out)), words
    assert not out.exists()
