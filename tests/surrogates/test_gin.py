"""The graph network against plain loops over nodes and edges, and the surrogate made of it."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from ConfigSpace import CategoricalHyperparameter, UniformFloatHyperparameter, UniformIntegerHyperparameter
from numpy.typing import NDArray

from nasbed import space
from nasbed.core.errors import BadFile, NotFitted
from nasbed.spaces.base import Batch
from nasbed.spaces.graph import Graphs
from nasbed.spaces.nb201 import NB201, NB201Skeleton
from nasbed.surrogates import SURROGATES, Examples
from nasbed.surrogates.models.gin import GIN
from nasbed.surrogates.scores import kendall
from nasbed.terminal.settings import settings_by_key

torch = pytest.importorskip("torch")
from nasbed.surrogates.models.gin_network import Dropout, GINNetwork, GraphBatch, NormLayer, ranking_loss  # noqa: E402

Floats = NDArray[np.float64]
STILL = Dropout(0.0, None)
NODES, EDGES = ("input", "output", "a", "b"), ("x", "y", "z")


def random_graphs(count: int, slots: int, seed: int) -> Graphs:
    """Any directed graphs, cycles and loops included; a fifth of the node slots is empty."""
    rng = np.random.default_rng(seed)
    nodes = rng.integers(0, len(NODES), (count, slots)).astype(np.int8)
    nodes[:, 1:][rng.random((count, slots - 1)) < 0.2] = -1
    edges = rng.integers(-2, len(EDGES), (count, slots, slots)).clip(-1).astype(np.int8)
    edges[(nodes < 0)[:, :, None] | (nodes < 0)[:, None, :]] = -1
    return Graphs(nodes, edges, NODES, EDGES)


def random_network(graphs: Graphs, *, columns: int = 0, more_kinds: int = 0, seed: int = 0) -> GINNetwork:
    """One whose batch norms have seen something."""
    rng = np.random.default_rng(seed)
    kinds, slots = len(EDGES) + more_kinds, graphs.node_labels.shape[1]
    network = GINNetwork(labels=len(NODES), kinds=kinds, slots=slots, columns=columns, hidden=5, layers=3, rng=rng)
    with torch.no_grad():
        for name, values in network.state_dict().items():
            if name.endswith(("variance", "gain")):
                values.copy_(torch.from_numpy(rng.uniform(0.5, 1.5, values.shape)))
            elif name.endswith(("mean", "shift", "epsilon", "bias", "virtual")):
                values.copy_(torch.from_numpy(rng.normal(0, 0.3, values.shape)))
    return network.eval()


def scores_of(network: GINNetwork, graphs: Graphs, columns: Floats, *, undirected: bool, self_loops: bool) -> Floats:
    batch = GraphBatch.of(graphs, columns, undirected=undirected, self_loops=self_loops)
    with torch.inference_mode():
        scores: Floats = network(batch, STILL).double().numpy()
    return scores


def score_by_loops(
    weights: dict[str, Floats], graphs: Graphs, graph: int, columns: Floats, *, undirected: bool, self_loops: bool
) -> float:
    """The definition, a node and an edge at a time."""

    def normed(x: Floats, name: str) -> Floats:
        x = (x @ weights[f"{name}.weight"] - weights[f"{name}.mean"]) / np.sqrt(weights[f"{name}.variance"] + 1e-5)
        result: Floats = x * weights[f"{name}.gain"] + weights[f"{name}.shift"]
        return result

    labels, edges = graphs.node_labels[graph], graphs.edge_labels[graph]
    nodes = [node for node in range(len(labels)) if labels[node] >= 0]
    arrows = [(i, j, int(edges[i, j])) for i in nodes for j in nodes if edges[i, j] >= 0]
    x = {}
    for node in nodes:
        x[node] = weights["labels"][labels[node]].copy()
        x[node] += weights["in_degrees"][sum(target == node for _, target, _ in arrows)]
        x[node] += weights["out_degrees"][sum(source == node for source, _, _ in arrows)]
    virtual = weights["virtual"]
    ways = list(arrows)
    if undirected:
        ways += [(j, i, kind + len(EDGES)) for i, j, kind in arrows]
    if self_loops:
        ways += [(i, i, len(EDGES) * (1 + undirected)) for i in nodes]
    for layer in range(3):
        name = f"layers.{layer}"
        states = {node: x[node] + virtual for node in nodes}
        heard = {node: (1 + weights[f"{name}.epsilon"]) * states[node] for node in nodes}
        for source, target, kind in ways:
            heard[target] = heard[target] + np.maximum(states[source] + weights[f"{name}.edges"][kind], 0)
        for node in nodes:
            update = normed(np.maximum(normed(heard[node], f"{name}.inner"), 0), f"{name}.outer")
            x[node] = x[node] + (update if layer == 2 else np.maximum(update, 0))
        if layer < 2:
            total = virtual + np.sum([states[node] for node in nodes], axis=0)
            change = np.maximum(normed(total, f"{name}.virtual.0"), 0)
            virtual = virtual + np.maximum(normed(change, f"{name}.virtual.1"), 0)
    mean = np.mean([x[node] for node in nodes], axis=0)
    return float(np.concatenate([mean, columns]) @ weights["readout"][:, 0] + weights["bias"][0])


@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize("self_loops", [False, True])
def test_network_equals_loops_over_edges(undirected: bool, self_loops: bool) -> None:
    graphs = random_graphs(20, 6, seed=1)
    columns = np.random.default_rng(2).normal(size=(20, 2))
    network = random_network(graphs, columns=2, more_kinds=len(EDGES) * undirected + self_loops)
    weights = {name: value.double().numpy() for name, value in network.state_dict().items()}
    expected = [
        score_by_loops(weights, graphs, i, columns[i], undirected=undirected, self_loops=self_loops) for i in range(20)
    ]
    scores = scores_of(network, graphs, columns, undirected=undirected, self_loops=self_loops)
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)


def test_network_ignores_order_and_padding_of_nodes() -> None:
    graphs = random_graphs(20, 6, seed=3)
    network = random_network(graphs)
    empty = np.empty((20, 0))
    before = scores_of(network, graphs, empty, undirected=False, self_loops=False)
    order = np.random.default_rng(4).permutation(6)
    moved = dataclasses.replace(
        graphs, node_labels=graphs.node_labels[:, order], edge_labels=graphs.edge_labels[:, order][:, :, order]
    )
    np.testing.assert_allclose(
        scores_of(network, moved, empty, undirected=False, self_loops=False), before, rtol=1e-4, atol=1e-5
    )
    nodes = np.full((20, 9), -1, dtype=np.int8)
    edges = np.full((20, 9, 9), -1, dtype=np.int8)
    nodes[:, 2:8], edges[:, 2:8, 2:8] = graphs.node_labels, graphs.edge_labels
    padded = Graphs(nodes, edges, NODES, EDGES)
    np.testing.assert_allclose(
        scores_of(network, padded, empty, undirected=False, self_loops=False), before, rtol=1e-4, atol=1e-5
    )


def test_normed_learns_from_the_rows_that_are_there() -> None:
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(40, 3)).astype(np.float32))
    mask = torch.from_numpy((rng.random((40, 1)) < 0.6).astype(np.float32))
    normed, reference = NormLayer(3, 4, rng), torch.nn.BatchNorm1d(4)
    is_present = mask[:, 0] == 1
    expected = reference((x @ normed.weight)[is_present])
    torch.testing.assert_close(normed(x, mask)[is_present], expected)
    torch.testing.assert_close(normed.mean, reference.running_mean)


def test_ranking_loss_equals_double_loop() -> None:
    rng = np.random.default_rng(5)
    scores, targets = rng.normal(size=12) / 5, np.round(rng.normal(size=12), 1)
    pairs = [(i, j) for i in range(12) for j in range(12) if targets[i] > targets[j]]
    expected = sum(max(0.0, 0.1 - (scores[i] - scores[j])) for i, j in pairs) / len(pairs)
    assert ranking_loss(torch.from_numpy(scores), torch.from_numpy(targets), 0.1).item() == pytest.approx(expected)
    assert ranking_loss(torch.ones(3), torch.ones(3), 0.1).item() == 0


def toy(name: str, count: int, seed: int = 0) -> Examples:
    """An error that grows with what makes up the architecture's code."""
    rng, where = np.random.default_rng(seed), space(name)
    codes = where.codes([where.sample(rng) for _ in range(count)])
    worth = where.encode(codes, "onehot") @ np.random.default_rng(1).normal(size=where.encode(codes[:1]).shape[1])
    return Examples.plain(codes, 95 - 3 * np.exp(worth / worth.std()))


QUICK = {"epochs": 15, "layers": 4, "hidden": 16, "batch_size": 64}


@pytest.fixture(scope="module")
def fitted() -> GIN:
    model = GIN(space("nb201"), settings=QUICK, seed=3)
    model.fit(toy("nb201", 700))
    return model


def test_gin_learns_a_function_of_the_cell(fitted: GIN) -> None:
    unseen = toy("nb201", 300, seed=9)
    assert kendall(unseen.y, fitted.predict(unseen.codes)) > 0.65


def test_gin_restored_gives_the_same_numbers(fitted: GIN) -> None:
    codes = toy("nb201", 300, seed=9).codes
    restored = GIN.restore(fitted.dump(), fitted.space, QUICK, 3)
    np.testing.assert_array_equal(restored.predict(codes), fitted.predict(codes))
    assert restored.dump() == fitted.dump()
    assert fitted.predict(codes[:0]).shape == (0,)


def test_gin_refuses_damaged_files(fitted: GIN) -> None:
    files = fitted.dump()
    for damaged in ({}, {**files, "arrays.npz": files["arrays.npz"][:300]}, {**files, "model.json": b"{"}):
        with pytest.raises(BadFile):
            GIN.restore(damaged, fitted.space, QUICK, 3)


@pytest.mark.parametrize("name", ["nb101", "darts", "fbnet", "transnas-macro"])
def test_gin_is_repeatable_and_leaves_the_global_generators_alone(name: str) -> None:
    train, shares = toy(name, 40), list[float]()
    torch.manual_seed(0)
    state = torch.get_rng_state()
    answers = []
    for _ in range(2):
        model = GIN(space(name), settings={"epochs": 2, "layers": 2, "hidden": 8, "features": ""}, seed=1)
        model.fit(train, progress=shares.append)
        answers.append(model.predict(train.codes))
    np.testing.assert_array_equal(answers[0], answers[1])
    assert np.isfinite(answers[0]).all() and shares == [0.5, 1.0] * 2
    assert torch.equal(torch.get_rng_state(), state)


class GraphsAlone(NB201):
    """Knows the graphs of its cells and nothing else that features are made of."""

    def costs(self, archs: Batch, skeleton: NB201Skeleton | None = None) -> NDArray[np.int64]:
        raise AssertionError("costs were counted")

    def encode(self, archs: Batch, how: str = "onehot") -> NDArray[np.float32]:
        raise AssertionError("an encoding was made")


def test_gin_without_features_sees_the_graph_alone() -> None:
    """So that a graph network shares no input with the trees; ``--set features=`` is how the command line says it."""
    data = toy("nb201", 60)
    quick: dict[str, Any] = {"epochs": 1, "layers": 2, "hidden": 8}
    model = GIN(GraphsAlone(), settings={**quick, **settings_by_key(["features="])})
    model.fit(data)
    assert np.ptp(model.predict(data.codes)) > 0
    for features in ("costs", "onehot"):
        with pytest.raises(AssertionError, match=r"costs were counted|an encoding was made"):
            GIN(GraphsAlone(), settings={**quick, "features": features}).fit(data)


def test_gin_isomorphic_cells_get_the_same_prediction() -> None:
    nb101 = space("nb101")
    rng = np.random.default_rng(0)
    codes = nb101.codes([nb101.sample(rng) for _ in range(300)])
    model = GIN(nb101, settings={"epochs": 2, "layers": 3, "hidden": 8, "features": ""})
    model.fit(Examples.plain(codes, rng.random(300)))
    forms = nb101.canonical_codes(codes)
    assert (forms != codes).any(axis=1).sum() > 100
    np.testing.assert_allclose(model.predict(forms), model.predict(codes), rtol=1e-4)


def test_gin_asked_before_fit_says_so() -> None:
    with pytest.raises(NotFitted, match="call fit first"):
        GIN(space("nb201")).predict(np.zeros((1, 6), dtype=np.int64))


def test_gin_tuning_ranges_are_those_of_table_6() -> None:
    ranges = SURROGATES.get("gin").tuning_space()
    numbers = {
        parameter.name: (parameter.lower, parameter.upper, parameter.log)
        for parameter in ranges.values()
        if isinstance(parameter, UniformFloatHyperparameter | UniformIntegerHyperparameter)
    }
    assert numbers == {
        "hidden": (16, 256, True),
        "layers": (2, 10, False),
        "dropout": (0, 1, False),
        "learning_rate": (1e-3, 1e-2, True),
    }
    switches = {parameter.name for parameter in ranges.values() if isinstance(parameter, CategoricalHyperparameter)}
    assert switches == {"undirected", "ranking_loss", "self_loops", "log_transform"}
    assert math.isclose(ranges["dropout"].default_value, 0.035)
