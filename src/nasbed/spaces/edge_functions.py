"""Which cells of four nodes compute the same function.

What a node holds is a sum of terms. An edge adds to its target. ``none`` adds nothing, and skip adds the source itself.
Average pooling is linear, so the pooling of a sum is the sum of the poolings. A convolution is ReLU, convolution and
batch normalisation, so its output does not change if its input is multiplied by a positive factor. Each convolution is
a separate term, as two convolutions of one input have different weights. Two cells compute the same function if their
outputs are the same sums, for some exchange of weights between convolutions of one kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import permutations, product
from math import gcd

import numpy as np

from nasbed.spaces.base import Codes
from nasbed.spaces.edge_cell import EDGES

Terms = tuple[tuple[str, int], ...]
"""The terms of a sum and how often each occurs, sorted."""


def representatives(codes: Codes, operations: tuple[str, ...]) -> Codes:
    """For each code the smallest one that computes the same function."""
    smallest: Codes = _all_representatives(operations)[codes @ len(operations) ** np.arange(len(EDGES))[::-1]]
    return smallest


@lru_cache
def _all_representatives(operations: tuple[str, ...]) -> Codes:
    """The representative of every code, in the order of the codes."""
    codes = np.array(list(product(range(len(operations)), repeat=len(EDGES))), dtype=np.int64)
    first: dict[Terms, int] = {}
    numbers = [first.setdefault(_function(code, operations), number) for number, code in enumerate(codes.tolist())]
    return codes[numbers]


def _function(code: Sequence[int], operations: tuple[str, ...]) -> Terms:
    """The output of a cell, the same for all cells with that function: of all ways to name the convolutions, the one
    that sorts first."""
    steps = [operations[op] for op in code]
    return min(_output(steps, names) for names in _namings(steps))


def _namings(steps: Sequence[str]) -> Iterator[Mapping[int, str]]:
    """Every way to number the convolutions of each kind, by edge."""
    kinds = sorted({step for step in steps if "conv" in step})
    edges = [[edge for edge, step in enumerate(steps) if step == kind] for kind in kinds]
    for orders in product(*(permutations(range(len(positions))) for positions in edges)):
        yield {
            edge: f"{kind}#{number}"
            for kind, numbers, order in zip(kinds, edges, orders, strict=True)
            for edge, number in zip(numbers, order, strict=True)
        }


def _output(steps: Sequence[str], names: Mapping[int, str]) -> Terms:
    nodes: list[Counter[str]] = [Counter({"input": 1}), Counter(), Counter(), Counter()]
    for edge, (source, target) in enumerate(EDGES):  # in this order a source is complete when it is read
        terms = nodes[source]
        if steps[edge] == "none" or not terms:
            continue
        if steps[edge] == "skip_connect":
            nodes[target].update(terms)
        elif edge in names:
            common = reduce(gcd, terms.values())
            inner = "+".join(f"{count // common}*{term}" for term, count in sorted(terms.items()))
            nodes[target][f"{names[edge]}({inner})"] += 1
        else:
            nodes[target].update({f"{steps[edge]}({term})": count for term, count in terms.items()})
    return tuple(sorted(nodes[3].items()))
