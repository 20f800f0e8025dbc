"""Stored runs that somebody changed or another version wrote: refused by name in one line, never a traceback."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from nasbed import Metric, NasbedError, space
from nasbed.cli import app
from nasbed.results import Rows, TableInfo, write_results
from support.examples import examples
from support.pages import check_page
from support.tables import additive

Arrays = dict[str, Any]
FILE = "rs-0.npz"
FIGURES = {
    f"{name}.{form}"
    for name in ("best", "ecdf", "evaluations", "proposals", "ranks", "time", "tradeoff")
    for form in ("svg", "pdf")
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of two methods, and a copy to put back."""
    folder = tmp_path_factory.mktemp("altered")
    codes = space("nb201").codes(list(space("nb201").enumerate()))
    metrics = (
        Metric("accuracy", split="validation", unit="%", bounds=(0, 100)),
        Metric("accuracy", split="test", unit="%", bounds=(0, 100)),
        Metric("parameters", direction="minimize"),
    )
    values = {metric.key: additive(codes) for metric in metrics[:2]} | {"parameters": codes.sum(axis=1) * 1e5}
    rows = Rows.of(codes, values, fidelity=200, seed=0, train_time_s=10.0)
    write_results(folder / "table", TableInfo("made-up", "nb201", metrics), [rows])
    result = CliRunner().invoke(
        app, ["run", str(folder / "table"), "--optimizers", "rs,re", "--seeds", "2", "--budget", "12ev", "--engine",
              "serial", "--figures", "--out", str(folder / "out")], catch_exceptions=False,
    )  # fmt: skip
    assert result.exit_code == 0
    shutil.copytree(folder / "out", folder / "copy")
    return folder


@pytest.fixture
def few_charts(thorough: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports have their charts under --thorough alone, for tests that write many of them."""
    monkeypatch.setattr("nasbed.reports.comparison.page._save_figures", lambda *_: None)
    if not thorough:
        monkeypatch.setattr("nasbed.reports.comparison.page._charts", lambda *_, **__: {})


@pytest.fixture
def out(stored: Path) -> Path:
    return restored(stored)


def restored(stored: Path) -> Path:
    shutil.rmtree(stored / "out")
    return Path(shutil.copytree(stored / "copy", stored / "out"))


def change_run(out: Path, change: Callable[[Arrays, dict[str, Any]], object]) -> None:
    path = out / "runs" / FILE
    with np.load(path) as data:
        arrays = dict(data)
    facts = json.loads(str(arrays.pop("facts")))
    change(arrays, facts)
    np.savez(path, facts=np.array(json.dumps(facts)), **arrays)


def change_setup(out: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = out / "setup.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def refusal(out: Path, *options: str) -> str | None:
    """The one line with which the report ends, or None where there is one."""
    result = CliRunner().invoke(app, ["report", str(out), *options])
    if result.exception is None:
        return None
    if not isinstance(result.exception, NasbedError):
        raise result.exception
    line = str(result.exception)
    assert "\n" not in line and not result.stdout
    return line


def names_the_run(line: str | None) -> bool:
    return line is not None and (FILE in line or "the run of rs with seed 0" in line)


def names_the_setup(line: str | None, out: Path) -> bool:
    return line is not None and any(text in line for text in (str(out), "benchmark", "space", "objective"))


def put(name: str, value: Any) -> Callable[[Arrays, dict[str, Any]], object]:
    return lambda arrays, facts: arrays.update({name: value})


def say(name: str, value: Any) -> Callable[[Arrays, dict[str, Any]], object]:
    return lambda arrays, facts: facts.update({name: value})


def edit(name: str, value: Any, *, at: int = 3) -> Callable[[Arrays, dict[str, Any]], object]:
    def change(arrays: Arrays, facts: dict[str, Any]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][at] = value

    return change


RUNS = {
    "value as text": put("value", np.array(["1.0"] * 12)),
    "value of objects": put("value", np.array([1] * 12)),
    "value too short": put("value", np.zeros(11)),
    "value too long": put("value", np.zeros(13)),
    "value of two dimensions": put("value", np.zeros((12, 1))),
    "value infinite": edit("value", np.inf),
    "value huge": edit("value", 1e308),
    "value out of bounds": edit("value", 100.5),
    "value of a failed evaluation": edit("status", 2),
    "status unknown": edit("status", 7),
    "status negative": edit("status", -1),
    "status as fractions": put("status", np.zeros(12)),
    "codes as text": put("codes", np.array([["a"] * 6] * 12)),
    "codes flat": put("codes", np.zeros(12, dtype=np.int64)),
    "codes too narrow": put("codes", np.zeros((12, 5), dtype=np.int64)),
    "codes too wide": put("codes", np.zeros((12, 32), dtype=np.int64)),
    "codes out of the space": edit("codes", 99),
    "codes below the space": edit("codes", -1),
    "codes of 64 bits": edit("codes", 2**62),
    "fidelity unknown": edit("fidelity", 7),
    "fidelity as fractions": put("fidelity", np.full(12, 200.0)),
    "end before start": edit("end_s", 0.0, at=11),
    "end not a number": edit("end_s", np.nan),
    "end infinite": edit("end_s", np.inf, at=11),
    "end huge": edit("end_s", 1e300, at=11),
    "start negative": edit("start_s", -1.0, at=0),
    "no ends": lambda arrays, facts: arrays.pop("end_s"),
    "an unknown array": put("surprise", np.zeros(12)),
    "another metric as text": put("other-parameters", np.array(["x"] * 12)),
    "another metric too short": put("other-parameters", np.zeros(3)),
    "another metric infinite": edit("other-parameters", np.inf),
    "method a number": say("method", 3),
    "method another": say("method", "re"),
    "no method": lambda arrays, facts: facts.pop("method"),
    "seed as text": say("seed", "0"),
    "seed a fraction": say("seed", 0.5),
    "seed negative": say("seed", -1),
    "seed another": say("seed", 5),
    "error a list": say("error", ["x"]),
    "thinking as text": say("thinking_s", "fast"),
    "thinking not a number": say("thinking_s", float("nan")),
    "thinking infinite": say("thinking_s", float("inf")),
    "scoring negative": say("scoring_s", -3.0),
    "refusals a text": say("refusals", "because"),
    "refusals of numbers": say("refusals", [1]),
    "an unknown fact": say("mood", "good"),
    "made by a text": say("made_by", "me"),
    "made by an unknown key": say("made_by", {"nasbed": "0.1.0", "mood": "good"}),
    "made by a number": say("made_by", {"nasbed": 1, "benchmark": "", "settings": "", "source": "", "origin": ""}),
}  # fmt: skip
SETUPS: dict[str, Callable[[dict[str, Any]], object]] = {
    "unit an object": lambda data: data["objective"].update(unit={"a": 1}),
    "unit a number": lambda data: data["objective"].update(unit=3),
    "metric's name a number": lambda data: data["objective"].update(name=3),
    "metric's name of words": lambda data: data["objective"].update(name="two words"),
    "metric's split unknown": lambda data: data["objective"].update(split="all"),
    "metric's split a list": lambda data: data["objective"].update(split=["test"]),
    "metric's direction unknown": lambda data: data["objective"].update(direction="up"),
    "metric's direction other": lambda data: data["objective"].update(direction="minimize"),
    "metric's bounds as text": lambda data: data["objective"].update(bounds=["0", "1"]),
    "metric's bounds three": lambda data: data["objective"].update(bounds=[0, 1, 2]),
    "metric's bounds falling": lambda data: data["objective"].update(bounds=[1, 0]),
    "metric's bounds not numbers": lambda data: data["objective"].update(bounds=[float("nan"), 1]),
    "metric's unknown key": lambda data: data["objective"].update(colour="red"),
    "no metric": lambda data: data.pop("objective"),
    "metric a text": lambda data: data.update(objective="accuracy"),
    "benchmark a number": lambda data: data.update(benchmark=5),
    "benchmark unknown": lambda data: data.update(benchmark="nothing-like-it"),
    "space another": lambda data: data.update(space="darts"),
    "budget a number": lambda data: data.update(budget=12),
    "budget nonsense": lambda data: data.update(budget="plenty"),
    "workers as text": lambda data: data.update(workers="1"),
    "workers none": lambda data: data.update(workers=0),
    "workers true": lambda data: data.update(workers=True),
    "settings a list": lambda data: data.update(settings=[]),
    "settings of texts": lambda data: data.update(settings={"rs": "fast"}),
    "thinking as text": lambda data: data.update(charge_thinking="no"),
    "trainings as text": lambda data: data.update(continue_trainings="yes"),
    "command a list": lambda data: data.update(command=["nasbed"]),
    "versions a text": lambda data: data.update(versions="all"),
    "versions of numbers": lambda data: data.update(versions={"nasbed": 1}),
    "hash a number": lambda data: data.update(benchmark_sha256=1),
    "hash another": lambda data: data.update(benchmark_sha256="0" * 64),
    "unknown key": lambda data: data.update(mood="good"),
}  # fmt: skip


def test_run_and_report_draw_the_figures_of_runs_that_are_in_order(out: Path) -> None:
    """The second time with a duration and a value that were not measured, and that no rule refuses."""
    assert {path.name for path in (out / "figures").iterdir()} == FIGURES
    shutil.rmtree(out / "figures")
    change_run(out, edit("end_s", 87650, at=11))
    change_run(out, edit("value", 99.9))
    assert refusal(out, "--figures") is None
    assert {path.name for path in (out / "figures").iterdir()} == FIGURES
    data = "".join(check_page(out / "report.html").charts.values())
    assert "87650" in data and "99.9" in data, "numbers of a chart have four digits"


@pytest.mark.parametrize("name", RUNS)
def test_altered_runs_are_refused_by_name(out: Path, name: str) -> None:
    change_run(out, RUNS[name])
    assert names_the_run(refusal(out))


@pytest.mark.parametrize("name", SETUPS)
def test_altered_setups_are_refused_by_name(out: Path, name: str) -> None:
    change_setup(out, SETUPS[name])
    assert names_the_setup(refusal(out), out)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"null", b"[" * 100_000])
def test_setups_that_are_no_json_object_are_refused(out: Path, content: bytes) -> None:
    (out / "setup.json").write_bytes(content)
    assert "setup.json is not a setup of runs" in str(refusal(out))


@pytest.mark.usefixtures("few_charts")
@given(data=st.data())
@examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_of_a_run_are_refused_or_harmless(stored: Path, data: st.DataObject) -> None:
    """Any byte of a stored run may change: a zip file has a checksum, and what it does not cover is not read."""
    out = restored(stored)
    path = out / "runs" / FILE
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content))
    line = refusal(out)
    assert line is None or FILE in line


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


@pytest.mark.usefixtures("few_charts")
@given(data=st.data())
@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_in_a_setup_or_a_run_ends_in_a_line_or_a_report(stored: Path, data: st.DataObject) -> None:
    out = restored(stored)
    in_setup = data.draw(st.booleans())
    if in_setup:
        setup = json.loads((out / "setup.json").read_text())
        owner = data.draw(st.sampled_from([setup, setup["objective"]]))
        owner[data.draw(st.sampled_from(sorted(owner)))] = data.draw(VALUES)
        (out / "setup.json").write_text(json.dumps(setup))
    else:
        value = data.draw(VALUES)
        change_run(out, lambda arrays, facts: facts.update({data.draw(st.sampled_from(sorted(facts))): value}))
    line = refusal(out)
    assert line is None or (names_the_setup(line, out) if in_setup else names_the_run(line))
