"""The published graph networks, GIN with a virtual node, computed with numpy from their weights.

Both cells are one graph of fourteen nodes: two inputs, four intermediate nodes and the output of each cell, with edges
from the output of either cell to the inputs of the other. A node's features are its kind and its number of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, shorten
from nasbed.results.importers.torch_file import load_torch_file
from nasbed.spaces.darts.cell import CELL_LENGTH, EDGE_OFFSET, NODES, node_edges

Single = NDArray[np.float32]
Weights = Mapping[str, Single]

LARGEST_MODEL = 1 << 30
CELL_NODES = 7
OUTPUT = CELL_NODES - 1
NODE_KINDS = (0, 1, 2, 2, 2, 2, 3)
"""First input, second input, intermediate node, output."""
IDENTITY = 0
"""The kind of an edge without an operation; operations are numbered from 1."""
BETWEEN_CELLS = ((6, 6), (6, 7), (6, 8), (13, 0), (13, 1))
"""The published edges between the cells, with one from the normal cell's output to itself."""
EPSILON = np.float32(1e-5)
"""That of torch's batch normalisation."""
POOLING: dict[str, Callable[..., Single]] = {"sum": np.sum, "mean": np.mean, "max": np.max}


@dataclass(frozen=True, slots=True)
class CellsGraph:
    """Edges from ``sources`` to ``targets`` of these ``kinds``, and the ``neighbours`` of each node."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    kinds: NDArray[np.int64]
    neighbours: NDArray[np.int64]

    @classmethod
    def of(cls, arch: Architecture, *, self_loops: bool, undirected: bool) -> CellsGraph:
        """The graph of an architecture, as the published code builds it."""
        edges: list[tuple[int, int]] = []
        kinds: list[int] = []
        for start, cell in ((0, arch.code[:CELL_LENGTH]), (CELL_NODES, arch.code[CELL_LENGTH:])):
            chosen = [(EDGE_OFFSET[node] + source, source, node, op) for node, source, op in node_edges(cell)]
            # the published code lists edges by their source, but operations by the node that they lead to, and pairs
            # the two lists: models were fitted on that
            edges += [(start + source, start + node) for source, node in sorted(edge[1:3] for edge in chosen)]
            kinds += [1 + op for _, _, _, op in sorted(chosen)]
            edges += [(start + node, start + OUTPUT) for node in NODES]
            kinds += [IDENTITY] * len(NODES)
        edges += BETWEEN_CELLS
        kinds += [IDENTITY] * len(BETWEEN_CELLS)
        linked = {*edges, *((target, source) for source, target in edges)}
        neighbours = np.bincount([source for source, _ in linked], minlength=2 * CELL_NODES)
        if self_loops:
            loops = [(node, node) for node in range(2 * CELL_NODES)]
            kept = [number for number, (source, target) in enumerate(edges) if source != target]
            edges = [*(edges[number] for number in kept), *loops]
            kinds = [*(kinds[number] for number in kept), *[IDENTITY] * len(loops)]
        sources, targets = np.array(edges, dtype=np.int64).T
        kind = np.array(kinds, dtype=np.int64)
        if undirected:
            sources, targets, kind = np.r_[sources, targets], np.r_[targets, sources], np.r_[kind, kind]
        return cls(sources, targets, kind, neighbours)


class GINMembers:
    """Members that are graph networks; answers are in percent and of single precision."""

    def __init__(
        self, weights: Sequence[Weights], *, layers: int, pooling: str, preprocessing: dict[str, bool]
    ) -> None:
        self.weights = weights
        self.layers = layers
        self.pooling = pooling
        self.preprocessing = preprocessing

    @classmethod
    def read(cls, files: Sequence[Path], config: Mapping[str, Any]) -> GINMembers:
        """The members in these files, of the sizes that ``model_config.json`` gives."""
        folder = files[0].parent
        layers, pooling = config.get("num_gnn_layers"), config.get("graph_pooling")
        if (
            type(layers) is not int
            or not 2 <= layers <= 1000
            or pooling not in POOLING
            or not config.get("virtual_node")
        ):
            got = ", ".join(shorten(value) for value in (layers, config.get("virtual_node"), pooling))
            raise BadFile(
                f"{folder}: a published GIN has 2 layers or more, a virtual node and a pooling of "
                f"{', '.join(POOLING)}, got {got}; get the published models again"
            )
        preprocessing = {
            name: bool(config.get(f"graph_preprocessing:{option}"))
            for name, option in (("self_loops", "self_loops"), ("undirected", "undirected_graph"))
        }
        members = cls([_weights(path) for path in files], layers=layers, pooling=pooling, preprocessing=preprocessing)
        members._check(folder)
        return members

    def _check(self, folder: Path) -> None:
        """Answer once, so that weights of another network are found when the ensemble is opened."""
        first = [source_op for node in NODES for source_op in (0, 0, 1, 0)] * 2
        try:
            self.predict(Architecture("darts", tuple(first)))
        except (KeyError, ValueError, IndexError) as error:
            reason = " ".join(str(error).split())[:100]
            raise BadFile(
                f"{folder}: the weights are not those of the published GIN: {reason}; get them again"
            ) from None

    def predict(self, arch: Architecture) -> NDArray[Any]:
        graph = CellsGraph.of(arch, **self.preprocessing)
        return np.array([self._forward(weights, graph) for weights in self.weights], dtype=np.float32)

    def _forward(self, weights: Weights, graph: CellsGraph) -> np.float32:
        kinds = np.array(NODE_KINDS * 2)
        nodes = weights["node_encoder.type_encoder.weight"][kinds]
        nodes = nodes + weights["node_encoder.attribute_encoder.weight"][graph.neighbours]
        virtual = weights["gnn_node.virtualnode_embedding.weight"]
        for layer in range(self.layers):
            nodes = nodes + virtual
            conv = f"gnn_node.convs.{layer}"
            messages = np.maximum(nodes[graph.sources] + weights[f"{conv}.edge_encoder.weight"][graph.kinds], 0)
            gathered = np.zeros_like(nodes)
            np.add.at(gathered, graph.targets, messages)
            before, is_last = nodes, layer == self.layers - 1
            nodes = (1 + weights[f"{conv}.eps"]) * nodes + gathered
            nodes = np.maximum(_normalised(weights, f"{conv}.mlp.1", _linear(weights, f"{conv}.mlp.0", nodes)), 0)
            nodes = _normalised(weights, f"gnn_node.batch_norms.{layer}", _linear(weights, f"{conv}.mlp.3", nodes))
            if not is_last:
                nodes = np.maximum(nodes, 0)
                mlp = f"gnn_node.mlp_virtualnode_list.{layer}"
                virtual = _linear(weights, f"{mlp}.0", before.sum(axis=0, keepdims=True) + virtual)
                virtual = np.maximum(_normalised(weights, f"{mlp}.1", virtual), 0)
                virtual = np.maximum(_normalised(weights, f"{mlp}.4", _linear(weights, f"{mlp}.3", virtual)), 0)
        pooled = POOLING[self.pooling](nodes, axis=0, keepdims=True)
        logit = _linear(weights, "graph_pred_linear", pooled)[0, 0]
        return np.float32(100 * expit(logit))


def _weights(path: Path) -> Weights:
    value = load_torch_file(path, LARGEST_MODEL)
    if not isinstance(value, dict) or not all(isinstance(array, np.ndarray) for array in value.values()):
        raise BadFile(f"{path} holds no weights by name; get the published models again")
    return {str(name): array for name, array in value.items()}


def _linear(weights: Weights, name: str, values: Single) -> Single:
    product: Single = values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return product


def _normalised(weights: Weights, name: str, values: Single) -> Single:
    scale: Single = weights[f"{name}.weight"] / np.sqrt(weights[f"{name}.running_var"] + EPSILON)
    scaled: Single = (values - weights[f"{name}.running_mean"]) * scale + weights[f"{name}.bias"]
    return scaled
