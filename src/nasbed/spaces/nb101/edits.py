"""What is one edit apart: the edits of one NAS-Bench-101 cell, and those in a table, over all isomorphic encodings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.spaces.edits import Pairs
from nasbed.spaces.facts import Edit
from nasbed.spaces.lookup import Lookup, Rows
from nasbed.spaces.nb101.canonical import canonical_codes, interior_orders, kept_batch
from nasbed.spaces.nb101.cell import ALL_EDGES, FIRST_BIT, LAST, MAX_VERTICES, OPERATIONS, is_valid
from nasbed.spaces.nb101.text import SHORT_NAMES

Codes = NDArray[np.int64]

BIT_EDGES = tuple((source, target) for target in range(1, MAX_VERTICES) for source in range(target))
"""(source, target) of each edge bit."""
_VERTEX_NAMES = ("input", *map(str, range(1, LAST)), "output")


def edge_choice(source: int, target: int) -> str:
    """The name of the choice whether there is an edge."""
    return f"{source}-{target}"


def single_edits(arch: Architecture) -> Iterator[Edit]:
    """Every operation changed, then every edge added or removed that leaves a valid cell."""
    edges, *ops = arch.code
    for vertex, before in enumerate(ops, start=1):
        for after, name in enumerate(SHORT_NAMES):
            if after != before:
                edited = Architecture(arch.space, (edges, *ops[: vertex - 1], after, *ops[vertex:]))
                yield Edit(str(vertex), f"operation of vertex {vertex}", SHORT_NAMES[before], name, edited)
    for bit, (source, target) in enumerate(BIT_EDGES):
        if is_valid(edges ^ 1 << bit):
            was, becomes = ("edge", "no edge") if edges >> bit & 1 else ("no edge", "edge")
            title = f"edge {_VERTEX_NAMES[source]} → {_VERTEX_NAMES[target]}"
            edited = Architecture(arch.space, (edges ^ 1 << bit, *ops))
            yield Edit(edge_choice(source, target), title, was, becomes, edited)


def relabelled_pairs(codes: Codes) -> Iterator[tuple[Rows, Rows, Rows, Rows]]:
    """Every vertex of every cell with each other label, where that cell is in the table too: batches of (row before,
    row after, label before, label after)."""
    lookup = Lookup(codes)
    remaining = kept_batch(codes[:, 0])
    for vertex in range(1, LAST):
        rows = np.flatnonzero(remaining >> vertex & 1)
        for step in range(1, len(OPERATIONS)):
            edited = codes[rows]
            previous_column = edited[:, vertex].copy()
            edited[:, vertex] = (previous_column + step) % len(OPERATIONS)
            after = lookup.find(canonical_codes(edited))
            present = after >= 0
            yield rows[present], after[present], previous_column[present], edited[present, vertex]


def neighbor_pairs(codes: Codes) -> Pairs:
    """Two cells are neighbours if *some* encodings of them differ in one label or edge.

    Flipping a label and removing an edge do not depend on the order of the vertices, and adding an edge undoes a
    removal. So these two edits of the canonical forms, taken both ways, find every such pair.
    """
    lookup = Lookup(codes)
    pairs = [(rows, targets) for rows, targets, _, _ in relabelled_pairs(codes)]
    for bit in range(ALL_EDGES):
        rows = np.flatnonzero(codes[:, 0] >> bit & 1)
        edited = codes[rows]
        edited[:, 0] ^= 1 << bit
        connected = kept_batch(edited[:, 0]) != 0
        targets = lookup.find(canonical_codes(edited[connected]))
        pairs.append((rows[connected][targets >= 0], targets[targets >= 0]))
    return pairs


def edit_distances(codes: Codes, code: tuple[int, ...]) -> NDArray[np.int64]:
    """From a canonical code to each row of canonical codes, minimised over every numbering of its interior.

    An edge that a numbering turns backward is in none of the rows, so it counts as one to remove beside one to add.
    """
    edges, ops = code[0], code[1:]
    own_kept = int(kept_batch(np.array([edges]))[0])
    remaining = kept_batch(codes[:, 0])
    live = remaining[:, None] >> np.arange(1, LAST) & 1 == 1
    nearest = np.full(len(codes), np.iinfo(np.int64).max)
    for order in interior_orders(MAX_VERTICES):
        forward, backward = 0, 0
        for target in range(1, MAX_VERTICES):
            for source in range(target):
                if edges >> (FIRST_BIT[target] + source) & 1:
                    if order[source] < order[target]:
                        forward |= 1 << (FIRST_BIT[order[target]] + order[source])
                    else:
                        backward += 1
        distance = np.bitwise_count(codes[:, 0] ^ forward).astype(np.int64) + backward
        for vertex in range(1, LAST):
            if own_kept >> vertex & 1:
                place = order[vertex]
                distance += live[:, place - 1] & (codes[:, place] != ops[vertex - 1])
        nearest = np.minimum(nearest, distance)
    return nearest
