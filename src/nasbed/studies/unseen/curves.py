"""Validation accuracy of trained networks, epoch by epoch: who learns late, and who memorises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nasbed.drawing.marks import Chart, dashes, inline, log_ticks, series
from nasbed.drawing.palette import FAINT
from nasbed.studies.unseen.study import ResultCell, UnseenStudy

WIDTH, HEIGHT = 300, 200


def curves_chart(study: UnseenStudy) -> Chart | None:
    """A panel per dataset; None where no training was validated in two epochs."""
    cells = [cell for cell in study.cells.values() if len(cell.curve) > 1]
    if not cells:
        return None
    models = [
        model for model in study.measured(list(study.paper.cnn_titles)) if model in {cell.model for cell in cells}
    ]
    models += sorted({cell.model for cell in cells} - set(models))
    by_dataset = {
        dataset: [cell for cell in cells if cell.dataset == dataset]
        for dataset in study.paper.datasets
        if any(cell.dataset == dataset for cell in cells)
    }
    panels = [_panel(study, dataset, own, models) for dataset, own in by_dataset.items()]
    return alt.concat(*panels, columns=2, spacing=28)


def _panel(study: UnseenStudy, dataset: str, cells: Sequence[ResultCell], models: Sequence[str]) -> Chart:
    rows: list[dict[str, Any]] = [
        {"model": cell.model, "epoch": epoch, "accuracy": value}
        for cell in cells
        for epoch, value in cell.curve.items()
    ]
    last = max(row["epoch"] for row in rows)
    x = alt.X("epoch:Q", title="epoch").scale(type="log", domain=[1, last], nice=False)
    x = x.axis(values=log_ticks(1, last), format="d")
    lines = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=1.6)
        .encode(
            x,
            alt.Y("accuracy:Q", title="validation accuracy [%]").scale(zero=False),
            series(models, "model", None),
            dashes(models, "model", None),
        )
    )
    guess = (
        alt.Chart(inline([{"accuracy": study.paper.chance[dataset]}]))
        .mark_rule(color=FAINT, strokeDash=[4, 3])
        .encode(alt.Y("accuracy:Q"))
    )
    return alt.layer(guess, lines).properties(width=WIDTH, height=HEIGHT, title=study.dataset_title(dataset))
