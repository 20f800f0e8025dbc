"""The page is one file that needs nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import altair as alt
import numpy as np

from nasbed import space
from nasbed.drawing import Section, cell_svg, write_page
from nasbed.drawing.blocks import (
    ColourScale,
    Details,
    Figure,
    FigureGroup,
    Legend,
    PageCard,
    PageCards,
    Paragraph,
    Picture,
    SideBySide,
    SubSection,
    TableBlock,
    TableCell,
)
from nasbed.drawing.figures import write_report
from nasbed.drawing.marks import inline
from nasbed.drawing.palette import looks
from nasbed.drawing.panels import page_panels
from nasbed.evaluation.significance import Interval
from support.pages import check_page


def test_page_is_self_contained_and_escaped(tmp_path: Path) -> None:
    cells = space("nb201")
    svg = cell_svg(cells.diagrams(cells.sample(np.random.default_rng(0))))
    path = tmp_path / "page.html"
    write_page(path, "<b>Title", [Section("A & B", {"size": 15625, "<script>": "alert(1)"}, blocks=[Picture(svg)])])
    reader = check_page(path)
    tags = [tag for tag, _ in reader.tags]
    assert "script" not in tags and "b" not in tags
    assert tags.count("svg") == 1
    assert "15\u2009625" in reader.text and "<script>" in reader.text and "A & B" in reader.text


def test_report_shows_the_html_of_its_sections(tmp_path: Path) -> None:
    section = Section("Numbers", {"rows": 2}, text="What was counted.", html="<table><tr><td>1</td></tr></table>")
    write_report(tmp_path, "Counted", sections=[section], figures={}, numbers={})
    page = (tmp_path / "report.html").read_text()
    assert section.html in page and section.text in page


def test_every_block_is_written_and_escaped(tmp_path: Path) -> None:
    """Texts of all blocks are on the page, as texts."""
    hostile = "</script><b>\"'&"
    look = looks(["rs"])["rs"]
    cell = TableCell(hostile, small=f"small {hostile}", look=look, bar=Interval(0.2, 0.1, 0.3), bar_colour=look.colour)
    card = PageCard(hostile, f"about {hostile}", Figure("chart"), [("fact", f"value {hostile}")])
    blocks = (
        Paragraph(hostile, "note", lead="lead"),
        TableBlock((TableCell("head"),), ((cell,),), note=f"note {hostile}", asides=frozenset({0})),
        FigureGroup((Figure("chart", f"title {hostile}", f"caption {hostile}", method=hostile),), "small"),
        PageCards((card,)),
        Legend({hostile: look}),
        ColourScale("early", "late"),
        Picture("<svg></svg>"),
    )
    nested = Details(
        f"folded {hostile}", (SubSection(f"part {hostile}", "text", (SideBySide((blocks[0], blocks[1])),)),)
    )
    chart = alt.Chart(inline([{"x": 1, "name": hostile}])).mark_point().encode(alt.X("x:Q"), alt.Color("name:N"))
    path = tmp_path / "page.html"
    write_page(
        path,
        "Blocks",
        [Section("All", {}, blocks=(*blocks[:2], blocks[3], *blocks[4:], nested))],
        charts={"chart": chart},
    )
    reader = check_page(path)
    for begin in ("lead ", "small ", "note ", "about ", "value ", "folded ", "part ", "early"):
        assert begin in reader.text and (begin == "early" or f"{begin}{hostile}" in reader.text), begin
    assert "b" not in {tag for tag, _ in reader.tags}
    (text,) = reader.charts.values()
    assert hostile in {row.get("name") for data in json.loads(text)["data"] for row in data.get("values", [])}


def test_charts_beside_each_other_become_panels() -> None:
    """The page arranges them; a chart that stands alone keeps its name, stacked ones share their place."""
    single = alt.Chart(inline([{"x": 1}]), title="One", width=300, height=200).mark_point().encode(alt.X("x:Q"))
    rows = alt.vconcat(alt.hconcat(single, single), alt.hconcat(single))
    assert [panel.name for panel in page_panels("figure", single)] == ["figure"]
    panels = page_panels("figure", rows)
    assert [panel.name for panel in panels] == ["figure-1", "figure-2", "figure-3"]
    assert not panels[0].stacked and page_panels("figure", alt.vconcat(single, single))[0].stacked
    tall = single.properties(height=301)
    assert [page_panels("figure", alt.hconcat(single, other))[0].uneven for other in (single, tall)] == [False, True]
    for panel in panels:
        assert panel.title == "One" and "title" not in panel.specification
        assert any("containerSize" in str(signal) for signal in panel.specification["signals"])


def test_importing_the_package_loads_no_template_engine() -> None:
    code = (
        "import sys, nasbed, nasbed.drawing; print([m for m in ('jinja2', 'altair', 'vl_convert') if m in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"
