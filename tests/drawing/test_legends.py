"""The legend of a panel on a page lists what the panel shows, in the colours of the whole figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
from hypothesis import given
from hypothesis import strategies as st

from nasbed.drawing.marks import Chart, dashes, inline, series
from nasbed.drawing.panels import page_panels
from support.examples import examples

NAMES = ["first", "second", "third"]


def lines(shown: Sequence[str], *, layered: bool = False) -> Chart:
    """Points of some of the names, in colours and dashes of all of them."""
    rows = inline([{"x": 1, "model": name} for name in shown])
    chart = alt.Chart(rows) if not layered else alt.Chart()
    chart = chart.mark_line().encode(alt.X("x:Q"), series(NAMES, "model", None), dashes(NAMES, "model", None))
    return (
        alt.layer(alt.Chart(inline([{"x": 2}])).mark_rule().encode(alt.X("x:Q")), chart, data=rows)
        if layered
        else chart
    )


def entries(specification: Any) -> list[list[str]]:
    """The names in each legend; all of its scale where the legend has no list."""
    domains = {scale["name"]: scale["domain"] for scale in specification["scales"]}
    return [
        legend.get("values", domains[legend.get("stroke") or legend["strokeDash"]])
        for legend in specification["legends"]
    ]


@examples(10)
@given(panels=st.lists(st.sets(st.sampled_from(NAMES), min_size=1), min_size=2, max_size=3), layered=st.booleans())
def test_each_panel_lists_its_own_names_in_the_order_of_the_figure(panels: list[set[str]], layered: bool) -> None:
    chart = alt.concat(*(lines(sorted(shown), layered=layered) for shown in panels))
    for panel, shown in zip(page_panels("figure", chart), panels, strict=True):
        listed = entries(panel.specification)
        assert listed and all(names == [name for name in NAMES if name in shown] for names in listed)
        colours = [scale["range"] for scale in panel.specification["scales"] if scale["name"] in ("color", "stroke")]
        assert colours and len(colours[0]) == len(NAMES)


def test_a_legend_whose_names_are_not_in_the_rows_lists_all() -> None:
    """As where a transformation makes them."""
    folded = alt.Chart(inline([{"x": 1, **dict.fromkeys(NAMES, 2)}])).transform_fold([*NAMES], as_=["model", "y"])
    chart = folded.mark_line().encode(alt.X("x:Q"), alt.Y("y:Q"), series(NAMES, "model", None))
    (panel,) = page_panels("figure", chart)
    assert entries(panel.specification) == [NAMES]
    colour = alt.Color(alt.repeat("layer"), type="nominal").scale(domain=NAMES)
    repeated = alt.Chart(inline([{"x": 1, "a": "first"}])).mark_point().encode(alt.X("x:Q"), colour)
    (panel,) = page_panels("figure", repeated.repeat(layer=["a"]))
    assert entries(panel.specification) == [NAMES]
    chosen = lines(NAMES[:2]).encode(series(NAMES, "model", None).legend(values=NAMES[2:]), strokeDash=alt.Undefined)
    assert entries(page_panels("figure", chosen)[0].specification) == [NAMES[2:]]
    hidden = lines(NAMES[:1]).encode(series(NAMES[:1], "model", None), dashes(NAMES[:1], "model", None))
    assert page_panels("figure", hidden)[0].specification.get("legends", []) == []
