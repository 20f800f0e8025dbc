"""Running methods from the command line: the same numbers in the terminal, on the page and in the file."""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nasbed import Metric, NasbedError, space
from nasbed.cli import app
from nasbed.experiments.runs import load_runs, load_setup
from nasbed.results import Rows, TableInfo, write_results
from support.tables import additive

pytestmark = pytest.mark.usefixtures("without_charts")

BAD = """
import time
from nasbed.optimizers import Optimizer, Proposal


class Sampler(Optimizer):
    name, summary = "samples", "at random"

    def __init__(self, problem, rng, *, patience=3):
        super().__init__(problem, rng)
        self.first = self.space.sample(rng)

    def ask(self, n=1):
        return [Proposal(self.space.sample(self.rng)) for _ in range(n)]

    def tell(self, observations):
        pass


class Peeker(Sampler):
    def tell(self, observations):
        observations[0]["test_accuracy"]


class Repeater(Sampler):
    def ask(self, n=1):
        return [Proposal(self.first)]


class Raiser(Sampler):
    def ask(self, n=1):
        if self.rng.random() < 0.1:
            raise RuntimeError("on purpose")
        return super().ask(n)


class Strayer(Sampler):
    def ask(self, n=1):
        return [Proposal(self.first, fidelity=7)]


class Sleeper(Sampler):
    def tell(self, observations):
        time.sleep(3600)
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A made-up table of all nb201 cells with test results and parameters."""
    folder = tmp_path_factory.mktemp("run") / "table"
    metrics = (
        Metric("accuracy", split="validation", unit="%", bounds=(0, 100)),
        Metric("accuracy", split="test", unit="%", bounds=(0, 100)),
        Metric("parameters", direction="minimize"),
    )
    codes = space("nb201").codes(list(space("nb201").enumerate()))
    rng = np.random.default_rng(0)
    values = {metric.key: additive(codes) + rng.random(len(codes)) for metric in metrics[:2]}
    values["parameters"] = 7e4 + 1e5 * (codes == 3).sum(axis=1)
    rows = Rows.of(codes, values, fidelity=200, seed=0, train_time_s=10.0 + codes.sum(axis=1))
    write_results(folder, TableInfo("made-up", "nb201", metrics), [rows])
    return str(folder)


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bad") / "bad.py"
    path.write_text(BAD)
    return str(path)


class Cells(HTMLParser):
    """The cells of the table of standings, a list a row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._open = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._open = ("class", "standings") in attrs
        if self._open and tag == "tr":
            self.rows.append([])
        if self._open and tag in ("td", "th"):
            self.rows[-1].append("")
        if self._open and tag == "small":
            self.rows[-1][-1] += " | "

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag != "table"

    def handle_data(self, data: str) -> None:
        if self._open and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def output_of(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.stdout


def test_reasons_of_refused_evaluations_are_shown(table: str, bad: str, tmp_path: Path) -> None:
    """In the terminal and on the page, for the method that they concern."""
    text = output_of("run", table, "--optimizers", f"rs,{bad}:Strayer", "--seeds", "2", "--budget", "5ev", "--out",
                str(tmp_path), "--engine", "serial")  # fmt: skip
    note = (
        "* 10 evaluations of Strayer failed, more than 10 % in 2 of 2 runs. The benchmark refused: made-up has the "
        "fidelities 200, got 7; choose one"
    )
    page = (tmp_path / "report.html").read_text()
    assert note in " ".join(text.split()) and note in page
    assert "of rs failed" not in text
    rows = {row[0].strip(): row for row in Cells(page).rows}
    assert rows["Strayer *"][-2] == "10 (100 %)" and rows["rs"][-2] == "0" and rows["method"][-2] == "failed"
    assert re.search(r"^Strayer \* .* 10 \(100 %\) ", text, re.MULTILINE)
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    shares = {method["method"]: (method["failed_share"], method["failed_seeds"]) for method in numbers["methods"]}
    assert shares == {"rs": (0.0, []), "Strayer": (1.0, [0, 1])}


def test_run_in_which_nothing_worked_exits_with_1_and_says_why(table: str, bad: str, tmp_path: Path) -> None:
    for name, cause in (
        ("Strayer", "No run found anything. The benchmark refused: made-up has the fidelities 200, got 7"),
        ("Peeker", "No run found anything. Broke: UnknownName: "),
    ):
        out = str(tmp_path / name)
        output_of("run", table, "--optimizers", f"{bad}:{name}", "--seeds", "2", "--budget", "5ev", "--out", out, "--engine",
             "serial", status=1)  # fmt: skip
        output_of("report", out, status=1)
        assert cause in (tmp_path / name / "report.html").read_text()


def test_methods_are_shown_by_the_name_of_their_class(table: str, tmp_path: Path) -> None:
    """The name that a class sets itself; a class that inherits its name, or takes that of a method here, misleads."""
    file, out = tmp_path / "own.py", tmp_path / "out"
    head = "from nasbed.optimizers.random_search import RandomSearch\n"
    classes = 'class A(RandomSearch):\n    name = "my (new) method"\nclass B(A):\n    pass\n'
    file.write_text(head + classes + 'class C(A):\n    name = "re"\nclass D(A):\n    name = "../d"\n')
    common = ("--seeds", "1", "--budget", "5ev", "--engine", "serial", "--out", str(out))
    text = output_of("run", table, "--optimizers", f"{file}:A", "--optimizers", f"{file}:B", *common)
    assert re.search(r"^my \(new\) method  ", text, re.MULTILINE) and re.search(r"^B  ", text, re.MULTILINE)
    assert {row[0].strip() for row in Cells((out / "report.html").read_text()).rows[1:]} == {"my (new) method", "B"}
    for name, message in (("C", "re is the name of a method of nasbed"), ("D", "up to 60 letters")):
        with pytest.raises(NasbedError, match=message):
            output_of("run", table, "--optimizers", f"{file}:{name}", *common)


def test_page_has_the_commands_of_all_runs(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that added runs to the folder, in order, each once."""
    common = ["--budget", "5ev", "--engine", "serial", "--out", str(tmp_path)]
    commands = []
    for words in (["rs", "--seeds", "2"], ["re", "--seeds", "2"], ["re", "--seeds", "1"], ["rs", "--seeds", "3"]):
        arguments = ["run", table, "--optimizers", *words, *common]
        monkeypatch.setattr("sys.argv", ["nasbed", *arguments])
        output_of(*arguments)
        commands.append("nasbed " + " ".join(arguments))
    del commands[2]  # its run was there already
    assert load_setup(tmp_path).command.splitlines() == commands
    page = (tmp_path / "report.html").read_text()
    assert all(f"<dt>command {i + 1}</dt><dd>{command}</dd>" in page for i, command in enumerate(commands))


def test_bad_methods_are_named_and_the_others_unharmed(table: str, bad: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    names = ("Peeker", "Repeater", "Raiser", "Sleeper")
    listed = ",".join(["rs", *(f"{bad}:{name}" for name in names)])
    text = output_of("run", table, "--optimizers", listed, "--seeds", "2", "--budget", "30ev", "--timeout", "3", "--out",
                str(out), "--processes", "2", status=1)  # fmt: skip
    runs, page = load_runs(out), (out / "report.html").read_text()
    assert all(len(run) == 30 and not run.error for name in ("rs", "Repeater") for run in runs.of(name))
    assert all("no metric 'test_accuracy'" in run.error for run in runs.of("Peeker"))
    assert all("within 3 s" in run.error for run in runs.of("Sleeper"))
    assert any("on purpose" in run.error for run in runs.of("Raiser"))
    for message in ("no metric 'test_accuracy'", "within 3 s", "on purpose", "Repeater repeats itself: 97 %"):
        assert message in unescape(page)
    for message in ("no metric 'test_accuracy'", "within 3 s", "on purpose", "Repeater repeats itself: 97 %"):
        assert message in text
    for name in names:
        assert re.search(rf"^{name} ", text, re.MULTILINE), name
    line = BAD.splitlines().index('            raise RuntimeError("on purpose")') + 1
    (error,) = {run.error for run in runs.of("Raiser") if run.error}
    assert error == f"RuntimeError: on purpose (bad.py, line {line})"
    (traceback_path,) = re.findall(r"^Traceback: (.*Raiser.*)$", text, re.MULTILINE)
    assert f'File "{bad}", line {line}, in ask' in Path(traceback_path).read_text()
    assert not list(out.glob("runs/rs-*.traceback.txt")) and not list(out.glob("runs/Sleeper-*.traceback.txt"))

    numbers_by_method = {entry["method"]: entry for entry in json.loads((out / "numbers.json").read_text())["methods"]}
    on_page = {row[0].strip().removesuffix(" *"): row for row in Cells(page).rows[1:]}
    in_terminal = {
        re.split(r"\s{2,}", line)[0].removesuffix(" *"): line for line in text.split("\n\n")[0].splitlines()[1:]
    }
    assert list(on_page) == list(in_terminal) and set(on_page) == set(numbers_by_method) == {"rs", *names}
    for method, numbers in numbers_by_method.items():
        for value in (numbers["test_regret"], numbers["mean_rank"]):
            if value["estimate"] is not None:
                middle, low, high = (f"{value[end]:.3g}" for end in ("estimate", "low", "high"))
                assert f"{middle} | {low} to {high}" in on_page[method]
                assert f"{middle} [{low}–{high}]" in in_terminal[method]
        if numbers["errors"]:
            assert f"2 | {len(numbers['errors'])} broke" in on_page[method]
            assert f"2 ({len(numbers['errors'])} broke)" in in_terminal[method]
        repeated = "–" if numbers["repeated"] is None else f"{100 * numbers['repeated']:.0f} %"
        assert on_page[method][-1].strip() == repeated and in_terminal[method].rstrip().endswith(repeated)
    reported = output_of("report", str(out), status=1)
    assert reported == text[text.index("method") :]


def test_run_fails_for_a_method_without_a_finished_run(table: str, bad: str, tmp_path: Path) -> None:
    common = ("--seeds", "10", "--budget", "10ev", "--engine", "serial")
    arguments = ("run", table, "--optimizers", f"rs,{bad}:Peeker", *common, "--out", str(tmp_path / "out"))
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 1 and "Peeker has no finished run; the errors are above." in result.stderr
    (row,) = re.findall(r"^rs .*$", result.stdout, re.MULTILINE)
    assert "Peeker" not in row and (tmp_path / "out" / "report.html").is_file()


def test_run_takes_one_method_settings_and_thinking_time(table: str, bad: str, tmp_path: Path) -> None:
    common = ("--seeds", "2", "--budget", "20ev", "--engine", "serial", "--out", str(tmp_path))
    output_of("run", table, "--optimizers", f"{bad}:Sampler", "--optimizers", "re", "--set", "re.population_size=5", "--set",
         f"{bad}:Sampler.patience=often", "--charge-thinking", *common)  # fmt: skip
    setup = load_setup(tmp_path)
    assert set(load_runs(tmp_path).methods) == {"samples", "re"}
    assert setup.settings == {"re": {"population_size": 5}, "samples": {"patience": "often"}} and setup.charge_thinking
    page = (tmp_path / "report.html").read_text()
    assert "population_size = 5" in page and "thinking time charged" in page
    (run, _) = load_runs(tmp_path).of("samples")
    assert np.any(run.start_s[1:] > run.end_s[:-1])

    output_of("run", table, "--optimizers", "rs", "--charge-thinking", *common)
    assert load_setup(tmp_path).settings == setup.settings

    for arguments, message in (
        (("--optimizers", "rs"), "charge_thinking True, not False"),
        (("--optimizers", "rs,nre", "--charge-thinking", "--set", "re.population_size=9"), "run are: rs, nre"),
    ):
        with pytest.raises(NasbedError, match=message) as caught:
            output_of("run", table, *arguments, *common)
        assert "\n" not in str(caught.value)


def test_run_refuses_a_method_whose_package_is_missing(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)  # as where it is not installed
    with pytest.raises(NasbedError, match=r"^tpe needs optuna; install it with: pip install 'nasbed\[optimizers\]'$"):
        output_of("run", table, "--optimizers", "rs,tpe", "--engine", "serial", "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_run_names_the_line_where_a_file_of_a_user_raises(table: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import math\n\nmath.sqrt(-1)\n")
    with pytest.raises(NasbedError, match=r"could not be run, ValueError: .* \(mine.py, line 3\); fix the file"):
        output_of("run", table, "--optimizers", f"{file}:Mine", "--out", str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "re.populaton=5"), "re has no setting 'populaton'; its settings are .*population_size"),
        (("--set", "rs.size=5"), "rs has no setting 'size'; it has none"),
        (("--set", "re.population_size=0"), "re: population_size is a whole number"),
        (("--set", "population_size=5"), "METHOD.KEY=VALUE"),
        (("--set", "re.population_size"), "METHOD.KEY=VALUE"),
        (("--optimizers", " , "), "at least one method"),
        (("--optimizers", "rs,re", "--optimizers", "rs"), "each method is named once, got rs 2 times"),
        (("--optimizers", "broken.py:Mine"), "broken.py could not be run, SyntaxError"),
        (("--optimizers", "script.py:Mine"), r"script.py could not be run, SystemExit: .* \(script.py, line 2\); fix"),
    ],
)
def test_run_refuses_in_one_line(
    arguments: tuple[str, ...], message: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text("class Mine(:\n")
    Path("script.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(NasbedError, match=message) as caught:
        output_of("run", table, *arguments, "--seeds", "1", "--budget", "5ev", "--engine", "serial", "--out", "out")
    assert "\n" not in str(caught.value) and not Path("out").exists()
