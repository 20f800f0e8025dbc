"""The methods without a model, against traces by hand, closed forms, brute force and random search."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from ConfigSpace import ConfigurationSpace
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from nasbed import space_from_configspace
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.optimizers import OPTIMIZERS, Optimizer, Problem
from nasbed.optimizers.evolution import Evolution, NonRegularizedEvolution, RegularizedEvolution
from nasbed.optimizers.local_search import LocalSearch
from nasbed.optimizers.nsga2 import NSGA2, crowding_distances, nondominated_fronts
from nasbed.optimizers.reinforce import Reinforce
from nasbed.spaces import SearchSpace, space
from nasbed.testing.optimizers import ACCURACY, PARAMETERS, conditional_space, measured, problem_on

NB201 = space("nb201")
METHODS = ("re", "nre", "ls", "de", "rl", "nsga2")


def evaluated(arch: Architecture, accuracy: float, parameters: float = 1.0) -> Observation:
    return Observation(arch, {ACCURACY: accuracy, PARAMETERS: parameters}, fidelity=36)


def additive(seed: int) -> Callable[[Architecture], float]:
    """A landscape in which each edge of an nb201 cell adds its own: 100 for the optimum, 0 for the worst."""
    parts = np.random.default_rng(seed).random((6, 5))
    low, high = parts.min(axis=1).sum(), parts.max(axis=1).sum()
    return lambda arch: float(np.clip(100 * (parts[np.arange(6), arch.code].sum() - low) / (high - low), 0, 100))


def trace(optimizer: Optimizer, accuracy: Callable[[Architecture], float], evaluations: int) -> list[Architecture]:
    archs = []
    for _ in range(evaluations):
        (proposal,) = optimizer.ask()
        archs.append(proposal.architecture)
        optimizer.tell((evaluated(proposal.architecture, accuracy(proposal.architecture)),))
    return archs


# --- evolution -------------------------------------------------------------------------------------------------------


def evolved(method: type[Evolution], accuracies: list[float]) -> tuple[Evolution, list[Architecture]]:
    """A population of three after architectures with these accuracies; tournaments so large that the best always wins."""
    optimizer = method(problem_on(NB201), np.random.default_rng(0), population_size=3, sample_size=200)
    archs = [Architecture("nb201", (index, index, 0, 0, 0, 0)) for index in range(len(accuracies))]
    optimizer.tell([evaluated(arch, accuracy) for arch, accuracy in zip(archs, accuracies, strict=True)])
    return optimizer, archs


def test_regularized_evolution_removes_the_oldest_however_good() -> None:
    optimizer, (_, _, c, d, e) = evolved(RegularizedEvolution, [90, 10, 30, 40, 5])
    assert optimizer.population == [c, d, e]
    assert optimizer.ask()[0].architecture in set(NB201.neighbors(d))


def test_non_regularized_evolution_removes_the_worst_the_newcomer_included() -> None:
    optimizer, (a, _, c, d, _) = evolved(NonRegularizedEvolution, [90, 10, 30, 40, 5])
    assert optimizer.population == [a, c, d]
    assert optimizer.ask()[0].architecture in set(NB201.neighbors(a))


def test_regularized_evolution_takes_the_age_from_the_answer_and_failures_as_worst() -> None:
    optimizer, (_, b, c) = evolved(RegularizedEvolution, [90, 10, 30])
    failed = Architecture("nb201", (4,) * 6)
    optimizer.tell((Observation(failed, status=Status.FAILED),))
    assert optimizer.population == [b, c, failed]
    assert optimizer.ask()[0].architecture in set(NB201.neighbors(c))


def test_evolution_is_random_until_the_population_is_full() -> None:
    optimizer = RegularizedEvolution(problem_on(NB201), np.random.default_rng(0), population_size=5)
    first = [proposal.architecture for proposal in optimizer.ask(9)]
    twin = np.random.default_rng(0)
    assert first == [NB201.sample(twin) for _ in range(9)]


# --- local search ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_local_search_descends_an_additive_landscape_in_one_go(seed: int) -> None:
    """A best-improvement move puts one edge right for good. The start has 24 neighbours, each later place 20 new ones."""
    accuracy = additive(seed)
    optimizer = LocalSearch(problem_on(NB201), np.random.default_rng(seed))
    archs = trace(optimizer, accuracy, 1 + 24 + 20 * 5)
    assert len(set(archs)) == len(archs)
    best = max(archs, key=accuracy)
    assert accuracy(best) == pytest.approx(100)
    wrong = sum(a != b for a, b in zip(archs[0].code, best.code, strict=True))
    assert archs.index(best) < 1 + 24 + 20 * (wrong - 1)


def test_local_search_evaluates_a_small_space_once_and_then_continues() -> None:
    tiny = conditional_space()
    archs = trace(LocalSearch(problem_on(tiny), np.random.default_rng(0)), lambda arch: 50 + sum(arch.code), 40)
    assert set(archs[: tiny.size]) == set(tiny.enumerate())


def test_local_search_waits_for_the_whole_neighbourhood() -> None:
    optimizer = LocalSearch(problem_on(NB201), np.random.default_rng(0))
    accuracy = additive(0)
    (start,) = trace(optimizer, accuracy, 1)
    near = [proposal.architecture for proposal in optimizer.ask(24)]
    assert set(near) == set(NB201.neighbors(start))
    for arch in reversed(near[1:]):
        optimizer.tell((evaluated(arch, accuracy(arch)),))
    assert optimizer.ask()[0].architecture not in set(NB201.neighbors(max(near, key=accuracy)))
    optimizer.tell((evaluated(near[0], accuracy(near[0])),))
    assert optimizer.ask()[0].architecture in set(NB201.neighbors(max(near, key=accuracy)))


STAIRS = [(1,) * step + (0,) * (6 - step) for step in range(7)]


def prefix(arch: Architecture) -> float:
    """A landscape of stairs: how many edges in a row, from the first on, have operation 1. From a stair, one neighbour of
    24 is better, the next stair, so that every local search from below climbs them one by one."""
    return float(next((place for place, choice in enumerate(arch.code) if choice != 1), 6))


def climb(**settings: Any) -> list[tuple[int, ...]]:
    """The codes that a search from the lowest stair evaluates until it finds the top."""
    optimizer = LocalSearch(problem_on(NB201), np.random.default_rng(0), **settings)
    start = optimizer.begin_with(Architecture("nb201", STAIRS[0])).architecture
    optimizer.tell((evaluated(start, prefix(start)),))
    codes = [start.code]
    while codes[-1] != STAIRS[-1]:
        codes += [arch.code for arch in trace(optimizer, prefix, 1)]
    return codes


def distance(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(left, right, strict=True))


def test_local_search_with_first_improvement_moves_before_the_neighbourhood_is_evaluated() -> None:
    """All that is evaluated between two stairs are neighbours of the lower one."""
    codes = climb(first_improvement=True)
    places = [codes.index(stair) for stair in STAIRS]
    assert places == sorted(places)
    for stair, (begin, end) in zip(STAIRS, pairwise(places), strict=False):
        assert all(distance(stair, code) == 1 for code in codes[begin + 1 : end])
    assert len(set(codes)) == len(codes)
    assert len(codes) < len(climb())


def test_local_search_without_it_evaluates_the_whole_neighbourhood_of_each_stair() -> None:
    codes = climb()
    for stair in STAIRS[:-2]:
        assert {arch.code for arch in NB201.neighbors(Architecture("nb201", stair))} <= set(codes)
    assert codes.index(STAIRS[1]) < 25 <= codes.index(STAIRS[2])


def test_local_search_with_first_improvement_moves_to_a_better_one_that_it_knows() -> None:
    optimizer = LocalSearch(problem_on(NB201), np.random.default_rng(0), first_improvement=True)
    start, known = (Architecture("nb201", STAIRS[step]) for step in (0, 1))
    optimizer.begin_with(start)
    optimizer.tell([evaluated(arch, prefix(arch)) for arch in (known, start)])
    assert distance(optimizer.ask()[0].architecture.code, known.code) == 1


@pytest.mark.parametrize("first_improvement", [False, True])
def test_local_search_begins_a_walk_at_the_best_of_its_starts(first_improvement: bool) -> None:
    """White et al. begin at the best of ten random ones."""
    optimizer = LocalSearch(problem_on(NB201), np.random.default_rng(3), starts=10, first_improvement=first_improvement)
    archs = trace(optimizer, prefix, 11)
    twin = np.random.default_rng(3)
    assert archs[:10] == [NB201.sample(twin) for _ in range(10)]
    assert distance(archs[10].code, max(archs[:10], key=prefix).code) == 1


def test_local_search_draws_new_starts_for_each_walk() -> None:
    """On stairs every walk ends at the top, once all 24 neighbours of the top are evaluated."""
    archs = trace(LocalSearch(problem_on(NB201), np.random.default_rng(3), starts=10), prefix, 250)
    top = Architecture("nb201", STAIRS[-1])
    end = 1 + max(archs.index(near) for near in NB201.neighbors(top))
    assert distance(archs[end + 10].code, max(archs[end : end + 10], key=prefix).code) == 1


def test_local_search_with_first_improvement_proposes_later_what_it_passed_over() -> None:
    """Neighbours that were queued and dropped at a move are not taken for evaluated: all of a small space is."""
    tiny = conditional_space()
    optimizer = LocalSearch(problem_on(tiny), np.random.default_rng(0), first_improvement=True)
    archs = trace(optimizer, lambda arch: 50 + sum(arch.code), 40)
    assert set(archs[: tiny.size]) == set(tiny.enumerate())


# --- differential evolution and REINFORCE ----------------------------------------------------------------------------


def best_scores(method: str, **settings: Any) -> list[float]:
    """The best of 600 evaluations on each of ten landscapes."""
    scores = []
    for seed in range(10):
        optimizer = OPTIMIZERS.get(method)(problem_on(NB201), np.random.default_rng(seed), **settings)
        accuracy = additive(seed)
        scores.append(max(map(accuracy, trace(optimizer, accuracy, 600))))
    return scores


@pytest.fixture(scope="module")
def random_scores() -> list[float]:
    return best_scores("rs")


@pytest.mark.parametrize(("name", "settings"), [("de", {}), ("rl", {"learning_rate": 2.0})])
def test_method_beats_random_search_on_a_separable_problem(
    name: str, settings: dict[str, Any], random_scores: list[float]
) -> None:
    scores = best_scores(name, **settings)
    assert mannwhitneyu(scores, random_scores, alternative="greater").pvalue < 0.01
    assert np.median(scores) == pytest.approx(100)


def test_reinforce_takes_the_step_of_the_closed_form() -> None:
    """Rewards 0.4 and 0.6: the second baseline is (0.9 · 0.1 · 0.4 + 0.1 · 0.6) / 0.19, and p = 1/5 for each option."""
    optimizer = Reinforce(problem_on(NB201), np.random.default_rng(0), learning_rate=0.1, momentum=0.9)
    optimizer.tell([evaluated(Architecture("nb201", (0,) * 6), 40), evaluated(Architecture("nb201", (3,) * 6), 60)])
    step = 0.1 * (0.6 - (0.09 * 0.4 + 0.1 * 0.6) / 0.19)
    weights = np.exp([-step / 5, -step / 5, -step / 5, step * 4 / 5, -step / 5])
    np.testing.assert_allclose(optimizer.probabilities, np.tile(weights / weights.sum(), (6, 1)), rtol=1e-12)


def test_reinforce_leaves_inactive_parameters_alone() -> None:
    tiny = conditional_space()
    optimizer = Reinforce(problem_on(tiny), np.random.default_rng(0), learning_rate=1.0)
    pools = [arch for arch in tiny.enumerate() if tiny.to_native(arch)["block"] == "pool"]
    optimizer.tell([evaluated(arch, accuracy) for arch, accuracy in zip(pools, (20, 80, 50), strict=True)])
    names = list(tiny.configspace())
    assert optimizer.probabilities[names.index("kernel")] == pytest.approx([1 / 3] * 3)
    assert optimizer.probabilities[names.index("depth")] != pytest.approx([1 / 3] * 3)


def test_reinforce_learns_from_an_objective_without_bounds_on_any_scale() -> None:
    """An objective in other units, or turned round, is the same problem."""
    runs = []
    for metric, sign, unit in (("loss", 1, 1.0), ("loss", 1, 1000.0), ("gain", -1, 1.0)):
        objective = Metric(metric, split="validation", direction="minimize" if sign > 0 else "maximize")
        optimizer = Reinforce(Problem(NB201, objective, (36,)), np.random.default_rng(0))
        archs = []
        for _ in range(50):
            arch = optimizer.ask()[0].architecture
            archs.append(arch)
            optimizer.tell((Observation(arch, {objective: sign * unit * sum(arch.code)}),))
        runs.append(archs)
    assert runs[0] == runs[1] == runs[2]


# --- NSGA-II ---------------------------------------------------------------------------------------------------------


def brute_fronts(losses: NDArray[np.float64]) -> list[list[int]]:
    remaining, fronts = set(range(len(losses))), []
    while remaining:
        front = [
            i for i in sorted(remaining)
            if not any((losses[j] <= losses[i]).all() and (losses[j] < losses[i]).any() for j in remaining)
        ]  # fmt: skip
        fronts.append(front)
        remaining -= set(front)
    return fronts


@pytest.mark.parametrize("seed", range(20))
def test_fronts_are_those_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    losses = rng.integers(6, size=(40, 2 + seed % 2)).astype(float)
    losses[rng.random(40) < 0.1] = math.inf
    assert [front.tolist() for front in nondominated_fronts(losses)] == brute_fronts(losses)


def test_crowding_never_gives_nan() -> None:
    for losses in (np.full((4, 2), math.inf), np.ones((4, 2)), np.ones((1, 2)), np.array([[1.0, 2], [2, 1]])):
        assert not np.isnan(crowding_distances(losses)).any()


def hypervolume(points: list[tuple[float, float]]) -> float:
    """The area that points (error, size), to be minimised, dominate within (100, 100)."""
    area, lowest = 0.0, 100.0
    for error, size in sorted(points):
        if size < lowest:
            area += (100 - error) * (lowest - size)
            lowest = size
    return area


def test_nsga2_grows_the_hypervolume_and_beats_random_search() -> None:
    def run(name: str, seed: int, **settings: Any) -> list[tuple[float, float]]:
        optimizer = OPTIMIZERS.get(name)(problem_on(NB201), np.random.default_rng(seed), **settings)
        accuracy, size = additive(seed), additive(seed + 1000)
        points = []
        for _ in range(400):
            arch = optimizer.ask()[0].architecture
            points.append((100 - accuracy(arch), size(arch)))
            optimizer.tell((evaluated(arch, accuracy(arch), size(arch)),))
        return points

    areas, random_areas = [], []
    for seed in range(12):
        points = run("nsga2", seed, population_size=20)
        grown = [hypervolume(points[start : start + 40]) for start in (0, 360)]
        assert grown[1] > grown[0]
        areas.append(hypervolume(points))
        random_areas.append(hypervolume(run("rs", seed)))
    assert mannwhitneyu(areas, random_areas, alternative="greater").pvalue < 0.01


def test_nsga2_front_is_of_the_metric_chosen_in_its_direction() -> None:
    speed = Metric("speed", direction="maximize")
    problem = Problem(NB201, ACCURACY, (36,), (PARAMETERS, speed))
    optimizer = NSGA2(problem, np.random.default_rng(0), second="speed", population_size=3)
    a, b, c = (Architecture("nb201", (index,) * 6) for index in range(3))
    values = ((a, 90, 1.0), (b, 80, 2.0), (c, 70, 0.5))
    optimizer.tell([Observation(arch, {ACCURACY: accuracy, speed: pace}) for arch, accuracy, pace in values])
    assert set(optimizer.front) == {a, b}


# --- all of them -----------------------------------------------------------------------------------------------------


def one_point() -> SearchSpace:
    return space_from_configspace(ConfigurationSpace({"only": 1}), "one-point")


@pytest.mark.parametrize("name", METHODS)
def test_method_continues_in_a_space_of_one_architecture(name: str) -> None:
    optimizer = OPTIMIZERS.get(name)(problem_on(one_point()), np.random.default_rng(0))
    for _ in range(250):
        optimizer.tell([measured(proposal) for proposal in optimizer.ask(3)])


@pytest.mark.parametrize("name", METHODS)
def test_method_works_where_most_vectors_are_no_architecture(name: str) -> None:
    optimizer = OPTIMIZERS.get(name)(problem_on(space("nb101")), np.random.default_rng(0))
    for _ in range(60):
        proposals = optimizer.ask(5)
        for proposal in proposals:
            space("nb101").validate(proposal.architecture)
        optimizer.tell([measured(proposal) for proposal in proposals])


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("re", {"population_size": 0}),
        ("nre", {"sample_size": 2.5}),
        ("ls", {"tries": 0}),
        ("ls", {"starts": 0}),
        ("ls", {"first_improvement": "no"}),
        ("de", {"population_size": 3}),
        ("de", {"mutation_factor": math.nan}),
        ("de", {"crossover_probability": 1.5}),
        ("rl", {"learning_rate": -1}),
        ("rl", {"momentum": "high"}),
        ("nsga2", {"second": "latency"}),
        ("nsga2", {"population_size": True}),
    ],
)
def test_settings_out_of_range_are_refused_in_one_line(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=next(iter(settings))) as error:
        OPTIMIZERS.get(name)(problem_on(NB201), np.random.default_rng(0), **settings)
    assert "\n" not in str(error.value)
