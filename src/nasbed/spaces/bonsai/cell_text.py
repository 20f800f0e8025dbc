"""Architectures of Bonsai-Net in words and as pictures: what each cell keeps, and what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nasbed.spaces.bonsai.frame import OPERATIONS
from nasbed.spaces.bonsai.genotype import BonsaiGenotype
from nasbed.spaces.graph import Diagram, Node

MOST_DRAWN = 30
"""A cell with more operations is drawn with a box an edge: one for each would be neither quick nor legible."""
_KINDS = {"n": "normal", "r": "reducing"}


def changes(before: BonsaiGenotype, after: BonsaiGenotype) -> str:
    """How many of each operation, and inputs of cells, were closed and opened, on one line; empty where none was."""
    parts = []
    old, new = _places(before), _places(after)
    for name in (*OPERATIONS, "inputs"):
        counts = (("−", len(old[name] - new[name])), ("+", len(new[name] - old[name])))
        if texts := [f"{sign}{count}" for sign, count in counts if count]:
            parts.append(f"{name} {' '.join(texts)}")
    return ", ".join(parts)


def cell_lines(genotype: BonsaiGenotype) -> list[str]:
    """A line for each cell and entrance or node of it with what comes in: ``2 = skip_connect(0) + sep_conv_3x3(1)``.
    Entrance 0 is the output before, which goes without saying."""
    lines = []
    for position, cell in enumerate(genotype.cells):
        parts = [f"1 = {' + '.join(_output(number) for number in cell.inputs)}"] if cell.inputs else []
        for node in genotype.frame.targets:
            operations = _operations(genotype, position)
            terms = [f"{name}({source})" for (source, target), name in operations if target == node]
            parts += [f"{node} = {' + '.join(terms)}"] if terms else []
        title = f"{_output(position + 1)}, {_KINDS[genotype.frame.cells[position]]}"
        for part in parts or ["is not there"]:
            lines.append(f"{title:<17} {part}")
            title = ""
    return lines


def diagrams(genotype: BonsaiGenotype) -> tuple[Diagram, ...]:
    """A picture of each cell that keeps anything; of a network that keeps nothing, its two ends."""
    if not genotype.kept:
        nodes = (Node("from 0", _output(0), "input"), Node("output", "output", "output"))
        return (Diagram("Nothing is kept", nodes, ()),)
    return tuple(_diagram(genotype, position) for position, cell in enumerate(genotype.cells) if any(cell.operations))


def _diagram(genotype: BonsaiGenotype, position: int) -> Diagram:
    inputs, last = genotype.cells[position].inputs, genotype.frame.targets[-1]
    boxes = _boxes(genotype, position)
    ends = {end for edge, _ in boxes for end in edge}
    sources = sorted({*inputs, *({position} if 0 in ends else ())})
    ids = {0: f"from {position}"} | {node: str(node) for node in range(1, last + 1)}
    nodes = [Node(f"from {number}", _output(number), "input") for number in sources]
    nodes += [Node(ids[node], str(node), "sum") for node in range(1, last) if node in ends]
    links = [(f"from {number}", ids[1]) for number in inputs]
    for (source, target), label in boxes:
        box = f"{source}-{target}-{label}"
        nodes.append(Node(box, label))
        links += [(ids[source], box), (box, ids[target])]
    nodes.append(Node(ids[last], "output", "output"))
    title = f"Cell {position + 1}, {_KINDS[genotype.frame.cells[position]]}"
    return Diagram(title, tuple(nodes), tuple(links))


def _boxes(genotype: BonsaiGenotype, position: int) -> list[tuple[tuple[int, int], str]]:
    """The edges and labels of what is drawn of a cell."""
    operations = list(_operations(genotype, position))
    if len(operations) <= MOST_DRAWN:
        return operations
    counts = Counter(edge for edge, _ in operations)
    return list(
        dict.fromkeys((edge, name if counts[edge] == 1 else f"{counts[edge]} operations") for edge, name in operations)
    )


def _operations(genotype: BonsaiGenotype, position: int) -> Iterator[tuple[tuple[int, int], str]]:
    """The edges and operations of a cell."""
    for edge, names in zip(genotype.frame.edges, genotype.cells[position].operations, strict=True):
        for name in names:
            yield edge, name


def _places(genotype: BonsaiGenotype) -> dict[str, set[tuple[int, ...]]]:
    """Where each operation is kept, and which inputs are."""
    places: dict[str, set[tuple[int, ...]]] = {name: set() for name in (*OPERATIONS, "inputs")}
    for position, cell in enumerate(genotype.cells):
        places["inputs"] |= {(position, number) for number in cell.inputs}
        for edge, name in _operations(genotype, position):
            places[name].add((position, *edge))
    return places


def _output(number: int) -> str:
    """Outputs are numbered from 0, which is the stem's."""
    return f"cell {number}" if number else "stem"
