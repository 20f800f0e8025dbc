"""Many runs: kept as they end, the same bytes everywhere, resumed, unharmed by a method that breaks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed import Metric, NasbedError, space
from nasbed.core.execution import LocalEngine, SerialEngine
from nasbed.experiments.compare import compare
from nasbed.experiments.named_methods import optimizer_class
from nasbed.experiments.runs import Run, join_runs, load_run, load_runs
from nasbed.results import Rows, TableInfo, write_results

OWN = """
from nasbed.optimizers import Optimizer, Proposal


class Mine(Optimizer):
    name = "mine"
    summary = "the first architecture, always"

    def ask(self, n=1):
        return [Proposal(next(iter(self.space.enumerate())))]

    def tell(self, observations):
        pass


class ScorePeeker(Mine):
    def tell(self, observations):
        observations[0]["test_accuracy"]


class FailingMethod(Mine):
    def ask(self, n=1):
        raise RuntimeError("on purpose")


class NoMethod:
    pass
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A made-up table of all nb201 cells with a test metric that no method may see."""
    folder = tmp_path_factory.mktemp("compare") / "table"
    metrics = (Metric("accuracy", split="validation", bounds=(0, 1)), Metric("accuracy", split="test", bounds=(0, 1)))
    codes = space("nb201").codes(list(space("nb201").enumerate()))
    rng = np.random.default_rng(0)
    rows = [
        Rows.of(
            codes,
            {metric.key: rng.random(len(codes)) for metric in metrics},
            fidelity=200,
            seed=seed,
            train_time_s=10.0,
        )
        for seed in range(2)
    ]
    write_results(folder, TableInfo("made-up", "nb201", metrics), rows)
    return str(folder)


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return str(path)


def test_compare_gives_the_same_bytes_on_every_engine(table: str, tmp_path: Path) -> None:
    for name, engine in (("serial", SerialEngine()), ("local", LocalEngine(2))):
        compare(table, ["rs"], seeds=3, budget="50ev", out=tmp_path / name, workers=3, engine=engine)
    for seed in range(3):
        serial, local = (load_run(tmp_path / name / "runs" / f"rs-{seed}.npz") for name in ("serial", "local"))
        for field in ("codes", "fidelity", "value", "status", "start_s", "end_s"):
            np.testing.assert_array_equal(getattr(serial, field), getattr(local, field))


def test_compare_resumes_where_it_was_interrupted(table: str, tmp_path: Path) -> None:
    compare(table, ["rs"], seeds=2, budget="20ev", out=tmp_path, engine=SerialEngine())
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    (tmp_path / "runs" / "rs-1.npz").write_bytes(b"half a file")
    finished_seeds: list[int] = []
    runs = compare(
        table,
        ["rs"],
        seeds=4,
        budget="20ev",
        out=tmp_path,
        engine=SerialEngine(),
        progress=lambda m, s, e: finished_seeds.append(s),
    )
    assert finished_seeds == [1, 2, 3] and len(runs.runs) == 4
    assert (tmp_path / "runs" / "rs-0.npz").stat().st_mtime_ns == stamps[tmp_path / "runs" / "rs-0.npz"]


def test_compare_methods_of_ones_own_and_broken_ones(table: str, own: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    methods = ["rs", f"{own}:Mine", f"{own}:ScorePeeker", f"{own}:FailingMethod"]
    runs = compare(table, methods, seeds=2, budget="10ev", out=out, engine=SerialEngine())
    assert set(runs.methods) == {"rs", "mine", "ScorePeeker", "FailingMethod"}
    assert all(len(run) == 10 and not run.error for name in ("rs", "mine") for run in runs.of(name))
    assert all("no metric 'test_accuracy'" in run.error for run in runs.of("ScorePeeker"))
    assert all(run.error.startswith("RuntimeError: on purpose (") for run in runs.of("FailingMethod"))


def test_compare_keeps_the_methods_in_the_order_in_which_they_were_asked_for(table: str, tmp_path: Path) -> None:
    """When the folder is loaded, when a method is added, and where folders are joined; a folder of an older nasbed,
    which did not record it, still opens."""
    budget: dict[str, Any] = {"seeds": 1, "budget": "3ev", "engine": SerialEngine()}
    compare(table, ["rs", "ls"], out=tmp_path / "one", **budget)
    runs = compare(table, ["rs", "de"], out=tmp_path / "one", **budget)
    assert runs.methods == load_runs(tmp_path / "one").methods == ["rs", "ls", "de"]
    second = compare(table, ["re", "bananas"], out=tmp_path / "two", **budget)
    assert join_runs([runs, second]).methods == ["rs", "ls", "de", "re", "bananas"]
    path = tmp_path / "one" / "setup.json"
    setup = json.loads(path.read_text())
    assert setup.pop("methods") == ["rs", "ls", "de"]
    path.write_text(json.dumps(setup))
    assert load_runs(tmp_path / "one").methods == ["de", "ls", "rs"]


def test_own_method_imports_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_a_method.py").write_text("SUMMARY = 'from next door'\n")
    (tmp_path / "mine.py").write_text(
        "from neighbour_of_a_method import SUMMARY\n"
        "from nasbed.optimizers.random_search import RandomSearch\n"
        "class Mine(RandomSearch):\n    summary = SUMMARY\n"
    )
    before = list(sys.path)
    assert optimizer_class(f"{tmp_path / 'mine.py'}:Mine").summary == "from next door"
    assert sys.path == before


def test_own_methods_have_random_numbers_of_their_own(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two classes of one file differ; one class is the same from everywhere."""
    folder = tmp_path / "somewhere"
    folder.mkdir()
    (folder / "my_search_methods.py").write_text(
        "from nasbed.optimizers.random_search import RandomSearch\n"
        "class First(RandomSearch):\n    pass\n"
        "class Second(RandomSearch):\n    pass\n"
    )

    def codes(*methods: str) -> list[list[list[int]]]:
        out = tmp_path / f"runs-{len(list(tmp_path.iterdir()))}"
        runs = compare(table, methods, seeds=1, budget="20ev", out=out, engine=SerialEngine()).runs
        assert not any(run.error for run in runs)
        return [run.codes.tolist() for run in sorted(runs, key=lambda run: run.method)]

    path = folder / "my_search_methods.py"
    first, second = codes(f"{path}:First", f"{path}:Second")
    assert first != second
    monkeypatch.chdir(folder)
    assert codes("my_search_methods.py:First") == codes("./my_search_methods.py:First") == [first]
    assert codes("../somewhere/my_search_methods.py:Second") == [second]


def test_traceback_of_a_run_goes_when_the_run_ends_well(table: str, tmp_path: Path) -> None:
    """It is there even where the class cannot be made, and has no name."""
    file = tmp_path / "mine.py"
    broken = "from nasbed.optimizers.random_search import RandomSearch\nclass Mine(RandomSearch):\n    pass\n"
    file.write_text(f"{broken}    def __init__(self, problem, rng):\n        {{}}['nothing']\n")

    def only_run() -> Run:
        (run,) = compare(
            table, [f"{file}:Mine"], seeds=1, budget="5ev", out=tmp_path / "out", engine=SerialEngine()
        ).runs
        return run

    assert only_run().error == "KeyError: 'nothing' (mine.py, line 5)"
    traceback_path = tmp_path / "out" / "runs" / "Mine-0.traceback.txt"
    assert f'File "{file}", line 5, in __init__' in traceback_path.read_text()
    file.write_text(broken)
    assert not only_run().error and not traceback_path.exists()


def test_built_in_methods_keep_their_random_numbers(table: str, tmp_path: Path) -> None:
    """The generator of an id is that of its bytes, as in every published run."""
    [run] = compare(table, ["rs"], seeds=1, budget="20ev", out=tmp_path / "runs", engine=SerialEngine()).runs
    rng = np.random.default_rng([0, int.from_bytes(b"rs".ljust(16, b"\0"), "big")])
    searched = space("nb201")
    assert run.codes.tolist() == [list(searched.sample(rng).code) for _ in range(20)]


def test_compare_refuses_in_one_line(table: str, own: str, tmp_path: Path) -> None:
    compare(table, ["rs"], seeds=1, budget="5ev", out=tmp_path / "a", engine=SerialEngine())
    for methods, budget, out, message in (
        (["nosuch"], "5ev", "b", "no optimizer is called 'nosuch'"),
        ([f"{own}:NoMethod"], "5ev", "b", "no subclass"),
        ([f"{own}:Absent"], "5ev", "b", "has no attribute Absent"),
        (["missing.py:Mine"], "5ev", "b", "is not a file"),
        (["rs"], "5", "b", "500ev or 1e6s"),
        (["rs"], "-1s", "b", "500ev or 1e6s"),
        (["rs"], "nans", "b", "500ev or 1e6s"),
        (["rs"], "6ev", "a", "holds runs with budget 5ev"),
    ):
        with pytest.raises(NasbedError, match=message) as caught:
            compare(table, methods, seeds=1, budget=budget, out=tmp_path / out, engine=SerialEngine())
        assert "\n" not in str(caught.value)


def test_compare_keeps_settings_by_name_and_charges_thinking(table: str, own: str, tmp_path: Path) -> None:
    settings = {"re": {"population_size": 7}}
    for methods in (["re"], ["rs"]):
        own_settings = settings if methods == ["re"] else None
        compare(
            table, methods, seeds=1, budget="9ev", out=tmp_path, engine=SerialEngine(), settings=own_settings,
            charge_thinking=True,
        )  # fmt: skip
    setup = load_runs(tmp_path).setup
    assert setup.settings == settings and setup.charge_thinking
    options: dict[str, Any] = {"seeds": 1, "budget": "9ev", "out": tmp_path, "engine": SerialEngine()}
    with pytest.raises(NasbedError, match="charge_thinking True, not False"):
        compare(table, ["re"], charge_thinking=False, settings=settings, **options)
    notes: list[str] = []
    changed = {"re": {"population_size": 8}}
    runs = compare(table, ["re"], charge_thinking=True, settings=changed, on_note=notes.append, **options)
    assert notes == ["1 run of re is made again: its settings have changed"]
    assert runs.setup.settings == changed


def test_setup_of_an_older_folder_charges_no_thinking(table: str, tmp_path: Path) -> None:
    compare(table, ["rs"], seeds=1, budget="5ev", out=tmp_path, engine=SerialEngine())
    stored = json.loads((tmp_path / "setup.json").read_text())
    del stored["charge_thinking"]
    (tmp_path / "setup.json").write_text(json.dumps(stored))
    assert load_runs(tmp_path).setup.charge_thinking is False


def test_load_runs_refuses_a_folder_without_runs(tmp_path: Path) -> None:
    with pytest.raises(NasbedError, match="holds no runs"):
        load_runs(tmp_path)
