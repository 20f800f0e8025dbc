"""Architectures of Bonsai-Net in words and as pictures: what each cell keeps, and what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nasbed.oneshot.bonsai.space import OPERATIONS, BonsaiArchitecture
from nasbed.spaces.graph import Diagram, Node

MOST_DRAWN = 30
"""A cell with more operations is drawn with a box an edge: one for each would be neither quick nor legible."""
_KINDS = {"n": "normal", "r": "reducing"}


def changes(before: BonsaiArchitecture, after: BonsaiArchitecture) -> str:
    """How many of each operation, and inputs of cells, were closed and opened, on one line; empty where none was."""
    said = []
    old, new = _counted(before), _counted(after)
    for name in (*OPERATIONS, "inputs"):
        parts = [f"−{len(old[name] - new[name])}", f"+{len(new[name] - old[name])}"]
        if counted := [part for part in parts if part[1:] != "0"]:
            said.append(f"{name} {' '.join(counted)}")
    return ", ".join(said)


def cell_lines(arch: BonsaiArchitecture) -> list[str]:
    """A line for each cell and entrance or node of it with what comes in: ``2 = skip_connect(0) + sep_conv_3x3(1)``.
    Entrance 0 is the output before, which goes without saying."""
    lines = []
    for place, cell in enumerate(arch.cells):
        parts = [f"1 = {' + '.join(_output(each) for each in cell.inputs)}"] if cell.inputs else []
        for node in arch.frame.targets:
            terms = [f"{name}({source})" for (source, target), name in _kept(arch, place) if target == node]
            parts += [f"{node} = {' + '.join(terms)}"] if terms else []
        title = f"{_output(place + 1)}, {_KINDS[arch.frame.cells[place]]}"
        for part in parts or ["is not there"]:
            lines.append(f"{title:<17} {part}")
            title = ""
    return lines


def diagrams(arch: BonsaiArchitecture) -> tuple[Diagram, ...]:
    """A picture of each cell that keeps anything."""
    return tuple(_diagram(arch, place) for place, cell in enumerate(arch.cells) if any(cell.operations))


def _diagram(arch: BonsaiArchitecture, place: int) -> Diagram:
    inputs, last = arch.cells[place].inputs, arch.frame.targets[-1]
    boxes = _boxes(arch, place)
    ends = {end for edge, _ in boxes for end in edge}
    taken = sorted({*inputs, *({place} if 0 in ends else ())})
    ids = {0: f"from {place}"} | {node: str(node) for node in range(1, last + 1)}
    nodes = [Node(f"from {each}", _output(each), "input") for each in taken]
    nodes += [Node(ids[node], str(node), "sum") for node in range(1, last) if node in ends]
    links = [(f"from {each}", ids[1]) for each in inputs]
    for (source, target), label in boxes:
        box = f"{source}-{target}-{label}"
        nodes.append(Node(box, label))
        links += [(ids[source], box), (box, ids[target])]
    nodes.append(Node(ids[last], "output", "output"))
    title = f"Cell {place + 1}, {_KINDS[arch.frame.cells[place]]}"
    return Diagram(title, tuple(nodes), tuple(links))


def _boxes(arch: BonsaiArchitecture, place: int) -> list[tuple[tuple[int, int], str]]:
    """The edges and labels of what is drawn of a cell."""
    kept = list(_kept(arch, place))
    if len(kept) <= MOST_DRAWN:
        return kept
    counts = Counter(edge for edge, _ in kept)
    return list(
        dict.fromkeys((edge, name if counts[edge] == 1 else f"{counts[edge]} operations") for edge, name in kept)
    )


def _kept(arch: BonsaiArchitecture, place: int) -> Iterator[tuple[tuple[int, int], str]]:
    """The edges and operations of a cell."""
    for edge, names in zip(arch.frame.edges, arch.cells[place].operations, strict=True):
        for name in names:
            yield edge, name


def _counted(arch: BonsaiArchitecture) -> dict[str, set[tuple[int, ...]]]:
    """Where each operation is kept, and which inputs are."""
    found: dict[str, set[tuple[int, ...]]] = {name: set() for name in (*OPERATIONS, "inputs")}
    for place, cell in enumerate(arch.cells):
        found["inputs"] |= {(place, each) for each in cell.inputs}
        for edge, name in _kept(arch, place):
            found[name].add((place, *edge))
    return found


def _output(place: int) -> str:
    """Outputs are numbered from 0, which is the stem's."""
    return f"cell {place}" if place else "stem"
