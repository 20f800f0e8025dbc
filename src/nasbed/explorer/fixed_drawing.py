"""Cells that differ in the operations of their slots alone: one drawing and a table of options show them all."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.explorer.catalogue import BenchmarkView
from nasbed.explorer.diagram import diagram_data


def fixed_drawing(view: BenchmarkView, rows: NDArray[np.int64]) -> dict[str, Any] | None:
    """The drawing of one row, its slots, and the option of every slot in every row; None in a space whose cells do not
    have one common drawing.

    ``codes`` are bytes, a row of slots for each of the rows, that index ``options``.
    """
    space, arch = view.benchmark.space, view.points.architecture(int(rows[0]))
    diagrams = space.edit_diagrams(arch)
    slots = [node.choice for diagram in diagrams for node in diagram.nodes if node.choice]
    edits = list(space.edits(arch))
    titles = {edit.choice: edit.title for edit in edits}
    if not slots or any(diagram.edge_choices for diagram in diagrams) or set(titles) != set(slots):
        return None
    choices = space.choices_of(view.points.codes[rows])
    places = [choices.names.index(slot) for slot in slots]
    options = choices.options[places[0]]
    variants = {edit.after: diagram_data(space, edit.arch) for edit in edits if edit.choice == slots[0]}
    drawing = diagram_data(space, arch)
    variants[choices.options[places[0]][choices.values[0, places[0]]]] = drawing
    shown = {option: _slot_node(variant, slots[0]) for option, variant in variants.items()}
    same_options = all(choices.options[place] == options for place in places) and set(shown) == set(options)
    if not same_options or any(node["label"] != option for option, node in shown.items()):
        return None
    if any(_outline(variant) != _outline(drawing) for variant in variants.values()):
        return None
    return {
        "slots": slots,
        "slot_titles": [titles[slot] for slot in slots],
        "options": [{key: shown[option][key] for key in ("label", "fill", "used")} for option in options],
        "codes": b64encode(choices.values[:, places].astype(np.uint8).tobytes()).decode(),
        "diagram": drawing,
    }


def _slot_node(drawing: list[dict[str, Any]], slot: str) -> dict[str, Any]:
    return next(node for cell in drawing for node in cell["nodes"] if node["edit"] == slot)


def _outline(drawing: list[dict[str, Any]]) -> list[Any]:
    """All of a drawing but for what is written in its boxes."""
    return [
        (
            cell["edges"],
            [{key: node[key] for key in ("id", "x", "y", "width", "height", "edit")} for node in cell["nodes"]],
        )
        for cell in drawing
    ]
