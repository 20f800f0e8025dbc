"""The page of a comparison is one file that needs nothing else, whatever the runs were."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.benchmarks.base import Benchmark
from nasbed.drawing.palette import looks
from nasbed.experiments.runs import Run, Runs
from nasbed.reports.comparison.data import comparison, principal_plane
from nasbed.reports.comparison.page import write_comparison
from support.pages import PageReader, check_page
from support.runs import Formula, runs_of, search, three_methods
from support.tables import TEST


def written(folder: Path, runs: Runs, benchmark: Benchmark, *, formats: Sequence[str] = ()) -> tuple[str, PageReader]:
    summary = write_comparison(folder, runs, benchmark, rng=np.random.default_rng(0), formats=formats)
    assert json.loads((folder / "numbers.json").read_text()) == summary.numbers()
    html = (folder / "report.html").read_text()
    return html, check_page(folder / "report.html")


@pytest.mark.figures
def test_comparison_is_one_file_of_about_a_megabyte_and_names_methods_settings_and_failures(tmp_path: Path) -> None:
    html, reader = written(tmp_path, three_methods(), Formula(TEST), formats=("svg", "png", "pdf"))
    assert len(html) < 1_300_000
    assert html.count("window.vegaEmbed=") == 1
    for fact in ("rs", "re", "ls", "population = 50", "nasbed run formula --seeds 6", "test regret [%]", "1 run broke"):
        assert fact in reader.text
    assert "ValueError: no <b>neighbour</b> left" in reader.text
    assert "b" not in {tag for tag, _ in reader.tags}
    assert "re ends with the smallest mean test regret" in reader.text
    assert {"figure-time", "figure-evaluations", "figure-ecdf", "figure-ranks"} <= set(reader.charts)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"{name}.{form}"
        for name in ("time", "evaluations", "ecdf", "ranks", "proposals", "best")
        for form in ("svg", "png", "pdf")
    }
    for name in ("time", "evaluations", "ecdf", "ranks"):
        assert (tmp_path / "figures" / f"{name}.svg").read_text().count("role-legend-label") == 3, name


def test_comparison_draws_means_where_asked(tmp_path: Path) -> None:
    """The curves end at the mean final regret of the standings; the page says what its lines are."""
    runs = three_methods()
    compared = comparison(runs, Formula(TEST), rng=np.random.default_rng(0), centre="mean")
    for curve in compared.over_evaluations:
        (standing,) = [one for one in compared.summary.methods if one.method == curve.method]
        assert curve.middle[-1] == pytest.approx(standing.test_regret.estimate)
        assert curve.low[-1] <= curve.middle[-1] <= curve.high[-1]
    write_comparison(tmp_path, runs, Formula(TEST), rng=np.random.default_rng(0), centre="mean")
    page = re.sub(r"<script.*?</script>", "", (tmp_path / "report.html").read_text(), flags=re.DOTALL)
    assert "The mean over seeds, and its 95 % bootstrap interval as a band" in page and "quartiles" not in page


HOSTILE = "</script><script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


def test_comparison_shows_hostile_names_as_text(tmp_path: Path) -> None:
    runs = [search("rs", seed) for seed in range(3)]
    runs += [replace(search(HOSTILE, seed), error=HOSTILE if seed == 2 else "") for seed in range(3)]
    html, reader = written(tmp_path, runs_of(runs), Formula(TEST))
    assert HOSTILE in reader.text
    assert "img" not in {tag for tag, _ in reader.tags}
    assert "alert(1)</script>" not in html
    rows = [
        row for text in reader.charts.values() for data in json.loads(text)["data"] for row in data.get("values", [])
    ]
    assert HOSTILE in {row.get("method") for row in rows}


EMPTY = replace(search("rl", 0, evaluations=1), codes=np.empty((0, 6), int), fidelity=np.empty(0, int),
                value=np.empty(0), status=np.empty(0, np.int8), start_s=np.empty(0), end_s=np.empty(0))  # fmt: skip
CASES: dict[str, Sequence[Run]] = {
    "one method, one seed": [search("rs", 0)],
    "one evaluation": [search("rs", 0, evaluations=1), search("re", 0, evaluations=1)],
    "fifteen methods": [search(f"method{i}", seed) for i in range(15) for seed in range(2)],
    "all values missing": [search("rs", seed, lost=1.1) for seed in range(2)],
    "one method finds nothing": [search("rs", 0), search("re", 0, lost=1.1)],
    "all broke": [search("rs", seed, error="ValueError: x") for seed in range(2)],
    "all of one method broke": [search("rs", 0), search("rs", 1), replace(EMPTY, error="TimeoutError: x")],
    "a run without evaluations": [search("rs", 0), EMPTY],
    "seeds that differ": [search("rs", 0), search("rs", 1), search("re", 1), search("re", 2)],
    "no time passes": [replace(search("rs", seed), start_s=np.zeros(40), end_s=np.zeros(40)) for seed in range(2)],
}


@pytest.mark.parametrize("case", CASES)
def test_comparison_takes_any_runs(case: str, tmp_path: Path) -> None:
    runs = runs_of(CASES[case])
    _, reader = written(tmp_path, runs, Formula())
    for method in runs.methods:
        assert method in reader.text
    assert "nan" not in reader.text.replace("bananas", "")


def test_comparison_finals_and_curves_agree_with_the_summary() -> None:
    result = comparison(three_methods(), Formula(TEST), rng=np.random.default_rng(0))
    summary = result.summary
    for method in summary.methods:
        assert summary.regret(method).estimate == pytest.approx(result.finals[method.method].mean())
        assert summary.median(method) == pytest.approx(np.median(result.finals[method.method]))
    last = {curve.method: curve.middle[-1] for curve in result.rank_over_time}
    assert last == pytest.approx({method.method: method.mean_rank.estimate for method in summary.methods})
    assert result.best is not None and result.best.regret == min(finals.min() for finals in result.finals.values())


def test_comparison_draws_trade_offs_where_costs_are_known(tmp_path: Path) -> None:
    _, reader = written(tmp_path, three_methods(), Formula.with_parameters(TEST))
    assert "figure-tradeoff" in reader.charts and "Regret against parameters" in reader.text
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "numbers.json"}, "no files without formats"
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    for method in numbers["methods"]:
        assert f"{method['hypervolume']['estimate']:.4f}" in reader.text


def test_looks_are_all_different() -> None:
    assert len(set(looks([str(i) for i in range(21)]).values())) == 21


def test_principal_plane_keeps_the_distances_of_a_plane() -> None:
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(30, 2))
    turned = flat @ np.linalg.qr(rng.normal(size=(7, 7)))[0][:2]
    plane, shares = principal_plane(turned)
    before, after = (np.linalg.norm(x[:, None] - x[None], axis=2) for x in (flat, plane))
    np.testing.assert_allclose(after, before, atol=1e-12)
    assert sum(shares) == pytest.approx(1)
