"""The statements of the paper on zero-cost benchmarks, each on data that fulfils it and on data that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from nasbed import Metric, NasbedError, space
from nasbed.evaluation.proxies import HEADLINES, NoiseCeiling, RankedTask
from nasbed.evaluation.proxies.measures import Yardstick
from nasbed.studies.zero_cost import statements
from nasbed.studies.zero_cost.reference import normal_correlation, range_reference
from nasbed.studies.zero_cost.samples import GLOBAL, RBO, TOP, SampledMeasures, sample_measures
from nasbed.studies.zero_cost.statements import FAILS, HOLDS, OPEN
from nasbed.studies.zero_cost.study import numbered, stages, zero_cost_study

ACCURACY = Metric("accuracy", split="test", unit="%", bounds=(0, 100))
NAMES = ("params", "synflow", "ntk", "snip", "jacov", "zen", "nwot", "grasp")


def ranked_task(truth: np.ndarray, scores: dict[str, np.ndarray], name: str = "generated") -> RankedTask:
    columns = {proxy: column.reshape(len(truth), -1) for proxy, column in scores.items()}
    return RankedTask(name, ACCURACY, "nb201", np.zeros((len(truth), 6), dtype=np.int64), truth, columns)


def sampled(
    truth: np.ndarray,
    scores: dict[str, np.ndarray],
    rng: np.random.Generator,
    *,
    top_percent: float = 1,
    resamples: int = 500,
    references: int = 300,
) -> SampledMeasures:
    """The measures of a task whose scores and true values are arrays."""
    task = ranked_task(truth, scores)
    yardstick = Yardstick.of(task.truth, task.metric, top_percent=top_percent, weight=0.5, k=10)
    return sample_measures(task, yardstick, rng, resamples=resamples, references=references)


def task(
    values: dict[str, tuple[float, float, float]], name: str = "a", top: int = 94, spread: float = 0.02
) -> SampledMeasures:
    """A task with these measures, and resamples that spread about them."""
    measures = np.array(list(values.values())).T
    drawn = measures[:, :, None] + spread * np.random.default_rng(0).normal(size=(*measures.shape, 200))
    reference = range_reference(np.clip(measures[0], -1, 1), 1000, 50, 0.98, np.random.default_rng(0), draws=40)
    return SampledMeasures(name, tuple(values), 9400, top, measures, drawn, reference)


def ranked(by_all: list[str], by_rbo: list[str], name: str = "a") -> SampledMeasures:
    """A task whose proxies have these orders by Spearman and by RBO, the best first."""
    values = {proxy: (0.9 - 0.1 * by_all.index(proxy), 0.1, 0.5 - 0.05 * by_rbo.index(proxy)) for proxy in by_all}
    return task(values, name, spread=0.001)


# --- measures and resamples ------------------------------------------------------------------------------------------


def test_sampled_measures_are_the_plain_ones_and_intervals_hold_them() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=800)
    scores = {"a": truth + rng.normal(size=800), "b": rng.normal(size=800)}
    measures = sampled(truth, scores, rng, top_percent=10, resamples=200, references=5)
    best = np.argsort(-truth)[:80]
    assert measures.value(GLOBAL, "a") == pytest.approx(stats.spearmanr(truth, scores["a"]).statistic)
    assert measures.value(TOP, "a") == pytest.approx(stats.spearmanr(truth[best], scores["a"][best]).statistic)
    drop = measures.drop("a")
    assert drop.estimate == pytest.approx(measures.value(GLOBAL, "a") - measures.value(TOP, "a"))
    assert drop.low < drop.estimate < drop.high and drop.low > 0
    assert measures.order(RBO) == ["a", "b"] and measures.place(RBO, "b") == 2 and measures.ahead(GLOBAL, "a", "b") == 1


def test_sampled_measures_of_several_seeds_are_their_means() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    seeds = truth[:, None] + rng.normal(size=(300, 3))
    by_seed = [
        sampled(truth, {"a": column}, np.random.default_rng(1), top_percent=10, resamples=5, references=1)
        for column in seeds.T
    ]
    together = sampled(truth, {"a": seeds}, np.random.default_rng(1), top_percent=10, resamples=5, references=1)
    np.testing.assert_allclose(together.values, np.mean([measures.values for measures in by_seed], axis=0))
    np.testing.assert_allclose(together.drawn, np.mean([measures.drawn for measures in by_seed], axis=0))


def test_sampled_refuses_a_top_of_one() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=100)
    with pytest.raises(NasbedError, match="ask for a larger --top"):
        sampled(truth, {"a": truth}, rng, top_percent=1)


# --- the reference ---------------------------------------------------------------------------------------------------


def test_reference_is_exact_at_the_ends_and_zero_without_correlation() -> None:
    reference = range_reference([1.0, 0.0, -1.0], 2000, 100, 0.99, np.random.default_rng(0), draws=200)
    assert reference.in_top(0).estimate == 1 and reference.overlap(0).estimate == pytest.approx(1)
    assert abs(reference.in_top(1).estimate) < 0.03 and reference.in_top(1).low < -0.1 < 0.1 < reference.in_top(1).high
    assert reference.in_top(2).estimate == -1


def test_reference_agrees_with_the_variance_of_a_truncated_normal() -> None:
    """Within the top share q, Pearson's correlation is r s / √(r² s² + 1 − r²), s² the variance of the truth there."""
    share, r = 0.1, 0.8
    cut = stats.norm.isf(share)
    hazard = stats.norm.pdf(cut) / share
    variance = 1 + cut * hazard - hazard**2
    expected = r * np.sqrt(variance / (r * r * variance + 1 - r * r))
    rho = 6 / np.pi * np.arcsin(r / 2)
    assert normal_correlation(rho) == pytest.approx(r)
    in_top = range_reference([rho], 5000, 500, 0.99, np.random.default_rng(0), draws=40).in_top(0)
    assert expected - 0.06 < in_top.estimate < expected  # ranks of a skewed truth lose a little
    truth, scores = np.random.default_rng(1).multivariate_normal([0, 0], [[1, r], [r, 1]], size=100_000).T
    best = np.argsort(-truth)[:10_000]
    assert in_top.estimate == pytest.approx(stats.spearmanr(truth[best], scores[best]).statistic, abs=0.025)


# --- statements ------------------------------------------------------------------------------------------------------


def test_drop_holds_where_every_proxy_falls_and_fails_where_one_does_not() -> None:
    fallen = dict.fromkeys(NAMES, (0.8, 0.2, 0.3))
    assert statements.drop_at_the_top([task(fallen)]).verdict == HOLDS
    unfallen = statements.drop_at_the_top([task(fallen | {"zen": (0.3, 0.5, 0.3)})])
    assert unfallen.verdict == FAILS and "zen" in unfallen.why and "7 of 8" in unfallen.why
    unsure = statements.drop_at_the_top([task(fallen, spread=1.0)])
    assert unsure.verdict == FAILS
    assert statements.drop_at_the_top([task(fallen, top=6)]).verdict == OPEN


def test_blindness_needs_an_excellent_proxy_and_a_top_that_differs_significantly() -> None:
    assert statements.excellent_but_blind([task({"a": (0.8, 0.0, 0.3), "b": (0.5, 0.3, 0.2)})]).verdict == HOLDS
    assert statements.excellent_but_blind([task({"a": (0.8, -0.4, 0.3)})]).verdict == HOLDS
    assert statements.excellent_but_blind([task({"a": (0.8, 0.5, 0.3)})]).verdict == FAILS
    assert (
        statements.excellent_but_blind([task({"a": (0.8, 0.1, 0.3)}, spread=0.4)]).verdict == FAILS
    )  # no significant difference
    assert statements.excellent_but_blind([task({"a": (0.6, 0.0, 0.3)})]).verdict == OPEN


def test_orders_are_very_different_only_where_they_are() -> None:
    order = list(NAMES)
    assert statements.different_orders([ranked(order, order[::-1])]).verdict == HOLDS
    assert statements.different_orders([ranked(order, order)]).verdict == FAILS
    assert statements.different_orders([ranked(order[:4], order[:4][::-1])]).verdict == OPEN


@pytest.mark.parametrize("measure", HEADLINES)
def test_best_varies_only_where_it_does_beyond_chance(measure: str) -> None:
    first, second = {"a": (0.9, 0.9, 0.9), "b": (0.5, 0.5, 0.5)}, {"a": (0.5, 0.5, 0.5), "b": (0.9, 0.9, 0.9)}
    assert statements.best_varies([task(first), task(second, "b")], measure).verdict == HOLDS
    assert statements.best_varies([task(first), task(first, "b")], measure).verdict == FAILS
    assert statements.best_varies([task(first), task(second, "b", spread=0.9)], measure).verdict == OPEN
    assert statements.best_varies([task(first)], measure).verdict == OPEN


def test_collapse_is_good_places_by_spearman_and_bad_ones_by_rbo() -> None:
    order = list(NAMES)
    fallen = [name for name in order if name not in ("params", "synflow")] + ["params", "synflow"]
    assert statements.collapse([ranked(order, fallen)]).verdict == HOLDS
    assert statements.collapse([ranked(order, order)]).verdict == FAILS
    assert statements.collapse([ranked(fallen, fallen)]).verdict == FAILS  # was never good
    split = [ranked(order, fallen), ranked(order, order, "b")]
    assert statements.collapse(split).verdict == FAILS  # on half of the tasks, not on most
    assert statements.collapse([ranked(order[1:], order[1:])]).verdict == OPEN


def test_hidden_strength_is_poor_by_spearman_and_best_by_rbo() -> None:
    without_ntk = [name for name in NAMES if name != "ntk"]
    assert statements.hidden_strength([ranked([*without_ntk, "ntk"], ["ntk", *without_ntk])]).verdict == HOLDS
    assert statements.hidden_strength([ranked(["ntk", *without_ntk], ["ntk", *without_ntk])]).verdict == FAILS
    assert statements.hidden_strength([ranked([*without_ntk, "ntk"], [*without_ntk, "ntk"])]).verdict == FAILS
    assert statements.hidden_strength([ranked(without_ntk, without_ntk)]).verdict == OPEN


def test_drop_by_range_alone_is_distinguished_from_a_deeper_one() -> None:
    """Errors that are alike everywhere drop as the reference does; a shuffled top drops further."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=3000)
    even = {str(number): truth + 0.4 * rng.normal(size=3000) for number in range(4)}
    best = truth >= np.sort(truth)[-300]
    shuffled = {name: np.where(best, 9 + rng.normal(size=3000), column) for name, column in even.items()}
    even_errors, shuffled_top = (
        sampled(truth, scores, rng, top_percent=10, resamples=100, references=60) for scores in (even, shuffled)
    )
    fair, deeper = statements.beyond_range([even_errors]), statements.beyond_range([shuffled_top])
    assert statements.drop_at_the_top([even_errors]).verdict == HOLDS
    assert fair.verdict == FAILS and deeper.verdict == HOLDS and fair.ours and deeper.ours


def test_overlap_is_as_expected_for_even_errors_and_short_where_the_best_are_missed() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=2000)
    even = {str(number): truth + 0.3 * rng.normal(size=2000) for number in range(3)}
    missed = {name: np.where(truth > 1.3, rng.normal(size=2000), column) for name, column in even.items()}
    even_errors, missed_best = (
        sampled(truth, scores, rng, top_percent=5, resamples=60, references=60) for scores in (even, missed)
    )
    assert statements.short_of_overlap([even_errors]).verdict == FAILS
    assert statements.short_of_overlap([missed_best]).verdict == HOLDS
    assert statements.short_of_overlap([task({"a": (0.1, 0.1, 0.1)})]).verdict == OPEN


def test_noise_of_the_truth_turns_on_the_ceiling() -> None:
    from dataclasses import replace

    plain = task({"a": (0.8, 0.2, 0.3)})
    for value, verdict in ((0.2, HOLDS), (0.9, FAILS)):
        with_ceiling = replace(plain, ceiling=NoiseCeiling(0.95, value, 0.8, 3, 500))
        assert statements.noisy_truth([with_ceiling]).verdict == verdict
    assert statements.noisy_truth([plain]).verdict == OPEN


# --- the study -------------------------------------------------------------------------------------------------------


def small_task(name: str, seed: int) -> RankedTask:
    nb201 = space("nb201")
    rng = np.random.default_rng(seed)
    codes = np.unique(nb201.canonical_codes(nb201.codes([nb201.sample(rng) for _ in range(400)])), axis=0)
    truth = 50 + codes.sum(axis=1) + rng.normal(size=len(codes))
    scores = {proxy: (truth + (1 + place) * rng.normal(size=len(codes)))[:, None] for place, proxy in enumerate(NAMES)}
    repeats = truth[:, None] + rng.normal(size=(len(codes), 3))
    return RankedTask(name, ACCURACY, "nb201", codes, truth, scores, repeats=repeats)


def test_study_has_every_part_and_reports_its_stages() -> None:
    tasks = [small_task("same", 0), small_task("same", 1)]
    reported: list[str] = []
    study = zero_cost_study(
        tasks,
        top_percent=10,
        rng=np.random.default_rng(0),
        resamples=50,
        references=20,
        halves=3,
        repeats=2,
        sizes=(25,),
        remarks={"same": "taken elsewhere"},
        progress=reported.append,
    )
    assert reported == stages(["same", "same"]) and [task.name for task in study.tasks] == ["same", "same (2)"]
    assert [statement.key for statement in study.statements] == [
        "S1", "S2", "S3", "S4 spearman", "S4 top spearman", "S4 rbo", "S5", "S6", "R top",
        "R rbo", "N",
    ]  # fmt: skip
    for task in study.tasks:
        assert task.few_points is not None and task.few_points.sizes == (25,) and task.remark == "taken elsewhere"
        assert set(task.combined) == {"spearman", "top", "rbo"}
        for proxy in NAMES:  # the figures and the statements rest on the same resamples
            measured = task.judged.proxy(proxy).measures[TOP]
            own = task.measures.interval(TOP, proxy)
            assert (measured.value, measured.low, measured.high) == pytest.approx((own.estimate, own.low, own.high))
    assert study.statement("N").verdict != OPEN


def test_study_of_a_small_table_leaves_few_points_out_and_none_is_refused() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=40)
    study = zero_cost_study(
        [ranked_task(truth, {"a": truth + rng.normal(size=40)})],
        top_percent=10,
        rng=rng,
        resamples=20,
        references=5,
        halves=2,
    )
    assert study.tasks[0].few_points is None and set(study.tasks[0].combined) == {"spearman"}
    with pytest.raises(NasbedError, match="1 task or more"):
        zero_cost_study([], rng=rng)
    assert numbered(["a", "a", "a"]) == ["a", "a (2)", "a (3)"]


def test_published_scores_give_the_paper_its_second_statement_and_not_its_fifth(
    published_data: Callable[[str], Path],
) -> None:
    """NAS-Bench-Suite-Zero's scores on nb201: jacov has 0.799 over all and −0.008 within the top 1 %, while params and
    synflow stay among the best by RBO."""
    from pyarrow import parquet

    scored = parquet.read_table(published_data("nb201_zero_cost_cifar10.parquet")).to_pydict()
    tested = parquet.read_table(published_data("nb201_test_200ep.parquet")).to_pydict()
    values = dict(zip(tested["arch_str"], tested["cifar10_test"], strict=True))
    truth = np.array([values[text] for text in scored.pop("arch_str")])
    scores = {name: np.array(column) for name, column in scored.items()}
    measures = sampled(truth, scores, np.random.default_rng(0), resamples=60, references=10)
    assert measures.top == 94
    assert measures.value(GLOBAL, "jacov") == pytest.approx(0.799, abs=5e-4)
    assert measures.value(TOP, "jacov") == pytest.approx(-0.008, abs=5e-4)
    assert statements.excellent_but_blind([measures]).verdict == HOLDS
    assert statements.collapse([measures]).verdict == FAILS and measures.place(RBO, "synflow") == 1
    assert statements.hidden_strength([measures]).verdict == OPEN
