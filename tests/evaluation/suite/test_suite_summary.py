"""A suite of made-up runs on a benchmark whose every value is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from nasbed import NasbedError, space
from nasbed.evaluation.suite import SuiteSummary, summarise_suite
from nasbed.experiments.runs import Run
from nasbed.experiments.suites import BenchmarkRuns, SuiteRuns
from nasbed.reports.suite.tables import benchmark_table
from nasbed.reports.suite.words import remarks_of, suite_verdict
from support.runs import Formula, runs_of, search
from support.tables import TEST, additive

SEEDS = 8
GREEDS = ((0.0, 0.97, 0.5), (0.2, 0.97, 0.6), (0.0, 0.97, 0.4))
METHODS = ("rs", "best", "middle")
ALL_VALUES = additive(space("nb201").codes(list(space("nb201").enumerate())))


def made_up(runs_by_benchmark: list[list[Run]], judged_by: str = "test") -> SuiteRuns:
    parts = [BenchmarkRuns(f"formula-{i}", Formula(TEST), runs_of(runs)) for i, runs in enumerate(runs_by_benchmark)]
    return SuiteRuns("made up", judged_by, parts, {})


def runs_on(place: int) -> list[Run]:
    return [
        search(method, 100 * place + seed, greed=greed)
        for method, greed in zip(METHODS, GREEDS[place], strict=True)
        for seed in range(SEEDS)
    ]


RUNS = [[replace(run, seed=run.seed % 100) for run in runs_on(place)] for place in range(3)]


@pytest.fixture(scope="module")
def summary() -> SuiteSummary:
    return summarise_suite(made_up(RUNS), np.random.default_rng(0), resamples=200)


def test_methods_that_tie_everywhere_share_the_first_place_and_the_bold() -> None:
    rs = [[run for run in runs if run.method == "rs"] for runs in RUNS]
    twins = [[*runs, *(replace(run, method="twin") for run in runs)] for runs in rs]
    for seeds in (2, SEEDS):
        tied = summarise_suite(
            made_up([[run for run in runs if run.seed < seeds] for runs in twins]),
            np.random.default_rng(0),
            resamples=9,
        )
        assert "rs and twin share the best mean rank, 1.5 of 2." in suite_verdict(tied)
        table, bold = benchmark_table(tied)
        assert bold == {(row, column) for row in range(len(table.rows)) for column in (1, 2)}


def final_regret(run: Run) -> float:
    """Recomputed plainly: the test value of the architecture with the best validation value."""
    return float(ALL_VALUES.max() - additive(run.codes[np.nanargmax(run.value)][None])[0])


def test_scale_is_the_median_regret_of_the_whole_space(summary: SuiteSummary) -> None:
    exact = float(np.median(ALL_VALUES.max() - ALL_VALUES))
    for benchmark in summary.benchmarks:
        assert benchmark.scale == pytest.approx(exact, rel=0.05)


def test_normalised_regrets_are_final_regrets_over_the_scale(summary: SuiteSummary) -> None:
    for benchmark, runs in zip(summary.benchmarks, RUNS, strict=True):
        for method, loss in zip(summary.methods, benchmark.losses, strict=True):
            finals = [final_regret(run) for run in runs if run.method == method]
            assert loss == pytest.approx(np.mean(finals) / benchmark.scale)
    for method, row in zip(summary.methods, summary.losses, strict=True):
        assert summary.final_regret(method).estimate == pytest.approx(row.mean())


def test_tests_over_benchmarks_are_scipys(summary: SuiteSummary) -> None:
    expected = stats.friedmanchisquare(*summary.losses)
    assert (summary.friedman.statistic, summary.friedman.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert summary.mean_ranks == pytest.approx(stats.rankdata(summary.losses, axis=0).mean(axis=1))


def test_better_method_stands_first_and_wins(summary: SuiteSummary) -> None:
    assert summary.standings()[0] == "best"
    won, tied, lost = summary.record("best", "rs")
    assert (won, lost) == (3, 0) and won + tied + lost == len(summary.benchmarks)
    assert summary.record("rs", "best") == (0, 0, 3)
    assert summary.posteriors["rs", "best"].worse > 0.9
    assert summary.final_rank("best").estimate < min(summary.final_rank(name).estimate for name in ("rs", "middle"))


def test_ranks_at_every_share_of_the_budget_add_up(summary: SuiteSummary) -> None:
    together = sum(summary.rank[method].mean for method in summary.methods)
    assert together == pytest.approx(np.full(len(summary.shares), 1 + 2 + 3))
    assert (summary.shares[0], summary.shares[-1]) == (0.01, 1.0)


def test_curve_has_the_regret_after_so_many_evaluations(summary: SuiteSummary) -> None:
    """Half of 40 evaluations are the first 20."""
    at = int(np.searchsorted(summary.shares, 0.5))
    evaluations = int(np.floor(summary.shares[at] * 40 + 1e-9))
    run = RUNS[0][0]
    first = replace(run, codes=run.codes[:evaluations], value=run.value[:evaluations])
    assert summary.benchmarks[0].curves[0][0, at] == pytest.approx(final_regret(first) / summary.benchmarks[0].scale)


def test_broken_runs_rank_last_and_are_left_out_of_means() -> None:
    broken = [replace(run, error="ValueError: x") if run.method == "best" and run.seed < 5 else run for run in RUNS[0]]
    result = summarise_suite(made_up([broken, RUNS[1]]), np.random.default_rng(0), resamples=20)
    place = result.methods.index("best")
    assert np.isinf(result.benchmarks[0].losses[place])
    kept = [final_regret(run) for run in broken if run.method == "best" and not run.error]
    expected = np.mean([np.mean(kept) / result.benchmarks[0].scale, result.benchmarks[1].losses[place]])
    assert result.final_regret("best").estimate == pytest.approx(expected)


def test_method_with_few_seeds_costs_the_others_none_of_theirs(summary: SuiteSummary) -> None:
    """Means are over the seeds of each method, tests over those that two methods share, ranks over those of all."""
    few = [[run for run in runs if run.method != "rs" or run.seed < 2] for runs in RUNS]
    result = summarise_suite(made_up(few), np.random.default_rng(0), resamples=20)
    for benchmark, same, runs in zip(result.benchmarks, summary.benchmarks, few, strict=True):
        finals = [final_regret(run) for run in runs if run.method == "rs"]
        assert benchmark.losses[0] == pytest.approx(np.mean(finals) / benchmark.scale)
        assert benchmark.losses[1:] == pytest.approx(same.losses[1:])
        assert benchmark.summary.p[1, 2] == same.summary.p[1, 2] < 0.05
        assert benchmark.summary.p[0, 1] == pytest.approx(0.5), "two pairs of equal sign"
        assert (benchmark.common.shape[1], benchmark.summary.paired_seeds) == (2, SEEDS)
    assert result.record("best", "middle") == summary.record("best", "middle")
    assert "rs has 2 seeds, the other methods have 8 seeds." in remarks_of(result)[0]


def test_methods_without_runs_on_some_benchmark_are_omitted_and_named() -> None:
    fewer = [run for run in RUNS[1] if run.method != "middle"]
    result = summarise_suite(made_up([RUNS[0], fewer]), np.random.default_rng(0), resamples=20)
    assert (result.methods, list(result.omitted)) == (("rs", "best"), ["middle"])
    with pytest.raises(NasbedError, match="got no such method"):
        summarise_suite(made_up([fewer, [search("other", 0)]]), np.random.default_rng(0))


def test_method_that_broke_in_every_run_did_not_take_part(summary: SuiteSummary) -> None:
    broken = [
        [*runs, *(replace(run, method="bad", error="ValueError: no") for run in runs if run.method == "rs")]
        for runs in RUNS
    ]
    result = summarise_suite(made_up(broken), np.random.default_rng(0), resamples=20)
    assert result.methods == METHODS and result.mean_ranks.tolist() == summary.mean_ranks.tolist()
    assert "bad is left out: none of its runs finished, ValueError: no." in remarks_of(result)
    half = [broken[0], *([*runs, *(replace(run, method="bad") for run in runs[:SEEDS])] for runs in RUNS[1:])]
    assert "bad" in summarise_suite(made_up(half), np.random.default_rng(0), resamples=20).methods


def test_suite_can_be_judged_by_what_methods_saw() -> None:
    result = summarise_suite(made_up(RUNS, judged_by="validation"), np.random.default_rng(0), resamples=20)
    run = next(run for run in RUNS[0] if run.method == "rs")
    best = max(float(np.nanmax(other.value)) for other in RUNS[0])
    assert result.benchmarks[0].curves[0][0, -1] * result.benchmarks[0].scale == pytest.approx(best - run.value.max())
