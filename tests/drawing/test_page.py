"""The page is one file that needs nothing else."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from nasbed import space
from nasbed.drawing import Section, cell_svg, write_page
from nasbed.drawing.figures import write_report


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_is_self_contained_and_escaped(tmp_path: Path) -> None:
    cells = space("nb201")
    svg = cell_svg(cells.diagrams(cells.sample(np.random.default_rng(0))))
    path = tmp_path / "page.html"
    write_page(path, "<b>Title", [Section("A & B", {"size": 15625, "<script>": "alert(1)"}, svg)])
    html = path.read_text()
    reader = Reader()
    reader.feed(html)
    assert "script" not in reader.tags and "b" not in reader.tags
    assert reader.tags.count("svg") == 1
    assert "15\u2009625" in reader.text and "<script>" in reader.text and "A & B" in reader.text
    assert not re.search(r'(?:src|href)="', html)


def test_report_shows_the_html_of_its_sections(tmp_path: Path) -> None:
    section = Section("Numbers", {"rows": 2}, text="What was counted.", html="<table><tr><td>1</td></tr></table>")
    write_report(tmp_path, "Counted", sections=[section], figures={}, numbers={})
    page = (tmp_path / "report.html").read_text()
    assert section.html in page and section.text in page
