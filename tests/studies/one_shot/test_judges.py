"""Judges of one-shot searches: none has seen what the method that it judges contributed to the table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from nasbed import Architecture, space
from nasbed.benchmarks import load
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.home import left_out_fits_folder, surrogates_folder, table_folder
from nasbed.oneshot.record import write_record
from nasbed.results import Results, Rows, TableInfo, write_results
from nasbed.studies.one_shot.command import one_shot
from nasbed.studies.one_shot.judges import Judge, judges_without_data
from nasbed.studies.one_shot.study import one_shot_study
from nasbed.studies.one_shot.words import judge_lines
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.table_split import TableSplit
from support.oneshot_searches import FALLING, RISING, nb201_search, search_record
from support.surrogates import ACCURACY, QUICK
from support.tables import additive

VISITED = tuple(Architecture("nb201", (1,) * skips + (3,) * (6 - skips)) for skips in range(7))
"""What the search by gdas goes through; the table has it by gdas, twice by random search and once more as a repeat."""
SURROGATE = "snb-nb201-made-lgb-v1.0"


def collected(folder: Path, lie: float) -> Results:
    """Random search and gdas, whose accuracies are off by ``lie``, whoever evaluated the architecture."""
    searched = space("nb201")
    rng = np.random.default_rng(0)
    random = searched.codes([arch for arch in (searched.sample(rng) for _ in range(300)) if arch not in VISITED])
    visited = searched.codes(VISITED)
    codes = np.concatenate([random, visited[:2], visited, visited[:1]])
    method = np.array(["rs"] * (len(random) + 2) + ["gdas"] * len(visited) + ["repeats"])
    value = additive(codes) + np.where(np.arange(len(codes)) < len(random), 0.0, lie)
    about = TableInfo("made", "nb201", (ACCURACY,), dataset="made")
    seed = np.where(method == "repeats", 1, 0)
    return write_results(folder, about, [Rows.of(codes, {ACCURACY.key: value}, fidelity=1, seed=seed, method=method)])


def installed(home: Path, monkeypatch: pytest.MonkeyPatch, lie: float = -30.0) -> SurrogateBenchmark:
    monkeypatch.setenv("NASBED_HOME", str(home))
    results = collected(table_folder("made"), lie)
    artefact = make_surrogate(results, "lgb", members=2, settings=QUICK, runtime=None)
    path = artefact.save(surrogates_folder() / f"{SURROGATE}.snb")
    return SurrogateBenchmark(Artefact.load(path))


def predictions(judge: Judge) -> list[float]:
    return list(judge.benchmark.expected_many(list(VISITED)).column(ACCURACY.key))


def test_what_a_method_contributed_changes_nothing_that_its_judge_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, seen = [], []
    for lie in (-30.0, 10.0):
        benchmark = installed(tmp_path / str(lie), monkeypatch, lie)
        judge = judges_without_data(benchmark, ["gdas"])["gdas"]
        said.append(predictions(judge))
        seen.append(predictions(Judge(benchmark)))
        split = TableSplit.of(Results.open(table_folder("made")))
        own = {arch.code for arch in VISITED}
        fitted = [tuple(code) in own for code in split.fitted.codes.tolist()]
        assert judge.left_out == sum(fitted) > 5 and judge.rows == len(fitted) - sum(fitted) and not judge.caution
    assert said[0] == said[1] and seen[0] != seen[1]


def test_second_study_fits_nothing_and_another_table_fits_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = installed(tmp_path, monkeypatch)
    shares: list[tuple[str, float]] = []
    first = judges_without_data(benchmark, ["gdas", "darts"], on_fit=lambda *report: shares.append(report))
    assert shares[0] == ("gdas", 0.0) and shares[-1] == ("gdas", 1.0), "no darts in the table"
    assert first["darts"].benchmark is benchmark and not first["darts"].left_out and not first["darts"].caution
    assert first["darts"].rows == benchmark.artefact.manifest.provenance["rows"]
    (path,) = left_out_fits_folder().iterdir()
    before = path.stat().st_mtime_ns
    shares.clear()
    again = judges_without_data(benchmark, ["gdas"])
    assert predictions(again["gdas"]) == predictions(first["gdas"])
    assert not shares and path.stat().st_mtime_ns == before
    # the artefact of the fit says itself what it was fitted without, and its split can be made again
    manifest = Artefact.load(path).manifest
    assert manifest.provenance["methods_omitted"] == ["gdas"] and "gdas" not in manifest.provenance["methods"]
    recorded = TableSplit.recorded(
        Results.open(table_folder("made")), manifest.provenance, metric=ACCURACY, fidelity=manifest.fidelity
    )
    assert recorded is not None and len(recorded.fitted) == first["gdas"].rows


def test_where_the_table_is_not_here_one_line_says_that_the_judge_may_have_seen_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = installed(tmp_path, monkeypatch)
    table_folder("made").rename(tmp_path / "elsewhere")
    records = [search_record(method, 0, nb201_search(FALLING, RISING)) for method in ("gdas", "darts")]
    judges = judges_without_data(benchmark, ["gdas", "darts"])
    study = one_shot_study(records, benchmark, judges=judges, random=50, rng=np.random.default_rng(0))
    assert judge_lines(study) == [
        f"The judge, {SURROGATE}, may have seen the data of these searches: its table 'made' is not here; name it "
        "with --table."
    ]
    named = judges_without_data(benchmark, ["gdas"], table=Results.open(tmp_path / "elsewhere"))
    assert named["gdas"].left_out
    other = collected(tmp_path / "other", 3.0)
    with pytest.raises(InvalidOption, match="with other bytes than made; name that one"):
        judges_without_data(benchmark, ["gdas"], table=other)
    collected(table_folder("made"), 3.0)
    assert "has other bytes" in judges_without_data(benchmark, ["gdas"])["gdas"].caution


def test_study_judges_by_the_fit_without_and_shows_what_the_benchmark_says_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The truth falls from 84 to 54 %; the surrogate was told that all of it is 30 points worse."""
    installed(tmp_path, monkeypatch)
    write_record(search_record("gdas", 0, nb201_search(FALLING, RISING)), tmp_path / "gdas-0" / "search.json")
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command("one-shot")(one_shot)
    run = [str(tmp_path / "gdas-0"), "--benchmark", SURROGATE, "--random", "100", "--processes", "1"]
    result = CliRunner().invoke(app, [*run, "--json"])
    assert result.exit_code == 0, result.exception
    numbers = json.loads(result.stdout)
    (method,) = numbers["methods"]
    search, judge = method["searches"][0], method["judge"]
    truth = [84.0] * 5 + [79.0, 74.0, 69.0, 64.0, 59.0, 54.0, 54.0]
    error, seen_error = (np.abs(np.array(search[key]) - truth).mean() for key in ("prediction", "prediction_data_seen"))
    assert error < seen_error - 3 and judge["rows_left_out"] > 5 and judge["may_have_seen_the_data"] is None
    assert search["final_data_seen"] == load(SURROGATE).expected(VISITED[6]).values[ACCURACY]
    assert judge["random"]["mean"] != numbers["random"]["mean"], "compared with what the same judge says"
    assert search["behind_random"] == pytest.approx(judge["random"]["mean"] - search["final"])
    (line,) = numbers["judges"]
    assert line == (
        f"gdas is judged by the model of {SURROGATE} fitted on {judge['fitted_on_rows']} evaluations, without the "
        f"{judge['rows_left_out']} of architectures that gdas evaluated."
    )
    printed = CliRunner().invoke(app, run)
    assert "final, data seen [%]" in printed.stdout and line in printed.stdout
    assert f"The surrogate that has seen its data says {search['final_data_seen']:.2f} %." in printed.stdout
    plain = json.loads(CliRunner().invoke(app, [*run, "--no-leave-out", "--json"]).stdout)
    assert plain["methods"][0]["searches"][0]["prediction"] == search["prediction_data_seen"]
    assert "may have seen the data of these searches" in plain["judges"][0]
