"""The published figures as rows in the tables of a validation, marked as the paper's."""

from __future__ import annotations

import math
from dataclasses import replace

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, digits, fixed
from nasbed.studies.validation.published import Figures, PublishedFigures
from nasbed.studies.validation.study import Validation
from nasbed.studies.validation.table_error import ALL, TABLE
from nasbed.studies.validation.training_size import TrainingSize


def with_paper(table: NumberTable, study: Validation, part: str) -> NumberTable:
    """A part's table with the paper's rows, each below the last row of the same model and method."""
    paper = study.paper
    if paper is None:
        return table
    paper_cells = [_paper_cells(row, part, study, paper) for row in table.rows]
    rows, asides = [], set()
    for place, (row, published_cells) in enumerate(zip(table.rows, paper_cells, strict=True), 1):
        rows.append(row)
        if published_cells is not None and published_cells not in paper_cells[place:]:
            asides.add(len(rows))
            rows.append(tuple(published_cells.get(column, MISSING) for column in table.columns))
    if not asides:
        return table
    note = f"{paper.label}: {paper.sources[part]}."
    return replace(table, rows=tuple(rows), asides=frozenset(asides), note=note)


def with_paper_size(table: NumberTable, study: Validation, size: TrainingSize) -> NumberTable:
    """The table of training sizes with the paper's error of a table of one seed, and the sizes that pass it."""
    paper = study.paper
    if paper is None or not paper.size:
        return table
    models = [study.models[curve.label] for curve in size.curves]
    figures = paper.table.get(TABLE, Figures())
    rows = [(f"table, {paper.label}", *(digits(figures.mae), fixed(figures.kendall, 2)) * len(models))]
    passes = [paper.size.get(model, Figures()).passes for model in models]
    if any(map(math.isfinite, passes)):
        cells = [text for count in passes for text in (digits(count, 6), MISSING)]
        rows.append((f"passes the table at, {paper.label}", *cells))
    asides = frozenset(range(len(table.rows), len(table.rows) + len(rows)))
    note = f"{paper.label}: {paper.sources['size']}."
    return replace(table, rows=(*table.rows, *rows), asides=asides, note=note)


def _paper_cells(row: tuple[str, ...], part: str, study: Validation, paper: PublishedFigures) -> dict[str, str] | None:
    """The cells of the paper's row for the model, and method, of a row; None where the paper has none."""
    if part == "looo":
        method, model = row[0], study.models[row[1]]
        figures = paper.left_out(method, model)
        if figures is None:
            return None
        cells = {"left out": method, "model": model, "tested on": paper.label}
        return cells | {"R²": fixed(figures.r2, 3), "sKT": fixed(figures.sparse_kendall, 3)}
    if part == "runtime":
        figures = paper.runtime.get(row[0])
        if figures is None:
            return None
        cells = {"model": f"{row[0]}, {paper.label}"}
        return cells | {"R², seconds": fixed(figures.r2, 3), "sKT, seconds": fixed(figures.sparse_kendall, 3)}
    model = TABLE if part == "table" and row[0] == TABLE else study.models[row[0]]
    table_figures = paper.table.get(model)
    if part == "table":
        if table_figures is None or row[1] != ALL:
            return None
        cells = {"": f"{model}, {paper.label}", "MAE": digits(table_figures.mae), "MSE": digits(table_figures.mse)}
        cells["Kendall"] = fixed(table_figures.kendall, 2)
        spread = {"mean \u03c3": digits(table_figures.std), "KL by spread": digits(table_figures.kl, 3)}
        return cells if model == TABLE else cells | spread
    figures = paper.fits.get(model)
    if figures is None:
        return None
    cells = {"model": f"{model}, {paper.label}", "R²": fixed(figures.r2, 3), "sKT": fixed(figures.sparse_kendall, 3)}
    return cells | ({"KL by spread": digits(table_figures.kl, 3)} if table_figures is not None else {})
