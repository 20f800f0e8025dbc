"""The features of a cell's wiring against networkx."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest

import nasbed
from nasbed.surrogates.features import Features
from nasbed.surrogates.structure_kernel import LENGTHS, width

LABELS = {  # with the source and the sink, in the order of the columns
    "nb101": ["input", "output", "conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3"],
    "nb201": ["input", "output", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"],
}


def operation_graph(space_name: str, code: tuple[int, ...]) -> nx.MultiDiGraph:
    """Operations as nodes, skips passed by, dead ends gone; a way that there is twice is two edges."""
    space = nasbed.space(space_name)
    graphs = space.graphs(np.array([code]))
    graph = nx.MultiDiGraph()
    nodes = [graphs.node_names[label] if label >= 0 else "" for label in graphs.node_labels[0]]
    for i, j in zip(*np.nonzero(graphs.edge_labels[0] >= 0), strict=True):
        name = graphs.edge_names[graphs.edge_labels[0, i, j]]
        if space_name == "nb101":
            graph.add_edge(int(i), int(j))
        else:
            graph.add_edge(int(i), (int(i), int(j)))
            graph.add_edge((int(i), int(j)), int(j))
            graph.nodes[int(i), int(j)]["label"] = name
    for node, name in enumerate(nodes):
        if node in graph:
            graph.nodes[node]["label"] = name
    ends = [node for node, data in graph.nodes(data=True) if data["label"] in ("input", "output")]
    for node in [node for node, data in graph.nodes(data=True) if data["label"] in ("sum", "skip_connect")]:
        for before, _ in list(graph.in_edges(node)):
            for _, after in list(graph.out_edges(node)):
                graph.add_edge(before, after)
        graph.remove_node(node)
    start = next((node for node in ends if graph.nodes[node]["label"] == "input"), None)
    end = next((node for node in ends if graph.nodes[node]["label"] == "output"), None)
    if start is None or end is None or not nx.has_path(graph, start, end):
        return nx.MultiDiGraph()
    return graph.subgraph(({start} | nx.descendants(graph, start)) & ({end} | nx.ancestors(graph, end)))


@pytest.mark.parametrize("space_name", ["nb101", "nb201"])
def test_structure_agrees_with_networkx(space_name: str) -> None:
    space = nasbed.space(space_name)
    rng = np.random.default_rng(2)
    codes = space.codes([space.sample(rng) for _ in range(150)])
    rows = Features(space, "structure")(codes)
    names = LABELS[space_name]
    count = len(names)
    assert rows.shape[1] == width(count)
    for code, row in zip(codes.tolist(), rows, strict=True):
        graph = operation_graph(space_name, tuple(code))
        label = {node: names.index(data["label"]) for node, data in graph.nodes(data=True)}
        matrix = nx.to_numpy_array(graph, nodelist=list(label)) if label else np.zeros((0, 0))
        walks = np.zeros((LENGTHS, count, count))
        for length in range(LENGTHS):
            power = np.linalg.matrix_power(matrix, length + 1) if label else matrix
            for u, source_label in enumerate(label.values()):
                for v, target_label in enumerate(label.values()):
                    walks[length, source_label, target_label] += power[u, v]
        np.testing.assert_array_equal(row[: walks.size], walks.ravel())
        start = next((node for node, node_label in label.items() if node_label == 0), None)
        end = next((node for node, node_label in label.items() if node_label == 1), None)
        paths = list(nx.all_simple_edge_paths(graph, start, end)) if label else []
        assert row[-1] == np.float32(np.log1p(len(paths)))
        inner = [Counter(label[edge[1]] for edge in path[:-1]) for path in paths]
        for counted in range(2, count + 1):
            lengths = [sum(path.values()) if counted == count else path[counted] for path in inner] or [0]
            assert row[walks.size + 2 * counted : walks.size + 2 * counted + 2].tolist() == [max(lengths), min(lengths)]
        occurs = Counter(label.values())
        assert row[-1 - count : -1].tolist() == [occurs[number] for number in range(count)]


def test_the_order_of_the_vertices_does_not_matter() -> None:
    space = nasbed.space("nb101")
    rng = np.random.default_rng(3)
    codes = space.codes([space.sample(rng) for _ in range(300)])
    features = Features(space, "structure")
    np.testing.assert_array_equal(features(codes), features(space.canonical_codes(codes)))


@pytest.mark.parametrize("name", ["darts", "fbnet", "transnas-micro", "transnas-macro", "nats-sss", "fcnet"])
def test_every_space_has_features(name: str) -> None:
    space = nasbed.space(name)
    rng = np.random.default_rng(4)
    codes = space.codes([space.sample(rng) for _ in range(20)])
    rows = Features(space, "onehot+costs+counts+structure")(codes)
    assert len(rows) == 20
    assert np.isfinite(rows).all()
    np.testing.assert_array_equal(rows[7:8], Features(space, "onehot+costs+counts+structure")(codes[7:8]))
