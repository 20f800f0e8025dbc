"""Validation accuracy of trained networks, epoch by epoch: who learns late, and who memorises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nasbed.drawing.marks import Chart, dashes, inline, log_ticks, series
from nasbed.drawing.palette import FAINT
from nasbed.studies.unseen.study import ResultCell, UnseenStudy

WIDTH, HEIGHT = 300, 200


def curve_charts(study: UnseenStudy) -> dict[str, Chart]:
    """``curves`` has the networks of table 1, ``nas-curves`` those that NAS methods found: each exists where a training
    was validated in two epochs, with a panel per dataset."""
    cells = [cell for cell in study.cells.values() if len(cell.curve) > 1]
    cnn = [cell for cell in cells if study.paper.column_of(cell.model) in study.paper.cnn_titles]
    nas = [cell for cell in cells if cell not in cnn]
    return {name: _chart(study, group) for name, group in {"curves": cnn, "nas-curves": nas}.items() if group}


def _chart(study: UnseenStudy, cells: Sequence[ResultCell]) -> Chart:
    own = {cell.model for cell in cells}
    models = [model for model in study.measured([*study.paper.cnn_titles, *study.paper.nas_titles]) if model in own]
    models += sorted(own - set(models))
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
    x = x.axis(values=[tick for tick in log_ticks(1, last) if tick.is_integer()], format="d")
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
