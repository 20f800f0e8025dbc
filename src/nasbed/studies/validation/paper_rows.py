"""What a paper found on data of its own, as rows among those of a validation that say so."""

from __future__ import annotations

from dataclasses import replace

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, digits, fixed
from nasbed.studies.validation.published import Published
from nasbed.studies.validation.study import Validation
from nasbed.studies.validation.table_error import ALL, TABLE

Cells = dict[str, str]
"""Texts by column."""


def with_paper(table: NumberTable, study: Validation, part: str) -> NumberTable:
    """A part's table with the paper's rows: each below the last of the same model and method, where there is one."""
    paper = study.paper
    if paper is None:
        return table
    beside = [_published(row, part, study, paper) for row in table.rows]
    rows, asides = [], set()
    for place, (row, found) in enumerate(zip(table.rows, beside, strict=True), 1):
        rows.append(row)
        if found is not None and found not in beside[place:]:
            asides.add(len(rows))
            rows.append(tuple(found.get(column, MISSING) for column in table.columns))
    if not asides:
        return table
    note = f"{paper.label}: {paper.sources[part]}."
    return replace(table, rows=tuple(rows), asides=frozenset(asides), note=note)


def _published(row: tuple[str, ...], part: str, study: Validation, paper: Published) -> Cells | None:
    """What the paper says of the model, and method, that a row is about."""
    if part == "looo":
        method, model = row[0], study.models[row[1]]
        found = paper.left_out(method, model)
        if found is None:
            return None
        cells = {"left out": method, "model": model, "tested on": paper.label}
        return cells | {"R²": fixed(found.r2, 3), "sKT": fixed(found.sparse_kendall, 3)}
    model = TABLE if part == "table" and row[0] == TABLE else study.models[row[0]]
    other = paper.table.get(model)
    if part == "table":
        if other is None or row[1] != ALL:
            return None
        return {"": f"{model}, {paper.label}", "MAE": digits(other.mae)}
    found = paper.fits.get(model)
    if found is None:
        return None
    cells = {"model": f"{model}, {paper.label}", "R²": fixed(found.r2, 3), "sKT": fixed(found.sparse_kendall, 3)}
    return cells | ({"KL by spread": digits(other.kl, 3)} if other is not None else {})
