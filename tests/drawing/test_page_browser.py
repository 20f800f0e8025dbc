"""A page of blocks as a reader has it: figures fill its width, and nothing sticks out of a narrow window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest

from nasbed import space
from nasbed.drawing import Section, write_page
from nasbed.drawing.blocks import Figure, FigureGroup, Picture, figure, table_block
from nasbed.drawing.cells import cell_svg
from nasbed.drawing.marks import inline, series
from nasbed.drawing.number_tables import NumberTable
from support.browsers import complaints, open_browser, show

pytestmark = pytest.mark.browser
WIDTHS = "return [...document.querySelectorAll('.chart')].map(each => [each.offsetWidth, each.firstElementChild.clientWidth])"
OVERFLOWS = """
const width = document.documentElement.clientWidth, boxes = ".scroll *, .legend *, .paper *";
return [...document.querySelectorAll("body *:not(script)")]
  .filter(each => !each.matches(boxes) && each.getBoundingClientRect().right > width + 1)
  .map(each => each.tagName + "." + each.getAttribute("class"));
"""
ROWS = """
const content = document.querySelector("section").getBoundingClientRect();
return [...document.querySelectorAll(".panels")].map(panels => {
  const rights = [...panels.querySelectorAll(".chart svg")].map(each => each.getBoundingClientRect().right);
  return [content.right - Math.max(...rights), panels.getBoundingClientRect().left - content.left];
});
"""


def line(names: list[str], title: str) -> Any:
    rows = [{"name": name, "x": 10**x, "y": x + i} for i, name in enumerate(names) for x in range(8)]
    x = alt.X("x:Q", title="simulated time [s]").scale(type="log")
    chart = alt.Chart(inline(rows), title=title, width=360, height=240).mark_line(point=True)
    return chart.encode(x, alt.Y("y:Q"), series(names, "name", None))


def matrix(names: list[str]) -> Any:
    rows = [{"x": x, "y": y, "value": i * j} for i, x in enumerate(names) for j, y in enumerate(names)]
    x = alt.X("x:N", sort=names).axis(orient="top", labelAngle=-30)
    return alt.Chart(inline(rows), width=200, height=160).mark_rect().encode(x, alt.Y("y:N"), alt.Color("value:Q"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    names = ["a method with a long name", "re", "one more method", "and another one"]
    charts = {
        "one": line(names, "alone"),
        "two": alt.hconcat(line(names, "left"), line(names, "right")),
        "stacked": alt.vconcat(line(["re"], ""), line(["re"], "")),
        "matrix": matrix(["a_long_operation", "nor_conv_1x1", "nor_conv_3x3"]),
    }
    cell = space("darts").sample(np.random.default_rng(0))
    wide = NumberTable(tuple(f"column {i}" for i in range(30)), (tuple(f"{i / 7:.6f}" for i in range(30)),))
    sections = [
        Section("Figures", {"a fact": 10**9}, text="Words. " * 30, blocks=[figure("one"), figure("two")]),
        Section("Cards", {}, blocks=[FigureGroup((Figure("stacked", "Stacked"), Figure("matrix", "Cells")), "cards")]),
        Section("A table", {}, blocks=[table_block(wide), Picture(cell_svg(space("darts").diagrams(cell)))]),
    ]
    write_page(path, "A page of " + "x" * 80, sections, charts=charts)
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.mark.parametrize("width", [420, 1200])
def test_figures_fill_the_width_and_nothing_overflows(width: int, browser: Any, page: Path) -> None:
    show(browser, page, width=width)
    assert complaints(browser) == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(OVERFLOWS) == []
    sizes = browser.execute_script(WIDTHS)
    assert len(sizes) == 1 + 2 + 2 + 1
    for place, chart in sizes:
        assert chart == pytest.approx(place, abs=1)
    rows = browser.execute_script(ROWS)
    assert all(right <= 1 and left <= 1 for right, left in rows[:2]), "rows of figures end with the text"


def test_page_is_legible_in_the_dark(browser: Any, page: Path) -> None:
    def light(selector: str, name: str) -> int:
        script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
        text = browser.execute_script(script, selector, name)
        return sum(int(part) for part in text[text.index("(") + 1 : -1].split(",")[:3])

    show(browser, page, scheme="dark")
    assert light("html", "backgroundColor") < 120
    for selector, name in (
        ("body", "color"),
        (".chart .role-axis-label text", "fill"),
        (".chart .role-legend-label text", "fill"),
    ):
        assert light(selector, name) > 550, selector
    assert light(".paper svg", "backgroundColor") == 3 * 255, "drawings keep their white paper"
