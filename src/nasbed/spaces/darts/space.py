"""The DARTS search space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, shorten
from nasbed.spaces.base import Batch, Codes, SearchSpace
from nasbed.spaces.darts import edits, features
from nasbed.spaces.darts.cell import (
    CELL_LENGTH,
    EDGE_COUNT,
    EDGE_OFFSET,
    EDGES,
    INPUTS,
    NODES,
    OPERATIONS,
    PAIRS,
    PARAMETER_FREE,
    canonical_cell,
    canonical_cells,
    cell_count,
    node_edges,
    renumbered,
    unique_cell_count,
    with_edges,
)
from nasbed.spaces.darts.costs import DartsSkeleton, network_costs
from nasbed.spaces.darts.genotype import CELL_KINDS, Genotype, format_cells, from_genotype, parse_cells, to_genotype
from nasbed.spaces.darts.topologies import same_cells, topology_codes
from nasbed.spaces.facts import CellGraph, CrossedList, Edit, Operations
from nasbed.spaces.graph import Diagram, Graphs, Node, used_part

if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace

CONFIG_PREFIX = "NetworkSelectorDatasetInfo:darts:"
OPS = len(OPERATIONS)
OUTPUT = NODES[-1] + 1
FEW = 32
"""Smaller batches are brought to canonical form one by one: that is faster."""


class Darts(SearchSpace):
    """A normal and a reduction cell of four nodes, each node with two distinct inputs and seven operations to choose
    from.

    The code is the normal cell's sixteen integers and then the reduction cell's, see :mod:`nasbed.spaces.darts.cell`.
    The native form is a :class:`~nasbed.spaces.darts.genotype.Genotype`.
    """

    name = "darts"
    title = "DARTS: a normal and a reduction cell, seven operations on eight edges each"
    citation = "Liu et al., DARTS: Differentiable Architecture Search, ICLR 2019, arXiv:1806.09055"
    code_length = 2 * CELL_LENGTH
    encodings = ("onehot", "path", "config")
    skeleton = DartsSkeleton
    operations = Operations(tuple(range(1, 2 * CELL_LENGTH, 2)), OPERATIONS, PARAMETER_FREE)
    cell_graph = CellGraph(tuple(CELL_KINDS), EDGES, OPERATIONS)
    designs: Mapping[str, CrossedList] = {"topologies": CrossedList(topology_codes, same_cells)}

    @property
    def size(self) -> int:
        """(3·6·10·7⁸)², isomorphic cells counted apart."""
        return cell_count() ** 2

    @property
    def unique_size(self) -> int:
        """How many architectures there are up to isomorphism of their cells, exactly."""
        return unique_cell_count() ** 2

    def sample(self, rng: np.random.Generator) -> Architecture:
        """Uniform over all codes."""
        code: list[int] = []
        draws = rng.integers(self._sample_counts).tolist()
        for cell in (draws[:11], draws[11:]):
            for place, pairs in enumerate(PAIRS.values()):
                first, second = pairs[cell[8 + place - 1]] if place else pairs[0]
                code += (first, cell[2 * place], second, cell[2 * place + 1])
        return Architecture(self.name, tuple(code))

    @cached_property
    def _sample_counts(self) -> NDArray[np.int64]:
        return np.array(([OPS] * 8 + [len(PAIRS[node]) for node in NODES[1:]]) * 2)

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        """Every architecture with one operation changed, or one edge moved to another input with its operation: 120."""
        name, code = self.name, list(arch.code)
        for position in range(1, self.code_length, 2):
            current = code[position]
            for op in range(OPS):
                if op != current:
                    code[position] = op
                    yield Architecture(name, tuple(code))
            code[position] = current
        for start in range(0, self.code_length, 4):
            node = NODES[start % CELL_LENGTH // 4]
            first, op_first, second, op_second = code[start : start + 4]
            for source_kept, op_kept, op_moved in ((second, op_second, op_first), (first, op_first, op_second)):
                for source in range(node):
                    if source not in (first, second):
                        moved = (
                            (source, op_moved, source_kept, op_kept)
                            if source < source_kept
                            else (source_kept, op_kept, source, op_moved)
                        )
                        yield Architecture(name, (*code[:start], *moved, *code[start + 4 :]))

    def edits(self, arch: Architecture) -> Iterator[Edit]:
        """The choices are ``normal:0-2:operation``, the operation on the edge from 0 to node 2 of the normal cell, and
        ``normal:0-2:input``, where that edge comes from."""
        return edits.edits(arch)

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        """Regularized evolution's mutation as in appendix C.3 of Surrogate NAS Benchmarks.

        A random cell, then with equal chance a parent change (one edge of a node takes another input), an operation
        change, or none.
        """
        cell, kind = (int(draw) for draw in rng.integers((2, 3)))
        code = list(arch.code)
        if kind == 0:
            place, edge = (int(draw) for draw in rng.integers((1, 0), (len(NODES), 2)))
            start = cell * CELL_LENGTH + 4 * place
            pairs = [(code[start], code[start + 1]), (code[start + 2], code[start + 3])]
            free = [source for source in range(NODES[place]) if source not in (pairs[0][0], pairs[1][0])]
            pairs[edge] = (free[int(rng.integers(len(free)))], pairs[edge][1])
            code[start : start + 4] = [*min(pairs), *max(pairs)]
        elif kind == 1:
            edge, step = (int(draw) for draw in rng.integers((8, OPS - 1)))
            position = cell * CELL_LENGTH + 2 * edge + 1
            code[position] = (code[position] + 1 + step) % OPS
        return Architecture(self.name, tuple(code))

    def canonical(self, arch: Architecture) -> Architecture:
        """The smallest code among all orders of the intermediate nodes of each cell."""
        return Architecture(
            self.name, canonical_cell(arch.code[:CELL_LENGTH]) + canonical_cell(arch.code[CELL_LENGTH:])
        )

    def canonical_codes(self, archs: Batch) -> Codes:
        """:meth:`canonical` of a batch, as codes."""
        if len(archs) < FEW:
            return super().canonical_codes(archs)
        return canonical_cells(self.codes(archs).reshape(-1, CELL_LENGTH)).reshape(-1, self.code_length)

    def isomorphic_forms(self, arch: Architecture) -> Iterator[Architecture]:
        """Every order of the intermediate nodes of each cell in which all edges point forward."""
        normal, reduction = (
            sorted(set(renumbered(cell))) for cell in (arch.code[:CELL_LENGTH], arch.code[CELL_LENGTH:])
        )
        return (Architecture(self.name, first + second) for first, second in product(normal, reduction))

    def parameters(self, archs: Batch, skeleton: DartsSkeleton | None = None) -> NDArray[np.int64]:
        """Trainable parameters of the network."""
        return network_costs(self.codes(archs), skeleton or DartsSkeleton())[:, 0]

    def multiply_adds(self, archs: Batch, skeleton: DartsSkeleton | None = None) -> NDArray[np.int64]:
        """Multiply-adds of one forward pass: convolutions and classifiers; pooling and normalisation not counted."""
        return network_costs(self.codes(archs), skeleton or DartsSkeleton())[:, 1]

    def costs(self, archs: Batch, skeleton: DartsSkeleton | None = None) -> NDArray[np.int64]:
        return network_costs(self.codes(archs), skeleton or DartsSkeleton())

    def properties(self, archs: Batch) -> dict[str, NDArray[Any]]:
        return {"parameters": self.parameters(archs), "multiply_adds": self.multiply_adds(archs)}

    # --- checking and other forms ------------------------------------------------------------------------------------

    def _check_code(self, code: tuple[int, ...]) -> None:
        for start in range(0, self.code_length, 4):
            node = NODES[start % CELL_LENGTH // 4]
            first, op_first, second, op_second = code[start : start + 4]
            if not 0 <= first < second < node:
                raise InvalidArchitecture(
                    f"node {node} of a darts cell has two rising inputs below {node}, got {first} and {second}"
                )
            for op in (op_first, op_second):
                if not 0 <= op < OPS:
                    raise InvalidArchitecture(
                        f"a darts operation is 0 to {OPS - 1} ({', '.join(OPERATIONS)}), got {op}"
                    )

    def format(self, arch: Architecture) -> str:
        return format_cells(arch.code[:CELL_LENGTH], arch.code[CELL_LENGTH:])

    def parse(self, text: str) -> Architecture:
        return Architecture(self.name, parse_cells(text))

    def to_native(self, arch: Architecture) -> Genotype:
        return to_genotype(arch.code[:CELL_LENGTH], arch.code[CELL_LENGTH:])

    def from_native(self, obj: Any) -> Architecture:
        return Architecture(self.name, from_genotype(obj))

    def _build_configspace(self) -> ConfigurationSpace:
        """The names of NAS-Bench-301: a choice of input pair for nodes 3 to 5, and an operation for each edge that is
        chosen."""
        from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace, InCondition

        space = ConfigurationSpace(name=self.name)
        for kind in CELL_KINDS:
            edges = [
                CategoricalHyperparameter(f"{CONFIG_PREFIX}edge_{kind}_{i}", OPERATIONS) for i in range(EDGE_COUNT)
            ]
            space.add(*edges)
            for node in NODES[1:]:
                options = [f"{a}_{b}" for a, b in PAIRS[node]]
                inputs = CategoricalHyperparameter(f"{CONFIG_PREFIX}inputs_node_{kind}_{node}", options)
                space.add(inputs)
                for source in range(node):
                    pairs = [f"{a}_{b}" for a, b in PAIRS[node] if source in (a, b)]
                    space.add(InCondition(edges[EDGE_OFFSET[node] + source], inputs, pairs))
        return space

    def to_config(self, arch: Architecture) -> Configuration:
        from ConfigSpace import Configuration

        return Configuration(self.configspace(), values=self._config_values(arch))

    def _config_values(self, arch: Architecture) -> dict[str, str]:
        values: dict[str, str] = {}
        for kind, cell in zip(CELL_KINDS, (arch.code[:CELL_LENGTH], arch.code[CELL_LENGTH:]), strict=True):
            for node, source, op in node_edges(cell):
                values[f"{CONFIG_PREFIX}edge_{kind}_{EDGE_OFFSET[node] + source}"] = OPERATIONS[op]
            for place, node in enumerate(NODES[1:], start=1):
                values[f"{CONFIG_PREFIX}inputs_node_{kind}_{node}"] = f"{cell[4 * place]}_{cell[4 * place + 2]}"
        return values

    def from_config(self, config: Configuration | Mapping[str, Any]) -> Architecture:
        values = {str(name): str(value) for name, value in self.config_values(config).items()}
        code: tuple[int, ...] = ()
        for kind in CELL_KINDS:
            edges = []
            for node in NODES:
                pair = values.get(f"{CONFIG_PREFIX}inputs_node_{kind}_{node}", "0_1" if node == INPUTS else "")
                if pair not in [f"{a}_{b}" for a, b in PAIRS[node]]:
                    raise InvalidArchitecture(
                        f"inputs_node_{kind}_{node} is two distinct rising inputs such as 0_1, got {shorten(pair)}"
                    )
                for source in map(int, pair.split("_")):
                    op = values.get(f"{CONFIG_PREFIX}edge_{kind}_{EDGE_OFFSET[node] + source}")
                    if op not in OPERATIONS:
                        raise InvalidArchitecture(
                            f"edge {source}→{node} of the {kind} cell is chosen and needs an operation, got "
                            f"{shorten(op)}"
                        )
                    edges.append((source, OPERATIONS.index(op)))
            code += with_edges(edges)
        arch = Architecture(self.name, code)
        odd = sorted(set(values) - set(self._config_values(arch)))
        if odd:
            raise InvalidArchitecture(
                f"a darts configuration sets only what its inputs choose; not to be set: {shorten(odd)}"
            )
        return arch

    # --- features and pictures ---------------------------------------------------------------------------------------

    def _encode_onehot(self, codes: Codes) -> NDArray[np.float32]:
        return features.onehot(codes)

    def _encode_config(self, codes: Codes) -> NDArray[np.float32]:
        columns = features.config_columns(codes)
        return np.stack([columns[name.removeprefix(CONFIG_PREFIX)] for name in self.configspace()], axis=1)

    def _encode_path(self, codes: Codes) -> NDArray[np.float32]:
        return features.paths(codes)

    def graphs(self, archs: Batch) -> Graphs:
        return features.graphs(self.codes(archs))

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        return tuple(map(used_part, self.edit_diagrams(arch)))

    def edit_diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        diagrams = []
        titles, cells = ("Normal cell", "Reduction cell"), (arch.code[:CELL_LENGTH], arch.code[CELL_LENGTH:])
        for kind, title, cell in zip(CELL_KINDS, titles, cells, strict=True):
            nodes = [
                *(Node(str(n), edits.node_label(n), "input") for n in range(INPUTS)),
                *(Node(str(n), edits.node_label(n), "sum") for n in NODES),
            ]
            links, choices = [], []
            for node, source, op in node_edges(cell):
                box = f"{source}-{node}"
                nodes.append(Node(box, OPERATIONS[op], choice=edits.operation_choice(kind, source, node)))
                links += [(str(source), box), (box, str(node))]
                if node > INPUTS:
                    choices.append(((str(source), box), edits.input_choice(kind, source, node)))
            nodes.append(Node(str(OUTPUT), "c_{k}", "output"))
            links += [(str(node), str(OUTPUT)) for node in NODES]
            diagrams.append(Diagram(title, tuple(nodes), tuple(links), tuple(choices)))
        return tuple(diagrams)
