"""NATS-Bench's cells as objects: for each node, its operations and where they come from."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from nasbed.core.errors import ParseError, shorten

Node = tuple[tuple[str, int], ...]
"""The operations into a node, each with its source node."""


def topology_str2structure(xstr: str | TopologyStructure) -> TopologyStructure:
    """The cell of an architecture string."""
    return TopologyStructure.str2structure(xstr)


class TopologyStructure:
    """A cell of any number of nodes. ``nodes`` has those after the input, each as (operation, source) pairs."""

    def __init__(self, genotype: Sequence[Sequence[tuple[str, int]]]) -> None:
        self.nodes: list[Node] = []
        for place, node in enumerate(genotype):
            edges = tuple((str(operation), int(source)) for operation, source in node)
            if not edges or not all(0 <= source <= place for _, source in edges):
                raise ParseError(f"a node has one edge or more, from nodes before it, got {shorten(node)}")
            self.nodes.append(edges)
        self.node_num = len(self.nodes) + 1
        self.node_N = [len(node) for node in self.nodes]

    @staticmethod
    def str2structure(xstr: str | TopologyStructure) -> TopologyStructure:
        return xstr if isinstance(xstr, TopologyStructure) else TopologyStructure(_parsed(xstr))

    @staticmethod
    def str2fullstructure(xstr: str, default_name: str = "none") -> TopologyStructure:
        """The same, with an operation added for each earlier node that the string does not name, the one directly
        before excepted, as published."""
        nodes = []
        for place, node in enumerate(_parsed(xstr)):
            named = {source for _, source in node}
            added = [(default_name, source) for source in range(place) if source not in named]
            nodes.append(sorted([*node, *added], key=lambda edge: (edge[1], edge[0])))
        return TopologyStructure(nodes)

    @staticmethod
    def gen_all(search_space: Sequence[str], num: int, return_ori: bool) -> list[Any]:
        """Every cell of ``num`` nodes; as lists of nodes if ``return_ori`` is true."""
        if num < 2:
            raise ParseError(f"a cell has two nodes or more, got {num}")
        choices = [
            [
                tuple((operation, source) for source, operation in enumerate(operations))
                for operations in itertools.product(search_space, repeat=node)
            ]
            for node in range(1, num)
        ]
        cells = [list(nodes) for nodes in itertools.product(*choices)]
        return cells if return_ori else [TopologyStructure(cell) for cell in cells]

    def tostr(self) -> str:
        return "+".join("|" + "|".join(f"{op}~{source}" for op, source in node) + "|" for node in self.nodes)

    def tolist(self, remove_str: str | None) -> tuple[list[Node] | None, bool]:
        """The nodes without one operation, edges in order, and True; None and False if a node is left without edges."""
        nodes = [
            tuple(edge for edge in sorted(node, key=lambda edge: (edge[1], edge[0])) if edge[0] != remove_str)
            for node in self.nodes
        ]
        return (nodes, True) if all(nodes) else (None, False)

    def node(self, index: int) -> Node:
        return self.nodes[index]

    def check_valid(self) -> bool:
        """Whether the output depends on the input."""
        reached = [True]
        for node in self.nodes:
            reached.append(any(op != "none" and reached[source] for op, source in node))
        return reached[-1]

    def to_unique_str(self, consider_zero: bool | None = False) -> str:
        """A text that is equal for cells that only differ in the order of their terms. A skip is its source; None as
        ``consider_zero`` keeps skips; True writes ``#`` for what is zero."""
        texts = ["0"]
        for node in self.nodes:
            terms = []
            for operation, source in node:
                if consider_zero and (operation == "none" or texts[source] == "#"):
                    terms.append("#")
                elif operation == "skip_connect" and consider_zero is not None:
                    terms.append(texts[source])
                else:
                    terms.append(f"({texts[source]})@{operation}")
            texts.append("+".join(sorted(terms)))
        return texts[-1]

    def check_valid_op(self, op_names: Sequence[str]) -> bool:
        """Whether all operations are among some names."""
        return all(operation in op_names for node in self.nodes for operation, _ in node)

    def __len__(self) -> int:
        return self.node_num

    def __getitem__(self, index: int) -> Node:
        return self.nodes[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TopologyStructure) and self.nodes == other.nodes

    def __hash__(self) -> int:
        return hash(tuple(self.nodes))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.node_num} nodes with {self.tostr()})"


def _parsed(text: object) -> list[Node]:
    if not isinstance(text, str):
        raise ParseError(f"a cell is a text such as |none~0|+|none~0|none~1|, got {shorten(text)}")
    nodes = []
    for part in text.split("+"):
        edges = [edge.split("~") for edge in part.split("|") if edge]
        if not all(len(edge) == 2 and edge[1].isdigit() for edge in edges):
            raise ParseError(f"an edge is operation~source, got {shorten(part)}")
        nodes.append(tuple((operation, int(source)) for operation, source in edges))
    return nodes
