"""Zero-cost proxies judged: the published figures, invariants, what is missing, what is refused."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed import Metric, space
from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import InvalidOption, UnknownName
from nasbed.evaluation.proxies import (
    MEASURES,
    JudgedTask,
    RankedTask,
    Yardstick,
    judge_proxies,
    noise_ceiling,
    task_of,
)
from nasbed.evaluation.proxies.resampling import resampled_headlines
from nasbed.evaluation.ranking import Measure, item_bootstrap, paired_bootstrap, rbo_normalised, spearman, within_top
from nasbed.proxies.table import ScoresInfo, ScoreTable, table_of_rows
from nasbed.results import Rows, TableInfo, write_results
from support.documentation import page_path
from support.tables import TEST, VALIDATION, nb201_table

NB201 = space("nb201")
CODES = NB201.codes(list(NB201.enumerate()))


def made_task(truth: np.ndarray, **scores: np.ndarray) -> RankedTask:
    columns = {name: np.reshape(column, (len(truth), -1)).astype(float) for name, column in scores.items()}
    return RankedTask("made", TEST, "nb201", CODES[: len(truth)], np.asarray(truth, float), columns)


def judged(task: RankedTask, **options: Any) -> JudgedTask:
    return judge_proxies(task, np.random.default_rng(0), **({"resamples": 20} | options))


def number_text(value: object) -> str:
    """Every number of it; NaN is like NaN."""
    return repr(value)


@pytest.fixture(scope="module")
def truth() -> np.ndarray:
    return 90 + np.random.default_rng(1).normal(size=500)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TabularBenchmark:
    return nb201_table(tmp_path_factory.mktemp("judged") / "table", share=0.05)


def scored(codes: np.ndarray, space_name: str = "nb201", seeds: int = 2) -> ScoreTable:
    rng = np.random.default_rng(2)
    values = {"params": rng.normal(size=(len(codes), seeds)), "nwot": rng.normal(size=(len(codes), seeds))}
    return ScoreTable(
        ScoresInfo(space_name), codes, tuple(range(seeds)), values, {"nwot": np.full((len(codes), seeds), 0.5)}
    )


# --- published figures -----------------------------------------------------------------------------------------------


def test_judging_gives_the_figures_of_the_published_scores(
    published_data: Callable[[str], Path], tmp_path: Path
) -> None:
    from pyarrow import parquet

    scores = parquet.read_table(published_data("nb201_zero_cost_cifar10.parquet"))
    accuracies = parquet.read_table(published_data("nb201_test_200ep.parquet"))
    codes = [NB201.parse(text).code for text in scores["arch_str"].to_pylist()]
    proxies = [name for name in scores.column_names if name != "arch_str"]
    columns = {name: scores[name].to_numpy() for name in proxies}
    measured = np.array([NB201.parse(text).code for text in accuracies["arch_str"].to_pylist()])
    rows = Rows.of(measured, {TEST.key: accuracies["cifar10_test"].to_numpy()}, fidelity=200)
    benchmark = TabularBenchmark(
        write_results(tmp_path / "table", TableInfo("published/nb201", "nb201", (TEST,)), [rows])
    )
    task = task_of(table_of_rows(ScoresInfo("nb201"), codes, [0] * len(codes), columns), benchmark)
    assert len(task) == 9445 and task.left_out == 0 and task.repeats is None
    result = judged(task, resamples=2)
    over_all = {
        "params": 0.799,
        "synflow": 0.778,
        "jacov": 0.799,
        "nwot": 0.811,
        "snip": 0.603,
        "fisher": 0.552,
        "zen": 0.115,
    }
    assert {name: round(result.proxy(name).value("spearman"), 3) for name in over_all} == over_all
    assert round(result.proxy("params").value("top_spearman"), 3) == 0.443
    assert round(result.proxy("jacov").value("top_spearman"), 3) == -0.008
    assert result.yardstick.top == 94


# --- tasks -----------------------------------------------------------------------------------------------------------


def test_task_joins_scores_and_table(table: TabularBenchmark) -> None:
    inside = np.array(table.cache.codes[:100])
    codes = {tuple(code) for code in table.cache.codes.tolist()}
    outside = np.array([code for code in CODES.tolist() if tuple(code) not in codes][:7])
    scores = scored(np.concatenate([outside, inside[::-1]]))
    task = task_of(scores, table)
    assert task.metric == TEST and task.left_out == 7 and task.name == "generated/nb201"
    assert task.codes.tolist() == inside[::-1].tolist()
    assert task.truth == pytest.approx(table.mean_test(inside[::-1]))
    assert task.scores["nwot"].tolist() == scores.values["nwot"][7:].tolist()
    assert task.seconds["nwot"] == 0.5 and np.isnan(task.seconds["params"])
    assert task.repeats is not None and task.repeats.mean(axis=1) == pytest.approx(task.truth)
    by_validation = task_of(scores, table, metric=VALIDATION.key, name="mine")
    assert by_validation.metric == VALIDATION and by_validation.name == "mine"
    assert by_validation.truth == pytest.approx(table.expected_many(inside[::-1]).values[VALIDATION])


def test_task_negates_what_is_to_be_minimised(tmp_path: Path) -> None:
    loss = Metric("loss", split="validation", direction="minimize")
    values = np.arange(30.0)
    rows = [Rows.of(CODES[:30], {loss.key: values + seed}, fidelity=1, seed=seed) for seed in range(2)]
    benchmark = TabularBenchmark(write_results(tmp_path / "table", TableInfo("lossy", "nb201", (loss,)), rows))
    task = task_of(scored(CODES[:30]), benchmark)
    assert task.truth.tolist() == (-values - 0.5).tolist()
    assert task.repeats is not None and task.repeats.max() == 0


def test_task_refuses_what_cannot_be_joined(table: TabularBenchmark) -> None:
    codes = {tuple(code) for code in table.cache.codes.tolist()}
    outside = np.array([code for code in CODES.tolist() if tuple(code) not in codes][:7])
    with pytest.raises(InvalidOption, match="none of the 7 scored has a test_accuracy"):
        task_of(scored(outside), table)
    nb101 = space("nb101")
    with pytest.raises(InvalidOption, match="of one space, got nb101 and nb201"):
        task_of(scored(nb101.codes([nb101.sample(np.random.default_rng(0)) for _ in range(3)]), "nb101"), table)
    with pytest.raises(UnknownName, match="no metric 'test_acuracy'; did you mean test_accuracy"):
        task_of(scored(np.array(table.cache.codes[:9])), table, metric="test_acuracy")


# --- measures --------------------------------------------------------------------------------------------------------


def test_perfect_and_reversed_scores_are_the_ends(truth: np.ndarray) -> None:
    result = judged(made_task(truth, params=truth, reverse=-truth), top_percent=5)
    perfect, reverse = result.proxy("params"), result.proxy("reverse")
    ones = ("spearman", "top_spearman", "rbo", "kendall", "rbo_textbook", "precision", "recall", "best_rank", "ndcg")
    assert [perfect.value(name) for name in ones] == pytest.approx([1] * len(ones))
    assert [reverse.value(name) for name in ("spearman", "top_spearman", "kendall")] == pytest.approx([-1] * 3)
    assert reverse.value("precision") == reverse.value("recall") == 0 and reverse.value("best_rank") == 491
    assert perfect.measures["rbo"].low == pytest.approx(1) and reverse.against["rbo"].difference.estimate < -0.5


def test_only_the_order_of_scores_counts(truth: np.ndarray) -> None:
    rng = np.random.default_rng(3)
    scores = truth + rng.normal(size=len(truth))
    first, second = (judged(made_task(truth, params=column)) for column in (scores, np.exp(scores / 10)))
    for measure in MEASURES:
        assert number_text(first.proxy("params").measures[measure]) == number_text(
            second.proxy("params").measures[measure]
        )


def test_measures_are_means_over_seeds(truth: np.ndarray) -> None:
    rng = np.random.default_rng(4)
    several = truth[:, None] + rng.normal(size=(len(truth), 3))
    proxy = judged(made_task(truth, params=several)).proxy("params")
    by_seed = [spearman(truth, column) for column in several.T]
    assert proxy.seeds == 3 and proxy.value("spearman") == pytest.approx(np.mean(by_seed))
    assert proxy.measures["spearman"].std == pytest.approx(np.std(by_seed, ddof=1))
    assert np.isnan(judged(made_task(truth, params=several[:, 0])).proxy("params").measures["spearman"].std)


def test_missing_scores_come_last_and_are_counted(truth: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    scores = truth + rng.normal(size=len(truth))
    gaps = np.where(np.arange(len(truth)) % 5 == 0, np.nan, scores)
    lowest = np.where(np.isnan(gaps), scores.min() - 1, scores)
    result = judged(made_task(truth, params=gaps, lowest=lowest))
    assert result.proxy("params").missing == 100 and result.proxy("lowest").missing == 0
    for measure in MEASURES:
        assert result.proxy("params").value(measure) == result.proxy("lowest").value(measure)
    assert "params has no score for 100 architectures: ranked last" in result.notes


def test_a_seed_without_scores_is_left_out_and_reported(truth: np.ndarray) -> None:
    scores = np.stack([truth, np.full(len(truth), np.nan)], axis=1)
    result = judged(made_task(truth, params=scores, empty=np.full((len(truth), 2), np.nan)))
    params, empty = result.proxy("params"), result.proxy("empty")
    assert params.value("spearman") == 1 and (params.seeds, params.empty_seeds, params.missing) == (1, 1, 0)
    assert (empty.seeds, empty.empty_seeds, empty.missing) == (0, 2, 500)
    assert {measure.reason for measure in empty.measures.values()} == {"there is no score at all"} and not empty.against
    assert "params has no score at all with 1 of its seeds: left out" in result.notes


def test_constant_scores_have_no_correlation_and_the_overlap_of_chance(truth: np.ndarray) -> None:
    result = judged(made_task(truth, params=truth, constant=np.ones(len(truth))))
    constant = result.proxy("constant")
    for measure in ("spearman", "top_spearman", "kendall", "sparse_kendall"):
        assert np.isnan(constant.value(measure)) and constant.measures[measure].reason == "all scores are equal"
    assert constant.value("rbo") == pytest.approx(result.chance_rbo)
    assert list(constant.against) == ["rbo"]
    p, depths = result.yardstick.p, np.arange(1, 501)
    weights = p ** (depths - 1.0)
    assert result.chance_rbo == pytest.approx((weights * depths**2 / 500).sum() / (weights * depths).sum())


def test_ties_everywhere_are_no_obstacle() -> None:
    result = judged(made_task(np.ones(200), params=np.ones(200)))
    assert np.isnan(result.proxy("params").value("spearman"))
    half = judged(made_task(np.arange(200) % 2, params=np.arange(200) % 2), top_percent=10)
    assert half.proxy("params").value("spearman") == pytest.approx(1)
    assert half.proxy("params").measures["top_spearman"].reason == "all scores in the top are equal"


def test_a_small_top_is_reported(truth: np.ndarray) -> None:
    small = judged(made_task(truth[:300], params=truth[:300]))
    assert small.yardstick.top == 3 and "the top 1 % are 3 architectures: too few to say much" in small.notes
    for count, words in ((150, "a single one"), (50, "less than one")):
        result = judged(made_task(truth[:count], params=truth[:count]))
        top = result.proxy("params").measures["top_spearman"]
        assert np.isnan(top.value) and top.reason == f"the top 1 % of {count} architectures is {words}"
        assert top.reason in result.notes and result.proxy("params").value("spearman") == pytest.approx(1)
        assert (
            np.isnan(result.proxy("params").value("rbo"))
            and result.proxy("params").measures["rbo"].reason in result.notes
        )
    smallest = judged(made_task(truth[:2], params=truth[:2]))
    assert smallest.proxy("params").value("kendall") == 1


def test_negative_truth_has_no_gains(truth: np.ndarray) -> None:
    ndcg = judged(made_task(-truth, params=-truth)).proxy("params").measures["ndcg"]
    assert np.isnan(ndcg.value) and ndcg.reason.startswith("gains are at least 0")


def test_judging_refuses_bad_options(truth: np.ndarray) -> None:
    task = made_task(truth, params=truth)
    for options, words in (
        ({"top_percent": -1}, "more than 0 and at most 100 percent, got -1"),
        ({"top_percent": 101}, "at most 100"),
        ({"weight": 1}, "above 0 and below 1, got 1"),
        ({"k": 0}, "1 architecture or more, got k = 0"),
        ({"resamples": 0}, "1 resample or more, got 0"),
    ):
        with pytest.raises(InvalidOption, match=words):
            judged(task, **options)
    with pytest.raises(InvalidOption, match="2 architectures or more, scores and table share 1"):
        judged(made_task(truth[:1], params=truth[:1]))
    with pytest.raises(UnknownName, match="no scores by the baseline 'parms'; did you mean params"):
        judge_proxies(task, np.random.default_rng(0), baseline="parms")
    with pytest.raises(InvalidOption, match="nwot has"):
        RankedTask("made", TEST, "nb201", CODES[:2], np.zeros(2), {"nwot": np.zeros(2)})


# --- resamples and tests ---------------------------------------------------------------------------------------------


def test_resampled_headlines_are_those_of_the_plain_bootstrap(truth: np.ndarray) -> None:
    rng = np.random.default_rng(6)
    rough, fine = np.round(truth + rng.normal(size=len(truth))), truth + rng.normal(size=len(truth))
    stick = Yardstick.of(truth, TEST, top_percent=5, weight=0.5, k=10)
    drawn = resampled_headlines(truth, [rough, fine], stick, np.random.default_rng(7), resamples=50)
    measures: tuple[Measure, ...] = (
        spearman,
        partial(within_top, percent=5, measure=spearman, ties="index"),
        partial(rbo_normalised, p=stick.p, ties="index"),
    )
    for own, measure in zip(drawn, measures, strict=True):
        plain = item_bootstrap(truth, rough, np.random.default_rng(7), measure=measure, resamples=50)
        assert np.quantile(own[0], [0.025, 0.975]) == pytest.approx([plain.low, plain.high])
        paired = paired_bootstrap(truth, rough, fine, np.random.default_rng(7), measure=measure, resamples=50)
        assert np.quantile(own[0] - own[1], [0.025, 0.975]) == pytest.approx([paired.low, paired.high])


def test_the_question_is_whether_a_proxy_beats_the_baseline(truth: np.ndarray) -> None:
    rng = np.random.default_rng(8)
    better, params, same = (truth + noise * rng.normal(size=len(truth)) for noise in (0.3, 2.0, 2.0))
    result = judged(made_task(truth, better=better, params=params, same=same, worse=-truth), resamples=400)
    assert result.baseline == "params" and not result.proxy("params").against
    verdicts = {name: result.proxy(name).against["spearman"].verdict for name in ("better", "same", "worse")}
    assert verdicts == {"better": "better", "same": "", "worse": "worse"}
    against = result.proxy("better").against["spearman"]
    assert against.holm >= against.difference.p and against.difference.low > 0
    coarse = judged(made_task(truth, better=better, params=params, worse=-truth), resamples=50)
    assert any("no difference can be significant; use more than 80" in note for note in coarse.notes)


def test_without_params_the_best_is_the_baseline(truth: np.ndarray) -> None:
    result = judged(made_task(truth, poor=-truth, good=truth))
    assert result.baseline == "good" and any("the baseline is good" in note for note in result.notes)
    assert (
        judge_proxies(
            made_task(truth, poor=-truth, good=truth), np.random.default_rng(0), resamples=9, baseline="poor"
        ).baseline
        == "poor"
    )


def test_the_same_generator_gives_the_same_numbers(truth: np.ndarray) -> None:
    task = made_task(truth, params=np.round(truth), nwot=-truth)
    first, second = judged(task), judged(task)
    assert number_text(first) == number_text(second)


# --- the noise of the truth ------------------------------------------------------------------------------------------


def with_repeats(repeats: np.ndarray) -> RankedTask:
    truth = np.nanmean(repeats, axis=1)
    return RankedTask("made", TEST, "nb201", CODES[: len(truth)], truth, {"params": truth[:, None]}, {}, repeats)


def test_noise_ceiling_is_the_correlation_of_normal_values() -> None:
    rng = np.random.default_rng(9)
    values, spread = rng.normal(size=(8000, 1)), 0.7
    ceiling = noise_ceiling(with_repeats(90 + values + spread * rng.normal(size=(8000, 3))))
    assert ceiling is not None and (ceiling.trainings, ceiling.architectures) == (3, 8000)
    pearson = 1 / np.sqrt((1 + spread**2) * (1 + spread**2 / 2))
    assert ceiling.spearman == pytest.approx(6 / np.pi * np.arcsin(pearson / 2), abs=0.01)
    assert ceiling.top_spearman < ceiling.spearman and 0 < ceiling.rbo < 1


def test_noise_ceiling_takes_what_is_repeated() -> None:
    exact = np.repeat(90 + np.random.default_rng(10).normal(size=(400, 1)), 3, axis=1)
    exact[:100, 1:] = np.nan
    exact[100:200, 2] = np.nan
    ceiling = noise_ceiling(with_repeats(exact))
    assert ceiling is not None and ceiling.architectures == 300
    assert [ceiling.spearman, ceiling.rbo] == pytest.approx([1, 1])
    assert np.isnan(ceiling.top_spearman)  # of 3 architectures: any order of so few says nothing
    wider = noise_ceiling(with_repeats(exact), top_percent=5)
    assert wider is not None and wider.top_spearman == pytest.approx(1)
    assert noise_ceiling(made_task(exact[:, 0], params=exact[:, 0])) is None
    assert noise_ceiling(with_repeats(exact[:205])) is not None and noise_ceiling(with_repeats(exact[:105])) is None


def test_page_on_judging_proxies_prints_what_its_examples_give() -> None:
    page = page_path("proxies-evaluation")
    failed, attempted = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert attempted > 5 and not failed
