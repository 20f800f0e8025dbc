"""Whether methods and proxies keep their order over datasets: on tables whose best architectures are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import nasbed
from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.proxies.table import ScoresInfo, ScoreTable
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.results.store import write_results
from nasbed.studies.transfer.methods import method_order
from nasbed.studies.transfer.proxies import proxy_order, scores_of
from support.commands import run_command
from support.result_samples import ACCURACY

NB201 = nasbed.space("nb201")
CODES = NB201.codes(list(NB201.enumerate()))
UP = np.linspace(10, 90, len(CODES))
METHODS = """
from itertools import count, islice
from nasbed.optimizers.base import Optimizer, Proposal

class FromTheFirst(Optimizer):
    name, summary = "from the first", "architectures in the order of the space"
    step = 1

    def ask(self, n=1):
        if not hasattr(self, "left"):
            self.left = iter(list(self.space.enumerate())[:: self.step])
        return [Proposal(arch) for arch in islice(self.left, n)]

    def tell(self, observations):
        pass

class FromTheLast(FromTheFirst):
    name, step = "from the last", -1

class ByTwos(FromTheFirst):
    name, step = "by twos", 2
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TabularBenchmark]:
    """Three datasets: the later an architecture, the better; the same in other numbers; the reverse."""
    by_folder = {}
    for name, values in (("up", UP), ("steep", 10 + UP**2 / 90), ("down", UP[::-1])):
        folder = tmp_path_factory.mktemp("tables") / name
        info = TableInfo(name, "nb201", (ACCURACY,), dataset=name)
        by_folder[str(folder)] = TabularBenchmark(
            write_results(folder, info, [Rows.of(CODES, {ACCURACY.key: values.copy()}, fidelity=1)])
        )
    return by_folder


def timed(folder: Path) -> dict[str, TabularBenchmark]:
    """A table whose trainings take a second."""
    info = TableInfo("timed", "nb201", (ACCURACY,), dataset="timed")
    values = {ACCURACY.key: UP}
    rows = Rows.of(CODES, values, fidelity=1, train_time_s=np.ones(len(CODES)))
    return {str(folder): TabularBenchmark(write_results(folder, info, [rows]))}


def scores(dataset: str, values: dict[str, np.ndarray], codes: np.ndarray) -> ScoreTable:
    columns = {name: column[:, None] for name, column in values.items()}
    return ScoreTable(ScoresInfo("nb201", dataset), codes, (0,), columns, {})


def test_methods_that_are_best_on_one_dataset_and_worst_on_another(
    tables: dict[str, TabularBenchmark], tmp_path: Path
) -> None:
    file = tmp_path / "methods.py"
    file.write_text(METHODS)
    methods = [f"{file}:{name}" for name in ("FromTheFirst", "FromTheLast", "ByTwos")]
    order = method_order(tables, methods, seeds=2, budget="5ev", out=tmp_path / "runs", engine=SerialEngine())
    assert order.methods == ("from the first", "from the last", "by twos")
    step = UP[1] - UP[0]
    last = len(CODES) - 1
    np.testing.assert_allclose(order.regrets[:, 0, 0], [(last - 4) * step, 0, (last - 8) * step], atol=1e-9)
    np.testing.assert_array_equal(order.ranks[:, :2], [[3, 3], [1, 1], [2, 2]])
    np.testing.assert_array_equal(order.regrets[:, 2, 0] == 0, [True, False, True])
    assert order.agreement[0, 1] == 1 and order.agreement[0, 2] < 0 and (order.own_agreement[:2] == 1).all()
    alike = dict(list(tables.items())[:2])
    repeated = method_order(alike, methods, seeds=2, budget="5ev", out=tmp_path / "runs", engine=SerialEngine())
    assert repeated.concordance == 1
    with pytest.raises(InvalidOption, match="2 methods and 2 seeds or more"):
        method_order(tables, ["rs"], seeds=2, budget="5ev", out=tmp_path)
    unfinished = timed(tmp_path / "timed")
    with pytest.raises(InvalidOption, match=r"rs found nothing on timed within 0\.5s; raise the budget"):
        method_order(unfinished, ["rs", "re"], seeds=2, budget="0.5s", out=tmp_path, engine=SerialEngine())


def test_proxies_that_know_one_dataset_mislead_on_its_reverse(tables: dict[str, TabularBenchmark]) -> None:
    rows = np.arange(0, len(CODES), 200)
    rng = np.random.default_rng(0)
    by_proxy = {"snip": UP[rows], "synflow": rng.normal(size=len(rows)), "params": -UP[rows]}
    on_all = [scores(name, by_proxy, CODES[rows]) for name in ("up", "steep", "down")]
    order = proxy_order(list(tables.values()), on_all, resamples=20)
    assert order is not None and order.networks == len(rows) and order.datasets == (0, 1, 2)
    of = dict(zip(order.proxies, order.correlations, strict=True))
    np.testing.assert_allclose(of["snip"], [1, 1, -1])
    np.testing.assert_allclose(of["params"], [-1, -1, 1])
    assert order.agreement[0, 1] == 1 and order.agreement[0, 2] == -1 and order.concordance < 0.2
    by_proxy["snip"] = np.where(rows > rows[9], UP[rows], np.nan)
    missing = proxy_order(list(tables.values())[:2], [scores(name, by_proxy, CODES[rows]) for name in ("up", "steep")])
    assert missing is not None
    filled = np.where(rows > rows[9], rows, 0)
    assert dict(zip(missing.proxies, missing.correlations, strict=True))["snip"] == pytest.approx(
        [spearmanr(filled, rows).statistic] * 2
    ), "networks without a score come last"
    part = on_all[1].take(np.arange(30, len(rows)))
    alike = proxy_order(list(tables.values()), [on_all[0], part, None], resamples=20)
    assert alike is not None and alike.networks == len(rows) - 30 and alike.datasets == (0, 1)
    assert alike.concordance == alike.low == alike.high == 1
    assert proxy_order(list(tables.values()), [on_all[0], None, None]) is None
    with pytest.raises(InvalidOption, match="2 proxies and 20 networks or more, the scores have 3 and 5"):
        proxy_order(list(tables.values()), [on_all[0], on_all[1].take(np.arange(5)), None])


def test_scores_belong_to_the_table_of_their_dataset(tables: dict[str, TabularBenchmark], tmp_path: Path) -> None:
    rows = np.arange(0, len(CODES), 300)
    file = tmp_path / "down.parquet"
    own = scores("down", {"snip": UP[rows], "params": -UP[rows]}, CODES[rows])
    own.write(file)
    up, steep, down = scores_of(list(tables.values()), [file])
    assert up is None and steep is None and down is not None and len(down) == len(rows)
    replace(own, about=replace(own.about, dataset="sideways")).write(file)
    with pytest.raises(InvalidOption, match="nb201 on sideways, which none of the tables is of"):
        scores_of(list(tables.values()), [file])


@pytest.mark.thorough
def test_command_says_whether_orders_hold(tables: dict[str, TabularBenchmark], tmp_path: Path) -> None:
    rows = np.arange(0, len(CODES), 300)
    files = []
    for name in ("up", "down"):
        files += ["--scores", str(tmp_path / f"{name}.parquet")]
        scores(name, {"snip": UP[rows], "params": -UP[rows]}, CODES[rows]).write(files[-1])
    out = tmp_path / "out"
    runs = ("--optimizers", "rs,ls", "--seeds", "2", "--budget", "20ev", "--processes", "1")
    up, _, down = tables
    completed = run_command("study", "transfer", up, down, *files, *runs, "--out", out, "--format", "svg")
    assert completed.returncode == 0, completed.stderr
    assert "The order of 2 methods (2 seeds, 20ev): concordance " in completed.stdout
    assert f"The order of 2 proxies ({len(rows)} networks): concordance 0.00 (0.00 to 0.00) over 2" in completed.stdout
    numbers = json.loads((out / "numbers.json").read_text())
    assert np.shape(numbers["methods"]["final_regrets"]) == (2, 2, 2)
    assert numbers["proxies"]["datasets"] == ["up", "down"] and numbers["proxies"]["concordance"] == [0, 0, 0]
    page = (out / "report.html").read_text()
    assert "Which methods keep their order?" in page and "Which proxies keep their order?" in page
