"""Walks and distances, against closed forms, exact Markov chains and graphs compared vertex by vertex."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations, product
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.stats
from scipy.sparse import csr_array

from nasbed import Architecture, NasbedError, space
from nasbed.evaluation.landscape import (
    edit_distances,
    fitness_distance_correlation,
    neighbor_graph,
    random_walk_autocorrelation,
    space_walk_autocorrelation,
    volume_by_distance,
)

NB101: Any = space("nb101")
NB201, MACRO = space("nb201"), space("transnas-macro")
ALL201 = NB201.codes(list(NB201.enumerate()))
LABELS = ("conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3")


def exact(graph: Any, values: np.ndarray, lags: int) -> Any:
    """The autocorrelation of the chain whose step weights are 1 / max(degrees), by powers of its matrix."""
    adjacency = graph.toarray().astype(float)
    degrees = adjacency.sum(axis=1)
    weights = adjacency / np.maximum.outer(degrees, degrees)
    stationary = weights.sum(axis=1) / weights.sum()
    step = weights / weights.sum(axis=1, keepdims=True)
    centred = values - stationary @ values
    moved, correlations = centred.copy(), []
    for _ in range(lags + 1):
        correlations.append((stationary * centred) @ moved)
        moved = step @ moved
    return np.array(correlations) / correlations[0]


def test_walk_on_an_additive_landscape_has_the_closed_form() -> None:
    """For a sum of independent effects over n choices of m options each, r(k) = (1 - m / (n (m - 1)))^k."""
    effects = np.random.default_rng(0).normal(size=(6, 5))
    values = sum(effects[place][ALL201[:, place]] for place in range(6))
    result = random_walk_autocorrelation(neighbor_graph(NB201, ALL201), values, np.random.default_rng(1), lags=20)
    expected = (1 - 5 / (6 * 4)) ** np.arange(21)
    assert result.coverage == 1 and result.isolated == 0
    assert (np.abs(result.correlations - expected) < 5 * result.standard_errors + 1e-9).all()
    assert result.standard_errors.max() < 0.02


def test_walk_on_an_uneven_graph_is_the_exact_chain() -> None:
    rng = np.random.default_rng(2)
    wheel = nx.barabasi_albert_graph(60, 2, seed=3)
    graph = csr_array(nx.to_scipy_sparse_array(wheel))
    values = rng.normal(size=60)
    result = random_walk_autocorrelation(graph, values, rng, lags=12)
    assert (np.abs(result.correlations - exact(graph, values, 12)) < 5 * result.standard_errors + 0.01).all()


def test_walk_through_a_sample_of_a_space_estimates_the_whole() -> None:
    """The mean over ten samples of a tenth; one sample has a standard deviation of 0.04 at lag 1."""
    effects = np.random.default_rng(4).normal(size=(6, 5))
    values = sum(effects[place][ALL201[:, place]] for place in range(6))
    graph = neighbor_graph(NB201, ALL201)
    estimates, present = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        sampled = np.where(rng.random(len(values)) < 0.1, values, np.nan)
        options = {"lags": 12, "steps": 300}
        estimates.append(space_walk_autocorrelation(graph, sampled, rng, **options, walks=300))
        present.append(random_walk_autocorrelation(graph, sampled, rng, **options))
    expected = (1 - 5 / 24) ** np.arange(13)
    assert np.abs(
        np.mean([estimate.correlations for estimate in estimates], axis=0) - expected
    ).max() < 3 * 0.045 / np.sqrt(10)
    assert all(walked.coverage < 1 for walked in present)
    ragged = np.mean([walked.correlations for walked in present], axis=0)
    assert (ragged[4:] > expected[4:] + 0.05).all()  # it doubles back


def test_walk_reports_what_it_cannot_reach() -> None:
    """Two parts of three and two nodes, and one node alone; a missing value takes its node away."""
    graph = csr_array(nx.to_scipy_sparse_array(nx.Graph([(0, 1), (1, 2), (3, 4), (5, 5), (2, 6)])))
    graph.setdiag(0)
    graph.eliminate_zeros()
    result = random_walk_autocorrelation(graph, [1, 2, 3, 4, 5, 6, np.nan], np.random.default_rng(0), lags=3)
    assert (result.reachable, result.isolated, result.total) == (3, 1, 6)


def test_walk_is_decided_by_its_generator_and_refuses_what_cannot_be_walked() -> None:
    graph = neighbor_graph(NB201, ALL201[:500])
    values = ALL201[:500].sum(axis=1)
    first, same, different = (
        random_walk_autocorrelation(graph, values, np.random.default_rng(seed), walks=20) for seed in (1, 1, 2)
    )
    assert (first.correlations == same.correlations).all() and (first.correlations != different.correlations).any()
    lonely = csr_array((3, 3))
    for call in (
        lambda: random_walk_autocorrelation(lonely, [1.0, 2.0, 3.0], np.random.default_rng(0)),
        lambda: random_walk_autocorrelation(graph, [1.0], np.random.default_rng(0)),
        lambda: random_walk_autocorrelation(graph, values, np.random.default_rng(0), lags=0),
    ):
        with pytest.raises(NasbedError) as error:
            call()  # type: ignore[no-untyped-call]
        assert "\n" not in str(error.value)


def as_graph(code: tuple[int, ...]) -> nx.DiGraph:
    matrix, ops = NB101.to_native(Architecture("nb101", code))
    graph = nx.from_numpy_array(np.asarray(matrix), create_using=nx.DiGraph)
    nx.set_node_attributes(graph, dict(enumerate(ops)), "op")
    return graph


def pruned(graph: nx.DiGraph) -> nx.DiGraph | None:
    names = nx.get_node_attributes(graph, "op")
    start, end = (next(node for node, op in names.items() if op == name) for name in ("input", "output"))
    inner = ({start} | nx.descendants(graph, start)) & ({end} | nx.ancestors(graph, end))
    return graph.subgraph(inner) if {start, end} <= inner else None


def counts_of(graph: nx.DiGraph) -> tuple[int, ...]:
    """Of edges and operations: graphs that are the same have them in common."""
    names = list(nx.get_node_attributes(graph, "op").values())
    return graph.number_of_edges(), len(names), *(names.count(label) for label in LABELS)


def same(first: nx.DiGraph, second: nx.DiGraph) -> bool:
    return bool(nx.is_isomorphic(first, second, node_match=lambda a, b: a["op"] == b["op"]))


def test_nb101_neighbors_are_those_of_graphs_edited_one_by_one() -> None:
    codes = np.array([arch.code for arch, _ in zip(NB101.enumerate(), range(91), strict=False)])
    graph_rows = neighbor_graph(NB101, codes).toarray()
    graphs = [as_graph(tuple(code)) for code in codes.tolist()]
    counts = [counts_of(graph) for graph in graphs]
    expected = np.zeros_like(graph_rows)
    for row, graph in enumerate(graphs):
        edited = []
        for node in graph:
            for label in LABELS if graph.nodes[node]["op"] in LABELS else ():
                flipped = graph.copy()
                flipped.nodes[node]["op"] = label
                edited.append(flipped)
        for edge in graph.edges:
            fewer = graph.copy()
            fewer.remove_edge(*edge)
            edited += [reduced] if (reduced := pruned(fewer)) is not None else []
        alike: defaultdict[tuple[int, ...], list[nx.DiGraph]] = defaultdict(list)
        for candidate in edited:
            alike[counts_of(candidate)].append(candidate)
        for column, target in enumerate(graphs):
            if column != row and any(same(candidate, target) for candidate in alike[counts[column]]):
                expected[row, column] = expected[column, row] = 1
    np.testing.assert_array_equal(graph_rows, expected)


@pytest.mark.parametrize("name", ["transnas-macro", "transnas-micro"])
def test_neighbors_of_other_spaces_are_what_the_space_lists(name: str) -> None:
    searched = space(name)
    archs = list(searched.enumerate())[::7]
    graph = neighbor_graph(searched, searched.codes(archs)).tolil()
    place = {arch: row for row, arch in enumerate(archs)}
    for row in range(0, len(archs), 29):
        near = {place[neighbour] for neighbour in searched.neighbors(archs[row]) if neighbour in place}
        assert set(graph.rows[row]) == near


def padded(code: tuple[int, ...]) -> tuple[np.ndarray, list[str | None]]:
    """The cell over seven vertices, those that it lacks isolated and without a label."""
    matrix, ops = NB101.to_native(NB101.canonical(Architecture("nb101", code)))
    count = len(ops)
    places = [*range(count - 1), 6]
    full = np.zeros((7, 7), dtype=int)
    labels: list[str | None] = [None] * 7
    full[np.ix_(places, places)] = matrix
    for place, op in zip(places, ops, strict=True):
        labels[place] = op
    return full, labels


def slow_distance(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    """Over every numbering of the vertices: edges that differ, and labels where both have one."""
    (matrix, ops), (target, names) = padded(first), padded(second)
    best = 99
    for order in permutations(range(1, 6)):
        numbering = [0, *order, 6]
        edges = int((matrix != target[np.ix_(numbering, numbering)]).sum())
        labels = sum(
            a is not None and b is not None and a != b
            for a, b in zip(ops, (names[place] for place in numbering), strict=True)
        )
        best = min(best, edges + labels)
    return best


def test_nb101_distance_is_the_least_over_all_numberings_and_the_same_both_ways() -> None:
    rng = np.random.default_rng(7)
    archs = [NB101.sample(rng) for _ in range(12)]
    codes = NB101.codes(archs)
    table = np.stack([edit_distances(NB101, codes, arch) for arch in archs])
    np.testing.assert_array_equal(table, table.T)
    for i, j in product(range(12), range(4)):
        assert table[i, j] == slow_distance(archs[i].code, archs[j].code)


def test_nb101_distance_does_not_see_encodings_and_is_one_for_one_edit() -> None:
    cell = NB101.parse("conv1x1:0/conv3x3:0/conv3x3:0/conv3x3:3/maxpool3x3:0/output:1,2,4,5")
    shuffled = NB101.parse("maxpool3x3:0/conv3x3:0/conv3x3:2/conv1x1:0/conv3x3:0/output:1,3,4,5")
    flipped = NB101.parse("conv1x1:0/conv3x3:0/conv3x3:0/conv1x1:3/maxpool3x3:0/output:1,2,4,5")
    assert edit_distances(NB101, NB101.codes([cell, shuffled, flipped]), cell).tolist() == [0, 0, 1]
    fewer_edges, more_edges = (
        NB101.parse("conv1x1:0/conv3x3:0/output:1,2"),
        NB101.parse("conv1x1:0/conv3x3:0,1/output:1,2"),
    )
    assert edit_distances(NB101, NB101.codes([fewer_edges, more_edges]), more_edges).tolist() == [1, 0]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_fitness_distance_correlation_is_that_of_scipy(direction: str) -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(size=len(ALL201))
    values[::9] = np.nan
    result = fitness_distance_correlation(NB201, ALL201, values, direction=direction)  # type: ignore[arg-type]
    best = int(np.nanargmax(values) if direction == "maximize" else np.nanargmin(values))
    hamming = (ALL201[best] != ALL201).sum(axis=1)
    present = ~np.isnan(values)
    assert result.best == best and (result.distances == hamming).all()
    assert result.correlation == pytest.approx(scipy.stats.pearsonr(hamming[present], values[present]).statistic)
    assert result.by_distance.means[0] == values[best]
    assert result.fraction_within(0) == 1 / 15625 and result.fraction_within(6) == 1


def test_volume_equals_every_pair_compared() -> None:
    sizes = (3, 2, 4, 2, 2, 2, 2, 5)
    rows = np.array(list(product(*map(range, sizes))))
    points = np.random.default_rng(0).choice(len(rows), 7, replace=False)
    nearest = (rows[:, None] != rows[points]).sum(axis=2).min(axis=1)
    volume = volume_by_distance(sizes, [points[:3], points[3:]])
    assert volume.counts.tolist() == np.bincount(nearest).tolist()
    assert volume.fraction_within(2) == pytest.approx((nearest <= 2).mean())
    with pytest.raises(NasbedError, match="got none"):
        volume_by_distance(sizes, [])


@pytest.mark.thorough
def test_volume_of_all_encodings_of_nb101_around_its_best_cell() -> None:
    """Four peaks, no two of them within two edits of each other, have 4 (21 + 2 · 5) points next to them."""
    volume = volume_by_distance(NB101.encoding_sizes, [NB101.encoded_points(NB101.parse("best"))])
    assert volume.total == 2**21 * 3**5 and volume.counts[:2].tolist() == [4, 124]
