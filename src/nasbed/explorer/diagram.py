"""Drawn cells as data, for a page on which they can be edited: the layout of the pictures, with the choices that nodes
and edges show."""

from __future__ import annotations

from typing import Any

from nasbed.core.architecture import Architecture
from nasbed.drawing.cells import PlacedDiagram, placed_diagrams
from nasbed.spaces.base import SearchSpace


def diagram_data(space: SearchSpace, arch: Architecture) -> list[dict[str, Any]]:
    """Each cell of an architecture: boxes by their centre, edges as SVG paths, and what an edit can change."""
    diagrams = space.edit_diagrams(arch)
    drawn = {node.choice for diagram in diagrams for node in diagram.nodes if node.choice}
    options = sorted(
        {option for edit in space.edits(arch) if edit.choice in drawn for option in (edit.before, edit.after)}
    )
    return [_placed_data(placed) for placed in placed_diagrams(diagrams, options)]


def _placed_data(placed: PlacedDiagram) -> dict[str, Any]:
    diagram, plan = placed.diagram, placed.plan
    edge_choices = dict(diagram.edge_choices)
    nodes = []
    for node in diagram.nodes:
        box = plan.boxes[node.id]
        nodes.append(
            {
                "id": node.id,
                "label": node.label,
                "kind": node.kind,
                "x": round(box.x, 2),
                "y": round(box.y, 2),
                "width": round(box.width, 2),
                "height": round(box.height, 2),
                "fill": placed.colours.get(node.label) if node.kind == "operation" else None,
                "used": node.used,
                "edit": node.choice or None,
            }
        )
    edges = [
        {"from": source, "to": target, "label": "", "path": shaft, "head": head, "edit": edge_choices.get(edge)}
        for edge, shaft, head in placed.arrows()
        for source, target in [edge]
    ]
    absent = [
        {"from": source, "to": target, "edit": choice}
        for (source, target), choice in edge_choices.items()
        if (source, target) not in plan.edges
    ]
    return {
        "title": diagram.title,
        "width": round(plan.width, 2),
        "height": round(plan.height, 2),
        "nodes": nodes,
        "edges": edges,
        "absent": absent,
    }
