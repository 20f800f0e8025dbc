"""The NAS-Bench-101 search space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, nearest, shorten
from nasbed.spaces.base import Batch, Codes, SearchSpace
from nasbed.spaces.edits import Pairs
from nasbed.spaces.encodings import one_hot, path_offsets
from nasbed.spaces.facts import Edit, NamedPart, OperationChanges, Operations
from nasbed.spaces.graph import ABSENT, Diagram, Graphs, Node
from nasbed.spaces.nb101 import canonical, cell, edits, shape, text
from nasbed.spaces.nb101.cell import ALL_EDGES, FIRST_BIT, LAST, MAX_VERTICES, OPERATIONS, Compact
from nasbed.spaces.nb101.costs import NB101Skeleton, network_costs
from nasbed.spaces.nb101.enumeration import COUNTS, unique_codes
from nasbed.spaces.nb101.hashing import module_hash, module_hashes
from nasbed.spaces.nb101.labelled import labelled_numbers
from nasbed.spaces.nb101.named import NAMED_CELLS

if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace

INTERIOR = MAX_VERTICES - 2
BY_ROW = tuple(FIRST_BIT[y] + x for x in range(MAX_VERTICES) for y in range(x + 1, MAX_VERTICES))
"""The edge bits in the row-by-row order of the adjacency matrix, as ``edge_0`` … ``edge_20`` are numbered in the
public scripts."""

_SOURCES, _TARGETS = np.triu_indices(MAX_VERTICES, 1)
_BITS = np.array(BY_ROW)


def has_at_most_five_vertices(arch: Architecture) -> bool:
    """Whether a cell is one of those that the embedded table of NAS-Bench-101 cells has."""
    return cell.compact(arch.code).vertices <= 5


def has_at_most_six_vertices(arch: Architecture) -> bool:
    """Whether a cell is in NAS-Bench-Mini (section 4.2)."""
    return cell.compact(arch.code).vertices <= 6


PARTS = {
    "mini": NamedPart("-mini", has_at_most_six_vertices, size=64_542),
    "five-vertices": NamedPart("-five-vertices", has_at_most_five_vertices, size=2_532),
}


class NB101(SearchSpace):
    """Cells of up to seven vertices and nine edges (after pruning), three operations on the vertices.

    The code is described in :mod:`nasbed.spaces.nb101.cell`; the native form is the pair (adjacency matrix,
    operations). Samples, edits and codes live in the seven-vertex encoding of the paper's section 2.2, where several
    codes mean one cell; :meth:`canonical` and :meth:`hash` say which.
    """

    name = "nb101"
    title = "NAS-Bench-101: cells of ≤7 vertices and ≤9 edges, operations on vertices"
    citation = (
        "Ying et al., NAS-Bench-101: Towards Reproducible Neural Architecture Search, ICML 2019, arXiv:1902.09635"
    )
    code_length = 1 + INTERIOR
    encodings = ("onehot", "path", "config")
    skeleton = NB101Skeleton
    operations = Operations(tuple(range(1, 1 + INTERIOR)), OPERATIONS, ("maxpool3x3",))
    shape_properties = ("depth", "width")
    parts = PARTS
    named = NAMED_CELLS

    @property
    def size(self) -> int:
        """The number of unique cells; there are 2²¹·3⁵ codes."""
        return sum(COUNTS.values())

    def unique_codes(self, vertices: int | None = None) -> Codes:
        """The codes of all unique cells (of that many vertices), each in canonical form, in the published order."""
        return unique_codes(vertices)

    def all_codes(self) -> Codes:
        return unique_codes()

    def codes_up_to(self, limit: str) -> Codes:
        """The unique cells of up to ``limit`` vertices."""
        if not limit.isdecimal() or int(limit) not in COUNTS:
            raise InvalidOption(
                f"{self.name}:N are its cells of up to N vertices, {min(COUNTS)} to {max(COUNTS)}, got "
                f"{self.name}:{limit}"
            )
        return np.concatenate([unique_codes(count) for count in COUNTS if count <= int(limit)])

    def counts(self) -> dict[str, int]:
        counts = {f"{vertices} vertices": len(unique_codes(vertices)) for vertices in COUNTS}
        return {**counts, "total": sum(counts.values())}

    def _enumerate(self) -> Iterator[Architecture]:
        yield from (Architecture(self.name, tuple(code)) for code in unique_codes().tolist())

    def sample(self, rng: np.random.Generator) -> Architecture:
        """Uniform over the valid seven-vertex codes (section 2.2), not over unique cells."""
        while True:
            edges = int(rng.integers(1 << ALL_EDGES))
            if cell.is_valid(edges):
                return Architecture(self.name, (edges, *rng.integers(len(OPERATIONS), size=INTERIOR).tolist()))

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        """Every valid code with one operation or one edge flipped (section 3.3)."""
        edges, *ops = arch.code
        for place, current in enumerate(ops):
            for op in range(len(OPERATIONS)):
                if op != current:
                    ops[place] = op
                    yield Architecture(self.name, (edges, *ops))
            ops[place] = current
        for bit in range(ALL_EDGES):
            if cell.is_valid(edges ^ 1 << bit):
                yield Architecture(self.name, (edges ^ 1 << bit, *ops))

    def edits(self, arch: Architecture) -> Iterator[Edit]:
        """The choices are ``2``, the operation of vertex 2, and ``0-2``, whether there is an edge from 0 to it."""
        return edits.single_edits(arch)

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        """A neighbour, uniformly."""
        edges, *ops = arch.code
        alternatives = len(OPERATIONS) - 1
        while True:
            edit = int(rng.integers(ALL_EDGES + alternatives * INTERIOR))
            if edit >= ALL_EDGES:
                place, step = divmod(edit - ALL_EDGES, alternatives)
                ops[place] = (ops[place] + 1 + step) % len(OPERATIONS)
                return Architecture(self.name, (edges, *ops))
            if cell.is_valid(edges ^ 1 << edit):
                return Architecture(self.name, (edges ^ 1 << edit, *ops))

    def canonical(self, arch: Architecture) -> Architecture:
        """The published representative of the cell's isomorphism class, pruned."""
        return Architecture(self.name, cell.padded(canonical.canonical(cell.compact(arch.code))))

    def canonical_codes(self, archs: Batch) -> Codes:
        """:meth:`canonical` of a batch, as codes."""
        return canonical.canonical_codes(self.codes(archs))

    def isomorphic_forms(self, arch: Architecture) -> Iterator[Architecture]:
        """The pruned cell in every order of its vertices in which all edges point forward."""
        forms = {Compact(*form) for form in canonical.forward_orders(cell.compact(arch.code))}
        return (Architecture(self.name, code) for code in sorted(map(cell.padded, forms)))

    @property
    def encoding_sizes(self) -> tuple[int, ...]:
        """Five operations and 21 edges: the 2²¹ · 3⁵ points of section 2.2."""
        return (len(OPERATIONS),) * INTERIOR + (2,) * ALL_EDGES

    def encoded_points(self, arch: Architecture) -> NDArray[np.int64]:
        """Every unpruned matrix and labelling that decodes to this cell, in any order of its vertices."""
        return labelled_numbers(cell.compact(arch.code))

    # --- properties of a cell ----------------------------------------------------------------------------------------

    def hash(self, arch: Architecture) -> str:
        """The published module hash: the same exactly for isomorphic cells."""
        return module_hash(cell.compact(arch.code))

    def hashes(self, archs: Batch) -> NDArray[np.str_]:
        """:meth:`hash` of a batch, compiled and on all cores."""
        return module_hashes(self.codes(archs))

    def pruned(self, arch: Architecture) -> Compact:
        """The cell without the vertices that are on no path from input to output."""
        return cell.compact(arch.code)

    def depth(self, arch: Architecture) -> int:
        """The length of the longest path from input to output (section 3.2)."""
        return int(shape.depths(np.array(arch.code[:1]))[0])

    def width(self, arch: Architecture) -> int:
        """The largest directed cut (section 3.2)."""
        return int(shape.widths(np.array(arch.code[:1]))[0])

    def parameters(self, archs: Batch, skeleton: NB101Skeleton | None = None) -> NDArray[np.int64]:
        """Trainable parameters. The published counts are those of the canonical forms: a cell as given may differ by a
        few channels."""
        return network_costs(self.codes(archs), skeleton or NB101Skeleton())[0]

    def multiply_adds(self, archs: Batch, skeleton: NB101Skeleton | None = None) -> NDArray[np.int64]:
        """Multiply-adds of one forward pass: convolutions and the classifier; pooling and normalisation not counted."""
        return network_costs(self.codes(archs), skeleton or NB101Skeleton())[1]

    def costs(self, archs: Batch, skeleton: NB101Skeleton | None = None) -> NDArray[np.int64]:
        return np.stack(network_costs(self.codes(archs), skeleton or NB101Skeleton()), axis=1)

    def properties(self, archs: Batch) -> dict[str, NDArray[Any]]:
        codes = self.codes(archs)
        edges = codes[:, 0]
        parameters, multiply_adds = network_costs(codes, NB101Skeleton())
        return {
            "hash": self.hashes(codes)
            if len(codes) > 1
            else np.array([self.hash(arch) for arch in self.architectures(codes)]),
            "vertices": np.bitwise_count(canonical.kept_batch(edges)).astype(np.int64),
            "edges": shape.edge_counts(edges),
            "depth": shape.depths(edges),
            "width": shape.widths(edges),
            "parameters": parameters,
            "multiply_adds": multiply_adds,
        }

    # --- checking and other forms ------------------------------------------------------------------------------------

    def _check_code(self, code: tuple[int, ...]) -> None:
        if not 0 <= code[0] < 1 << ALL_EDGES:
            raise InvalidArchitecture(
                f"an nb101 code starts with {ALL_EDGES} edge bits, 0 to {(1 << ALL_EDGES) - 1}, got {code[0]}"
            )
        for op in code[1:]:
            if not 0 <= op < len(OPERATIONS):
                raise InvalidArchitecture(
                    f"an nb101 operation is 0 to {len(OPERATIONS) - 1} ({', '.join(OPERATIONS)}), got {op}"
                )
        cell.check(code[0])

    def format(self, arch: Architecture) -> str:
        return text.format_cell(cell.trimmed(arch.code))

    def parse(self, text_: str) -> Architecture:
        """A cell from its text, as JSON, or by the name of a cell in :attr:`named`."""
        if isinstance(text_, str) and text_.strip() in self.named:
            text_ = self.named[text_.strip()].text
        return self._validate_cell(text.parse_cell(text_))

    def to_native(self, arch: Architecture) -> tuple[NDArray[np.int64], list[str]]:
        """(matrix, ops), isolated padding left out, nothing else pruned."""
        return text.to_matrix(cell.trimmed(arch.code))

    def from_native(self, obj: Any) -> Architecture:
        return self._validate_cell(text.from_matrix(obj))

    def _validate_cell(self, pruned: Compact) -> Architecture:
        arch = Architecture(self.name, cell.padded(pruned))
        cell.check(arch.code[0])
        return arch

    @cached_property
    def _edge_names(self) -> tuple[str, ...]:
        return tuple(f"edge_{i}" for i in range(ALL_EDGES))

    @cached_property
    def _op_names(self) -> tuple[str, ...]:
        return tuple(f"op_node_{i}" for i in range(INTERIOR))

    def _build_configspace(self) -> ConfigurationSpace:
        """Not every configuration is a valid cell: :meth:`from_config` says which rule one breaks."""
        from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace

        space = ConfigurationSpace(name=self.name)
        space.add(*(CategoricalHyperparameter(name, (0, 1)) for name in self._edge_names))
        space.add(*(CategoricalHyperparameter(name, OPERATIONS) for name in self._op_names))
        return space

    def to_config(self, arch: Architecture) -> Configuration:
        from ConfigSpace import Configuration

        values: dict[str, Any] = {
            name: arch.code[0] >> bit & 1 for name, bit in zip(self._edge_names, BY_ROW, strict=True)
        }
        values |= {name: OPERATIONS[op] for name, op in zip(self._op_names, arch.code[1:], strict=True)}
        return Configuration(self.configspace(), values=values)

    def from_config(self, config: Configuration | Mapping[str, Any]) -> Architecture:
        values = self.config_values(config)
        names = {*self._edge_names, *self._op_names}
        if set(values) != names:
            odd = sorted(set(values) ^ names)
            raise InvalidArchitecture(
                f"an nb101 configuration sets edge_0 … edge_20 and op_node_0 … op_node_4; wrong: {shorten(odd)}"
            )
        edges = 0
        for name, bit in zip(self._edge_names, BY_ROW, strict=True):
            if values[name] not in (0, 1):
                raise InvalidArchitecture(f"an nb101 edge is 0 or 1, got {name} = {shorten(values[name])}")
            edges |= int(values[name]) << bit
        ops = []
        for name in self._op_names:
            op = str(values[name])
            if op not in OPERATIONS:
                raise InvalidArchitecture(
                    f"an nb101 operation is called {shorten(op)} in {name}; {nearest(op, OPERATIONS)}"
                )
            ops.append(OPERATIONS.index(op))
        cell.check(edges)
        return Architecture(self.name, (edges, *ops))

    # --- batches -----------------------------------------------------------------------------------------------------

    def _edge_matrix(self, codes: Codes) -> Codes:
        matrix: Codes = codes[:, :1] >> np.array(BY_ROW) & 1
        return matrix

    def _encode_onehot(self, codes: Codes) -> NDArray[np.float32]:
        operations = one_hot(codes[:, 1:], [len(OPERATIONS)] * INTERIOR)
        return np.concatenate([self._edge_matrix(codes).astype(np.float32), operations], axis=1)

    def _encode_config(self, codes: Codes) -> NDArray[np.float32]:
        operations = codes[:, 1:] / (len(OPERATIONS) - 1)
        values = np.concatenate([self._edge_matrix(codes), operations], axis=1).astype(np.float32)
        return values[:, self._config_order]

    @cached_property
    def _config_order(self) -> list[int]:
        """Edges and operations in the order of the ConfigSpace, which sorts its parameters by name."""
        names = (*self._edge_names, *self._op_names)
        return [names.index(name) for name in self.configspace()]

    def _encode_path(self, codes: Codes) -> NDArray[np.float32]:
        """One bit for each sequence of up to five operations: 364."""
        offsets = path_offsets(len(OPERATIONS), INTERIOR)
        features = np.zeros((len(codes), int(offsets[-1])), dtype=np.float32)
        rows = np.arange(len(codes))
        for subset in range(1 << INTERIOR):
            stops = [vertex for vertex in range(1, LAST) if subset >> (vertex - 1) & 1]
            exists = np.ones(len(codes), dtype=np.int64)
            for source, target in zip([0, *stops], [*stops, LAST], strict=True):
                exists &= codes[:, 0] >> (FIRST_BIT[target] + source)
            sequence = np.zeros(len(codes), dtype=np.int64)
            for vertex in stops:
                sequence = sequence * len(OPERATIONS) + codes[:, vertex]
            hit = (exists & 1) == 1
            features[rows[hit], offsets[len(stops)] + sequence[hit]] = 1
        return features

    def operations_present(self, archs: Batch) -> NDArray[np.bool_]:
        """The vertices that pruning leaves."""
        present: NDArray[np.bool_] = self.graphs(archs).node_labels[:, 1:-1] != ABSENT
        return present

    def neighbor_pairs(self, codes: Codes) -> Pairs:
        return edits.neighbor_pairs(codes)

    def edit_distances(self, codes: Codes, arch: Architecture) -> NDArray[np.int64]:
        """The number of labels and edges that differ, minimised over all numberings of the architecture's vertices.

        These are its isomorphic encodings and more; so it is the same for isomorphic cells and the same both ways. The
        vertices that a smaller cell lacks count as isolated vertices with whatever label is wanted.
        """
        return edits.edit_distances(self.canonical_codes(codes), self.canonical(arch).code)

    def operation_changes(self, codes: Codes) -> tuple[OperationChanges]:
        """One vertex with another label, once for every vertex of every cell."""
        names = tuple(operation.removesuffix("-bn-relu") for operation in OPERATIONS)
        return (OperationChanges((), names, edits.relabelled_pairs(codes)),)

    def graphs(self, archs: Batch) -> Graphs:
        """Seven node slots; pruned vertices and their edges are absent."""
        codes = self.codes(archs)
        remaining = (canonical.kept_batch(codes[:, 0])[:, None] >> np.arange(MAX_VERTICES) & 1) == 1
        nodes = np.concatenate([np.zeros((len(codes), 1)), codes[:, 1:] + 2, np.ones((len(codes), 1))], axis=1).astype(
            np.int8
        )
        nodes[~remaining] = ABSENT
        edges = np.full((len(codes), MAX_VERTICES, MAX_VERTICES), ABSENT, dtype=np.int8)
        connected = (codes[:, :1] >> _BITS & 1 == 1) & remaining[:, _SOURCES] & remaining[:, _TARGETS]
        edges[:, _SOURCES, _TARGETS] = np.where(connected, np.int8(0), np.int8(ABSENT))
        return Graphs(nodes, edges, ("input", "output", *OPERATIONS), ("edge",))

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        pruned = cell.compact(arch.code)
        last = pruned.vertices - 1
        nodes = (
            Node("0", "input", "input"),
            *(Node(str(i + 1), text.SHORT_NAMES[op]) for i, op in enumerate(pruned.ops)),
            Node(str(last), "output", "output"),
        )
        return (Diagram("NAS-Bench-101 cell", nodes, tuple((str(x), str(y)) for x, y in cell.edge_pairs(pruned))),)

    def edit_diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """All seven vertices; those on no path from input to output are not used. Edges that an edit can add are among
        the choices."""
        remaining = cell.kept_vertices(arch.code[0])
        nodes = (
            Node("0", "input", "input"),
            *(
                Node(
                    str(vertex),
                    text.SHORT_NAMES[arch.code[vertex]],
                    choice=str(vertex),
                    used=remaining >> vertex & 1 == 1,
                )
                for vertex in range(1, LAST)
            ),
            Node(str(LAST), "output", "output"),
        )
        edges = tuple((str(x), str(y)) for x, y in cell.edge_pairs(Compact(arch.code[0], arch.code[1:])))
        choices = tuple(
            ((str(source), str(target)), edits.edge_choice(source, target)) for source, target in edits.BIT_EDGES
        )
        return (Diagram("NAS-Bench-101 cell", nodes, edges, choices),)
