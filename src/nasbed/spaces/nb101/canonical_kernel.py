"""Canonical forms of many pruned cells at once: every order of the interior tried, compiled."""

from __future__ import annotations

from nasbed.core.arrays import numba_compiled


@numba_compiled()
def canonical_into(vertices, edges, ops, orders, starts, result):  # type: ignore[no-untyped-def]
    """Write the padded canonical code of each compact cell.

    Args:
        vertices, edges, ops: How many vertices each cell has, its edge set, and its operations.
        orders, starts: Every order of the interior, and where those for a number of vertices start.
        result: Gets the codes, ``[n, 6]``.
    """
    for cell in range(len(edges)):
        count = vertices[cell]
        last = count - 1
        best = (1 << 62) - 1
        for row in range(starts[count], starts[count + 1]):
            order = orders[row]
            moved, forward = 0, True
            for target in range(1, count):
                incoming = edges[cell] >> (target * (target - 1) // 2) & ((1 << target) - 1)
                new_target = order[target]
                first = new_target * (new_target - 1) // 2
                source = 0
                while incoming:
                    if incoming & 1:
                        if order[source] > new_target:
                            forward = False
                            break
                        moved |= 1 << (first + order[source])
                    incoming >>= 1
                    source += 1
                if not forward:
                    break
            if not forward:
                continue
            labels = 0
            for vertex in range(1, last):
                labels |= ops[cell, vertex - 1] << (2 * (count - 2 - order[vertex]))
            best = min(best, moved << (2 * (count - 2)) | labels)
        interior = count - 2
        for place in range(interior):
            result[cell, place + 1] = best >> (2 * (interior - 1 - place)) & 3
        smallest = best >> (2 * interior)
        output = last * (last - 1) // 2
        result[cell, 0] = smallest & ((1 << output) - 1) | smallest >> output << 15
