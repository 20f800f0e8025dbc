"""COMBO's parts against networkx, scipy's matrix exponential and dense formulas; the whole against random search."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from ConfigSpace import (
    CategoricalHyperparameter,
    ConfigurationSpace,
    EqualsCondition,
    Float,
    Integer,
    OrdinalHyperparameter,
)
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.stats import gamma, kstest, norm, wilcoxon

from nasbed import Architecture, Observation, Status, space
from nasbed.core.errors import InvalidOption
from nasbed.optimizers import OPTIMIZERS, Optimizer, Problem
from nasbed.optimizers.combo import COMBO
from nasbed.optimizers.models.choice_graphs import ChoiceGraph, ChoiceGraphs
from nasbed.optimizers.models.diffusion_gp import JITTER, Hyperparameters, Posterior, sweep
from nasbed.optimizers.models.slice_sampling import slice_sample
from nasbed.spaces.from_configspace import space_from_configspace
from nasbed.testing import OptimizerConformance
from nasbed.testing.optimizers import ACCURACY, conditional_space, measured, problem_on

Floats = NDArray[np.float64]
SMALL: dict[str, Any] = {"initial": 10, "burn_in": 3, "samples": 2, "starts": 4, "candidates": 20}


@pytest.mark.thorough
class TestCombo(OptimizerConformance):
    """With twice the evaluations that it has among all methods."""

    def make_optimizer(self, problem: Problem, rng: np.random.Generator) -> Optimizer:
        return COMBO(problem, rng, **SMALL)


# --- the kernel ------------------------------------------------------------------------------------------------------


def by_networkx(graph: ChoiceGraph) -> nx.Graph:
    """The graph described by its size and kind, built apart from its Laplacian."""
    options = graph.size - graph.gap
    joined = nx.path_graph(options) if graph.path else nx.complete_graph(options)
    if graph.gap:
        joined.add_edges_from((options, option) for option in range(options))
    return joined


GRAPHS = [
    ChoiceGraph(2),
    ChoiceGraph(5),
    ChoiceGraph(4, gap=True),
    ChoiceGraph(4, path=True),
    ChoiceGraph(5, path=True, gap=True),
    ChoiceGraph(2, path=True, gap=True),
]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("beta", [1e-4, 0.3, 2.0])
def test_choice_graph_kernel_is_the_matrix_exponential(graph: ChoiceGraph, beta: float) -> None:
    laplacian = nx.laplacian_matrix(by_networkx(graph), nodelist=range(graph.size)).toarray().astype(float)
    dense = expm(-beta * laplacian)
    np.testing.assert_allclose(graph.kernel(beta), dense / dense.diagonal().mean(), atol=1e-12)


def test_kernel_of_a_product_graph_is_the_product_of_kernels() -> None:
    """The Laplacian of networkx's Cartesian product, each graph's edges weighted by its own beta."""
    parts = [(ChoiceGraph(3), 0.4), (ChoiceGraph(4, path=True), 0.1), (ChoiceGraph(2), 1.5)]
    product = nx.Graph()
    product.add_node(())
    for graph, beta in parts:
        part = by_networkx(graph)
        nx.set_edge_attributes(part, beta, "weight")
        joined = nx.cartesian_product(product, part)
        product = nx.relabel_nodes(joined, {node: (*node[0], node[1]) for node in joined})
    rows = np.array(sorted(product), dtype=np.int64)
    dense = expm(-nx.laplacian_matrix(product, nodelist=[tuple(row) for row in rows.tolist()]).toarray())
    product_kernel = np.ones_like(dense)
    for (graph, beta), column in zip(parts, rows.T, strict=True):
        product_kernel *= graph.kernel(beta)[np.ix_(column, column)]
    np.testing.assert_allclose(product_kernel, dense / dense.diagonal().mean(), atol=1e-12)


def test_choice_graphs_of_all_kinds_of_parameters() -> None:
    source = ConfigurationSpace(name="mixed")
    kind = CategoricalHyperparameter("kind", ["a", "b", "c"])
    source.add(
        kind,
        OrdinalHyperparameter("order", [8, 4, 2]),
        narrow := Integer("few", (1, 4), log=True),
        Integer("many", (0, 1000)),
        Float("rate", (1e-4, 1.0), log=True),
        EqualsCondition(narrow, kind, "b"),
    )
    mixed = space_from_configspace(source, "mixed")
    choices = ChoiceGraphs(mixed)
    assert dict(zip(source, choices.graphs, strict=True)) == {
        "kind": ChoiceGraph(3),
        "order": ChoiceGraph(3, path=True),
        "few": ChoiceGraph(5, path=True, gap=True),
        "many": ChoiceGraph(17, path=True),
        "rate": ChoiceGraph(17, path=True),
    }
    configs: list[dict[str, Any]] = [
        {"kind": "b", "order": 4, "few": 3, "many": 1000, "rate": 0.01},
        {"kind": "c", "order": 2, "many": 500, "rate": 1e-4},
    ]
    rows = choices.vertices([mixed.from_config(config) for config in configs]).tolist()
    assert [dict(zip(source, row, strict=True)) for row in rows] == [
        {"kind": 1, "order": 1, "few": 2, "many": 16, "rate": 8},
        {"kind": 2, "order": 2, "few": 4, "many": 8, "rate": 0},
    ]


@pytest.mark.parametrize("name", ["nb101", "nb201", "darts", "fbnet", "transnas-macro"])
def test_vertices_tell_all_architectures_apart(name: str) -> None:
    where, rng = space(name), np.random.default_rng(0)
    choices = ChoiceGraphs(where)
    archs = list(dict.fromkeys(where.sample(rng) for _ in range(300)))
    rows = choices.vertices(archs)
    assert len(np.unique(rows, axis=0)) == len(archs)
    assert (rows < [graph.size for graph in choices.graphs]).all()


# --- the process -----------------------------------------------------------------------------------------------------

PARTS = (ChoiceGraph(3), ChoiceGraph(4, path=True), ChoiceGraph(3, gap=True))
HYPERPARAMETERS = Hyperparameters(mean=0.3, log_amplitude=0.5, log_noise=-2.0, log_betas=(-1.0, 0.2, -3.0))


def kernel(left: NDArray[np.int64], right: NDArray[np.int64]) -> Floats:
    values = np.full((len(left), len(right)), math.exp(HYPERPARAMETERS.log_amplitude))
    for graph, log_beta, a, b in zip(PARTS, HYPERPARAMETERS.log_betas, left.T, right.T, strict=True):
        values *= graph.kernel(math.exp(log_beta))[np.ix_(a, b)]
    return values


def test_posterior_is_that_of_the_dense_formula() -> None:
    """Conditioning a joint normal by the inverse; pending rows first given their own expectation as targets."""
    rng = np.random.default_rng(0)
    rows, fresh = (rng.integers((3, 4, 3), size=(count, 3)) for count in (15, 8))
    targets = rng.standard_normal(12)
    extra = JITTER * math.exp(HYPERPARAMETERS.log_amplitude)

    def condition(observed: NDArray[np.int64], values: Floats, queried: NDArray[np.int64]) -> tuple[Floats, Floats]:
        weights = kernel(queried, observed) @ np.linalg.inv(
            kernel(observed, observed) + (math.exp(HYPERPARAMETERS.log_noise) + extra) * np.eye(len(observed))
        )
        spread = kernel(queried, queried) + extra * np.eye(len(queried)) - weights @ kernel(observed, queried)
        return HYPERPARAMETERS.mean + weights @ (values - HYPERPARAMETERS.mean), spread.diagonal()

    expected, _ = condition(rows[:12], targets, rows[12:])
    mean, variance = condition(rows, np.concatenate([targets, expected]), fresh)
    predicted = Posterior(PARTS, HYPERPARAMETERS, rows, targets).predict(fresh)
    np.testing.assert_allclose(predicted[0], mean, atol=1e-9)
    np.testing.assert_allclose(predicted[1], variance, atol=1e-9)


@pytest.mark.parametrize(
    ("law", "log_density", "start", "low", "high"),
    [
        (norm(), lambda value: -0.5 * value**2, 3.0, -12, 12),
        (gamma(2.5), lambda value: 1.5 * math.log(value) - value, 0.1, 0, 60),
        (gamma(0.8), lambda value: -0.2 * math.log(value) - value, 20.0, 0, 60),
    ],
)
def test_slice_sampler_draws_from_the_density(
    law: Any, log_density: Callable[[float], float], start: float, low: float, high: float
) -> None:
    rng, draws = np.random.default_rng(1), [start]
    for _ in range(12_000):
        draws.append(slice_sample(log_density, draws[-1], low=low, high=high, rng=rng))
    settled = np.array(draws[50:])
    assert settled.mean() == pytest.approx(law.mean(), abs=0.08)
    assert settled.std() == pytest.approx(law.std(), rel=0.05)
    assert kstest(settled[::20], law.cdf).pvalue > 0.01


def test_sweeps_draw_from_the_posterior_of_a_beta() -> None:
    """One graph; the marginal of log beta by brute force on a grid over the other three hyperparameters."""
    rng = np.random.default_rng(0)
    graph, rows = ChoiceGraph(4), np.tile(np.arange(4), 5)[:, None]
    targets = np.array([-1.2, -0.4, 0.5, 1.1])[rows[:, 0]] + 0.3 * rng.standard_normal(20)
    targets = (targets - targets.mean()) / targets.std()
    state, draws = Hyperparameters.start([graph]), []
    for step in range(1600):
        state = sweep([graph], state, rows, targets, rng)
        if step >= 100:
            draws.append((state.log_betas[0], state.log_noise))
    low, high = targets.min(), targets.max()
    means = np.linspace(low, high, 13)
    amplitudes, noises, betas = np.linspace(-12, math.log(1e4), 40), np.linspace(-4, 3, 36), np.linspace(-12, 4.6, 50)
    mean_prior = norm.pdf(means, (low + high) / 2, (high - low) / 4)
    amplitude_prior = norm.pdf(amplitudes, math.log((1 + 3 * math.exp(-4)) / 4) + 2, 1)
    mass = np.zeros((len(betas), len(noises)))
    for (i, beta), (j, noise) in itertools.product(enumerate(betas), enumerate(noises)):
        prior = math.log(1 + 50 / math.exp(2 * beta)) * math.log(1 + 0.01 / math.exp(2 * noise))
        part = graph.kernel(math.exp(beta))[np.ix_(rows[:, 0], rows[:, 0])]
        values, vectors = np.linalg.eigh(part)
        scales = np.exp(amplitudes)[:, None] * (np.maximum(values, 0) + JITTER) + math.exp(noise)
        turned = (vectors.T @ (targets[:, None] - means)) ** 2
        logs = -0.5 * ((1 / scales) @ turned + np.log(scales).sum(axis=1)[:, None])
        mass[i, j] = prior * (np.exp(logs) * amplitude_prior[:, None] * mean_prior).sum()
    for axis, grid in ((0, betas), (1, noises)):
        chances = mass.sum(axis=1 - axis) / mass.sum()
        expected = chances @ grid
        spread = math.sqrt(chances @ (grid - expected) ** 2)
        drawn = np.array(draws)[:, axis]
        assert drawn.mean() == pytest.approx(expected, abs=0.25 * spread)
        assert drawn.std() == pytest.approx(spread, rel=0.25)


def test_sweeps_find_which_choices_matter() -> None:
    """Options that differ have the smallest beta of their kind: diffusion makes those of the others alike."""
    rng = np.random.default_rng(0)
    graphs = [ChoiceGraph(3)] * 3 + [ChoiceGraph(4, path=True)] * 3
    rows = rng.integers([graph.size for graph in graphs], size=(80, 6))
    targets = np.array([0.0, 3.0, 1.0])[rows[:, 1]] + rows[:, 4]
    targets = (targets - targets.mean()) / targets.std()
    state, draws = Hyperparameters.start(graphs), []
    for step in range(90):
        state = sweep(graphs, state, rows, targets, rng)
        if step >= 30:
            draws.append(state.log_betas)
    middle = np.median(draws, axis=0)
    assert np.argmin(middle[:3]) == 1
    assert np.argmin(middle[3:]) == 1


# --- the method ------------------------------------------------------------------------------------------------------


def run(
    optimizer: Optimizer, score: Callable[[Architecture], float], count: int, *, batch: int = 1
) -> list[Architecture]:
    archs: list[Architecture] = []
    while len(archs) < count:
        for proposal in optimizer.ask(batch):
            archs.append(proposal.architecture)
            optimizer.tell([Observation(proposal.architecture, {ACCURACY: score(proposal.architecture)}, 36)])
    return archs


@pytest.mark.thorough
def test_combo_beats_random_search_on_categories_and_orders() -> None:
    """12 additive landscapes with an interaction over 12 288 configurations, 50 evaluations each."""
    source = ConfigurationSpace(name="mixed")
    source.add(*(CategoricalHyperparameter(f"c{index}", [0, 1, 2, 3]) for index in range(4)))
    source.add(*(OrdinalHyperparameter(f"o{index}", list(range(size))) for index, size in enumerate((8, 6))))
    mixed = space_from_configspace(source, "mixed")

    def best(method: str, seed: int, **settings: Any) -> float:
        rng = np.random.default_rng(seed)
        gains, peaks, pair = rng.random((4, 4)), rng.random(2), rng.random((4, 4))

        def score(arch: Architecture) -> float:
            code = dict(mixed.to_config(arch))
            total = sum(gains[index, code[f"c{index}"]] for index in range(4)) + pair[code["c0"], code["c1"]]
            total -= abs(code["o0"] / 7 - peaks[0]) + abs(code["o1"] / 5 - peaks[1])
            return float(50 + 10 * total)

        optimizer = OPTIMIZERS.get(method)(problem_on(mixed), np.random.default_rng(seed + 100), **settings)
        return max(map(score, run(optimizer, score, 50)))

    settings = {"initial": 15, "burn_in": 3, "samples": 1, "starts": 3, "candidates": 30}
    scores = [best("combo", seed, **settings) for seed in range(12)]
    assert wilcoxon(scores, [best("rs", seed) for seed in range(12)], alternative="greater").pvalue < 0.001


def test_combo_is_random_until_the_initial_design_has_ended() -> None:
    """However many have been asked for, as in appendix C.3 of the Surrogate NAS Benchmarks."""
    nb201 = space("nb201")
    optimizer = COMBO(problem_on(nb201), np.random.default_rng(0), **SMALL)
    first = optimizer.ask(25)
    twin = np.random.default_rng(0)
    assert [proposal.architecture for proposal in first] == [nb201.sample(twin) for _ in range(25)]
    optimizer.tell([measured(proposal) for proposal in first[:9]])
    assert optimizer.ask()[0].architecture == nb201.sample(twin)
    optimizer.tell([measured(first[9])])
    assert optimizer.ask()[0].architecture != nb201.sample(twin)


def test_combo_spreads_what_is_pending() -> None:
    """A batch holds no architecture twice, and not only the incumbent's neighbours."""
    nb201 = space("nb201")
    optimizer = COMBO(problem_on(nb201), np.random.default_rng(0), **SMALL)
    evaluated = optimizer.ask(40)
    optimizer.tell([measured(proposal) for proposal in evaluated])
    batch = [proposal.architecture for proposal in optimizer.ask(8)]
    assert len({*batch, *(proposal.architecture for proposal in evaluated)}) == 48


def test_combo_takes_failures_as_the_worst_and_avoids_their_like() -> None:
    """Cells with operation 4 on the first edge fail."""
    nb201 = space("nb201")
    optimizer = COMBO(problem_on(nb201), np.random.default_rng(0), **{**SMALL, "initial": 30})
    archs = []
    for _ in range(60):
        arch = optimizer.ask()[0].architecture
        archs.append(arch)
        failed = Observation(arch, status=Status.FAILED)
        good = Observation(arch, {ACCURACY: 90.0 - sum(arch.code[1:])}, 36)
        optimizer.tell([failed if arch.code[0] == 4 else good])
    assert sum(arch.code[0] == 4 for arch in archs[:30]) >= 3
    assert sum(arch.code[0] == 4 for arch in archs[-20:]) <= 1


def test_combo_lists_a_space_smaller_than_the_run() -> None:
    tiny = conditional_space()
    optimizer = COMBO(problem_on(tiny), np.random.default_rng(0), **{**SMALL, "initial": 5})
    archs = run(optimizer, lambda arch: 50.0 + sum(arch.code), 25)
    assert set(archs[: tiny.size]) == set(tiny.enumerate())


def test_combo_continues_in_a_space_of_one_architecture() -> None:
    only = space_from_configspace(ConfigurationSpace({"only": 1}), "one-point")
    scores = iter(range(30))
    optimizer = COMBO(problem_on(only), np.random.default_rng(0), **{**SMALL, "initial": 2})
    assert len(set(run(optimizer, lambda arch: float(next(scores)), 12))) == 1


@pytest.mark.parametrize(
    "settings", [{"initial": 0}, {"samples": 0}, {"sweeps": 1.5}, {"keep": 2}, {"starts": True}, {"burn_in": -1}]
)
def test_combo_refuses_settings_out_of_range_in_one_line(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=next(iter(settings))) as error:
        COMBO(problem_on(space("nb201")), np.random.default_rng(0), **settings)
    assert "\n" not in str(error.value)
