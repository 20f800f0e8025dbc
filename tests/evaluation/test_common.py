"""Every public function of the package is classified by property here; a new one fails until it is."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import astuple, dataclass
from importlib import import_module
from inspect import isfunction
from typing import Any

import numpy as np
import pytest

import nasbed.evaluation
from nasbed import space
from nasbed.evaluation import expected_best as eb
from nasbed.evaluation import hypervolume as hv
from nasbed.evaluation import landscape as ls
from nasbed.evaluation import ranking as rn
from nasbed.evaluation import ranks as rk
from nasbed.evaluation import significance as sg
from nasbed.evaluation import suite as su
from nasbed.evaluation import tradeoffs as to
from nasbed.evaluation import trajectories as tr
from nasbed.evaluation.orders import agreement_over_seeds, concordance, order_agreement
from nasbed.evaluation.rank_transfer import mean_over_seeds, operation_effects, seed_reliability
from nasbed.evaluation.suite.normalising import normalised
from nasbed.evaluation.transfer import hyperparameter_transfer
from nasbed.evaluation.two_way import two_way

NB201 = space("nb201")
CODES = NB201.codes(list(NB201.enumerate()))[:391]
GRAPH = ls.neighbor_graph(NB201, CODES)
COUNT = len(CODES)


def rows(result: Any) -> list[float]:
    return np.asarray(result, dtype=float).ravel().tolist()


@dataclass(frozen=True)
class Case:
    """How to call a function with one column of values, the rows taken in some order.

    ``order_free``: the order of the rows does not matter. ``scale``: multiplying the values by 2 multiplies the result
    by 2 (1) or leaves it (0). ``shift_free``: adding a constant leaves it. ``rank_only``: so does any rising function.
    ``bounded``: it lies in [-1, 1].
    """

    call: Callable[[np.ndarray, np.ndarray], Any]
    scale: int
    order_free: bool = True
    shift_free: bool = True
    rank_only: bool = False
    bounded: bool = False


def by_method(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Values as [methods, seeds], the order applied to the seeds."""
    return values[:390].reshape(10, 39)[:, np.argsort(order[:39])]


def halves(values: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values as two methods paired by seed, the order applied to the pairs."""
    first, second = values[:390].reshape(2, 195)[:, np.argsort(order[:195])]
    return first, second


TIMES = np.arange(1.0, COUNT + 1)
OTHER = np.random.default_rng(10).normal(size=COUNT)
KEYS = np.random.default_rng(11).integers(0, 5, COUNT)

CASES = {
    "ecdf": Case(lambda v, o: ls.ecdf(v[o]).fractions, scale=0, rank_only=True, bounded=True),
    "repeat_noise": Case(
        lambda v, o: np.sort(ls.repeat_noise(v[: COUNT // 3 * 3].reshape(-1, 3)[np.argsort(o[: COUNT // 3])])), scale=1
    ),
    "mean_by": Case(lambda v, o: ls.mean_by(KEYS[o], v[o]).means, scale=1, shift_free=False),
    "pearson": Case(lambda v, o: ls.pearson(v[o], OTHER[o]), scale=0, bounded=True),
    "spearman": Case(lambda v, o: ls.spearman(v[o], OTHER[o]), scale=0, rank_only=True, bounded=True),
    "rank_correlations": Case(
        lambda v, o: ls.rank_correlations(np.stack([v, OTHER], axis=1)[o]), scale=0, rank_only=True, bounded=True
    ),
    "binned_mean": Case(
        lambda v, o: np.nan_to_num(ls.binned_mean(OTHER[o], KEYS[o], values=v[o], bins=(3, 3)).means),
        scale=1,
        shift_free=False,
    ),
    "pareto_front": Case(
        lambda v, o: np.sort(OTHER[o][ls.pareto_front(OTHER[o], v[o], direction="maximize")]), scale=0, rank_only=True
    ),
    "operation_replacement": Case(
        lambda v, o: np.nan_to_num(ls.operation_replacement(NB201, CODES[o], metric=v[o])[0].change), scale=1
    ),
    "random_walk_autocorrelation": Case(
        lambda v, o: (
            ls.random_walk_autocorrelation(
                GRAPH[o][:, o], v[o], np.random.default_rng(0), lags=5, walks=20
            ).correlations
        ),
        scale=0,
        order_free=False,
    ),
    "space_walk_autocorrelation": Case(
        lambda v, o: (
            ls.space_walk_autocorrelation(GRAPH[o][:, o], v[o], np.random.default_rng(0), lags=5, walks=20).correlations
        ),
        scale=0,
        order_free=False,
    ),
    "fitness_distance_correlation": Case(
        lambda v, o: ls.fitness_distance_correlation(NB201, CODES[o], v[o], direction="maximize").correlation,
        scale=0,
        bounded=True,
    ),
    "hyperparameter_transfer": Case(
        lambda v, o: (
            hyperparameter_transfer(v[:390].reshape(39, 10)[np.argsort(o[:39])], direction="maximize").spearman
        ),
        scale=0,
        bounded=True,
    ),
    "mean_over_seeds": Case(
        lambda v, o: np.sort(mean_over_seeds(v[:390].reshape(130, 3)[np.argsort(o[:130])])), scale=1, shift_free=False
    ),
    "seed_reliability": Case(
        lambda v, o: seed_reliability(v[:390].reshape(130, 3)[np.argsort(o[:130])]),
        scale=0,
        rank_only=True,
        bounded=True,
    ),
    "two_way": Case(lambda v, o: astuple(two_way(by_method(v, o))), scale=1),
    "value_groups": Case(
        lambda v, o: [(*group.ends, group.low, group.median) for group in ls.value_groups(KEYS[o], v[o])],
        scale=1,
        shift_free=False,
    ),
    "operation_effects": Case(lambda v, o: np.nan_to_num(operation_effects(CODES[o], v[o], range(6), 5)), scale=0),
    "incumbent": Case(lambda v, o: tr.incumbent(v[o], "maximize"), scale=1, order_free=False, shift_free=False),
    "incumbent_index": Case(
        lambda v, o: tr.incumbent_index(v[o], "maximize"), scale=0, order_free=False, rank_only=True
    ),
    "regret": Case(lambda v, o: np.sort(tr.regret(v[o], "minimize", best=v.min())), scale=1),
    "at_times": Case(
        lambda v, o: tr.at_times(TIMES, v[o], grid_s=TIMES[::7] + 0.5), scale=1, order_free=False, shift_free=False
    ),
    "bands": Case(lambda v, o: tr.bands(by_method(v, o).T).high, scale=1, shift_free=False),
    "mean_bands": Case(
        lambda v, o: tr.mean_bands(by_method(v, o).T, np.random.default_rng(0)).mean, scale=1, shift_free=False
    ),
    "area_under_curve": Case(
        lambda v, o: tr.area_under_curve(TIMES, v[o], first_s=1.0, last_s=500.0),
        scale=1,
        order_free=False,
        shift_free=False,
    ),
    "ranks": Case(lambda v, o: np.sort(rk.ranks(by_method(v, o)), axis=1), scale=0, rank_only=True),
    "concordance": Case(lambda v, o: concordance(by_method(v, o)), scale=0, rank_only=True, bounded=True),
    "order_agreement": Case(
        lambda v, o: order_agreement(v[:390].reshape(30, 13)[:, np.argsort(o[:13])]).mean(),
        scale=0,
        rank_only=True,
        bounded=True,
    ),
    "agreement_over_seeds": Case(
        lambda v, o: agreement_over_seeds(
            v[:390].reshape(10, 3, 13)[np.argsort(o[:10])], np.random.default_rng(0), splits=30
        ),
        scale=0,
        bounded=True,
    ),
    "mean_ranks": Case(
        lambda v, o: rk.mean_ranks(by_method(v, o), np.random.default_rng(0)).mean, scale=0, rank_only=True
    ),
    "wilcoxon": Case(lambda v, o: sg.wilcoxon(*halves(v, o)), scale=0, bounded=True),
    "mann_whitney": Case(lambda v, o: sg.mann_whitney(*halves(v, o)), scale=0, rank_only=True, bounded=True),
    "superiority": Case(lambda v, o: sg.superiority(*halves(v, o)), scale=0, rank_only=True, bounded=True),
    "pairwise": Case(lambda v, o: sg.pairwise(by_method(v, o)).p, scale=0, bounded=True),
    "friedman": Case(lambda v, o: sg.friedman(by_method(v, o)).statistic, scale=0, rank_only=True),
    "normalised": Case(lambda v, o: np.sort(normalised(v[o], 3.0)), scale=1, shift_free=False),
    "stratified_mean": Case(
        lambda v, o: su.stratified_mean(np.split(by_method(v, o).T[..., None][:, 0], 3), np.random.default_rng(0)).mean,
        scale=1,
        shift_free=False,
    ),
    "leave_one_out": Case(lambda v, o: np.sort(su.leave_one_out(by_method(v, o)), axis=0), scale=0, rank_only=True),
    "signed_rank_posterior": Case(
        lambda v, o: su.signed_rank_posterior(np.subtract(*halves(v, o)), np.random.default_rng(0), samples=200),
        scale=0,
        order_free=False,
        bounded=True,
    ),
    "bootstrap_interval": Case(
        lambda v, o: sg.bootstrap_interval(v[o], np.random.default_rng(0)).estimate, scale=1, shift_free=False
    ),
    "non_dominated": Case(
        lambda v, o: np.sort(OTHER[o][hv.non_dominated(np.stack([v, OTHER], axis=1)[o])]), scale=0, rank_only=True
    ),
    "hypervolume": Case(lambda v, o: hv.hypervolume(np.stack([v, OTHER], axis=1)[o], [v.max(), OTHER.max()]), scale=1),
    "cheapest_first": Case(lambda v, o: OTHER[o][to.cheapest_first(OTHER[o], v[o])], scale=0, rank_only=True),
    "expected_best": Case(
        lambda v, o: eb.expected_best(v[o], [1, 5, 50], direction="maximize").mean, scale=1, shift_free=False
    ),
    "best_quantile": Case(
        lambda v, o: eb.best_quantile(v[o], [1, 5], direction="maximize", fraction=0.3), scale=1, shift_free=False
    ),
    "kendall": Case(lambda v, o: rn.kendall(v[o], OTHER[o]), scale=0, rank_only=True, bounded=True),
    "sparse_kendall": Case(
        lambda v, o: rn.sparse_kendall(v[o], OTHER[o], precision=0.1), scale=0, rank_only=True, bounded=True
    ),
    "in_top": Case(lambda v, o: np.sort(OTHER[o][rn.in_top(v[o], percent=10)]), scale=0, rank_only=True),
    "within_top": Case(
        lambda v, o: rn.within_top(v[o], OTHER[o], percent=10, measure=rn.spearman),
        scale=0,
        rank_only=True,
        bounded=True,
    ),
    "overlaps": Case(lambda v, o: rn.overlaps(v[o], KEYS[o]), scale=0, rank_only=True),
    "rbo_counted": Case(lambda v, o: rn.rbo_counted(v[o], KEYS[o], p=0.9), scale=0, rank_only=True),
    "rbo_normalised": Case(lambda v, o: rn.rbo_normalised(v[o], KEYS[o], p=0.9), scale=0, rank_only=True, bounded=True),
    "rbo_truncated": Case(
        lambda v, o: rn.rbo_truncated(v[o], KEYS[o], p=0.9, depth=50), scale=0, rank_only=True, bounded=True
    ),
    "rbo_extrapolated": Case(
        lambda v, o: rn.rbo_extrapolated(v[o], KEYS[o], p=0.9, depth=50), scale=0, rank_only=True, bounded=True
    ),
    "precision_at": Case(
        lambda v, o: rn.precision_at(v[o], KEYS[o], k=9, best=30), scale=0, rank_only=True, bounded=True
    ),
    "recall_at": Case(lambda v, o: rn.recall_at(v[o], KEYS[o], k=9, best=30), scale=0, rank_only=True, bounded=True),
    "best_rank_at": Case(lambda v, o: rn.best_rank_at(v[o], KEYS[o], k=9), scale=0, rank_only=True),
    "ndcg_at": Case(lambda v, o: rn.ndcg_at(KEYS[o], v[o], k=9), scale=0, rank_only=True, bounded=True),
    "item_bootstrap": Case(
        lambda v, o: rn.item_bootstrap(v[o], OTHER[o], np.random.default_rng(0), resamples=9).estimate,
        scale=0,
        rank_only=True,
        bounded=True,
    ),
    "paired_bootstrap": Case(
        lambda v, o: rn.paired_bootstrap(v[o], OTHER[o], KEYS[o], np.random.default_rng(0), resamples=9).estimate,
        scale=0,
        rank_only=True,
    ),
    "compare_spearman": Case(lambda v, o: rn.compare_spearman(v[o], OTHER[o], KEYS[o]).t, scale=0, rank_only=True),
}

NO_VALUES = {
    "volume_by_distance": "counts of encodings, tested in test_locality",
    "time_grid": "times alone, tested in test_trajectories",
    "judge": "puts trajectories together from runs, tested in test_summary",
    "best_validation": "a number of a benchmark, tested in test_summary",
    "paired": "values in another form",
    "unpaired": "values in another form",
    "holm": "p-values to p-values, tested in test_significance",
    "critical_difference": "a number of counts, tested in test_significance",
    "cliques": "groups of ranks, tested in suite/test_benchmark_statistics",
    "random_regret": "a number of a benchmark, tested in suite/test_suite_summary",
    "summarise_suite": "puts the functions above together, tested in suite/test_suite_summary",
    "evaluation_numbers": "counts of a trajectory, tested in suite/test_suite_summary",
    "by_seed": "values of trajectories in another form, tested in suite/test_suite_summary",
    "repeat_weights": "chances of a table's cells, tested in test_expected_best",
    "summarise": "puts the functions above together, tested in test_summary",
    "tradeoffs": "puts fronts together from runs, tested in test_tradeoffs",
    "repeated_share": "a count over a run's codes, tested in test_tradeoffs",
    "remarks_on": "sentences on runs, tested in tests/cli/test_remarks",
    "failed_share": "a count over a run's states, tested in tests/cli/test_run_commands",
    "marked_seeds": "seeds of runs, tested in tests/cli/test_run_commands",
    "percent": "a number as text",
    "run_remarks": "remarks_on with what it needs from runs, tested in tests/experiments/test_partial_tables",
    "failed_evaluations": "a count over runs' states, tested in tests/experiments/test_partial_tables",
    "neighbor_graph": "a graph of codes, tested in test_locality",
    "edit_distances": "distances between codes, tested in test_locality",
    "regret_of": "a column of a trajectory",
    "final_regrets": "last values of trajectories",
    "anytime": "puts trajectories and bands together, tested in test_generalisation",
    "checked_columns": "columns as they are, or an error, tested in test_ranking_errors",
    "checked_depth": "a number as it is, or an error, tested in test_ranking_errors",
    "checked_ties": "a name as it is, or an error, tested in test_ranking_errors",
    "rank_ranges": "ranks in another form, tested through overlaps",
    "ranks_of": "ranks in another form, tested through overlaps",
    "top_count": "a number of counts, tested in test_rank_correlations",
    "top_weight": "a number of counts, tested in test_persistence",
    "persistence_for": "a number of counts, tested in test_persistence",
    "corrected_spearman": "NaN for values that are noise alone, tested in test_rank_transfer",
    "rank_transfer": "puts rankings of several datasets together, tested in test_rank_transfer",
    "williams": "a number of correlations, tested in test_rank_bootstrap",
}


def public_functions() -> set[str]:
    """Those of all modules but the judging of proxies, which puts them together and is tested by itself."""
    covered = set()
    for module in pkgutil.walk_packages(nasbed.evaluation.__path__, "nasbed.evaluation."):
        if module.name.startswith("nasbed.evaluation.proxies"):
            continue
        for name, thing in vars(import_module(module.name)).items():
            if isfunction(thing) and not name.startswith("_") and thing.__module__ == module.name:
                covered.add(name)
    return covered


def test_every_public_function_is_classified_once() -> None:
    assert public_functions() == set(CASES) | set(NO_VALUES)
    assert not set(CASES) & set(NO_VALUES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_function_has_the_properties_it_is_classified_by(name: str) -> None:
    case = CASES[name]
    rng = np.random.default_rng(12)
    values = rng.normal(size=COUNT)
    order, another = np.arange(COUNT), rng.permutation(COUNT)
    result = rows(case.call(values, order))
    assert np.isfinite(result).all()
    assert rows(case.call(2 * values, order)) == pytest.approx([2**case.scale * value for value in result], abs=1e-9)
    assert (rows(case.call(values, another)) == pytest.approx(result, abs=1e-9)) == case.order_free
    assert (rows(case.call(values + 3, order)) == pytest.approx(result, abs=1e-9)) == case.shift_free
    assert (rows(case.call(np.exp(values), order)) == pytest.approx(result, abs=1e-9)) == case.rank_only
    if case.bounded:
        assert max(np.abs(result)) <= 1 + 1e-12


@pytest.mark.parametrize("function", [ls.pearson, ls.spearman])
def test_correlation_is_symmetric_and_changes_sign_with_one_side(function: Callable[[Any, Any], float]) -> None:
    x, y = np.random.default_rng(13).normal(size=(2, 100))
    assert function(x, y) == pytest.approx(function(y, x))
    assert function(x, -y) == pytest.approx(-function(x, y))
    assert function(x, x) == pytest.approx(1.0)
