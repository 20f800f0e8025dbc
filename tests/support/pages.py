"""What holds of every page that nasbed writes."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

STYLE = files("nasbed.drawing").joinpath("templates", "style.css").read_text(encoding="utf-8")
PREFIXED = re.compile(r'"format":"[^"]*s"|format\([^()]*,\s*"[^"]*s"\)')
"""A number format with SI prefixes, under which 0.01 reads 10m."""


class PageReader(HTMLParser):
    """The text that is seen, the tags with their attributes, the stylesheets, and the charts' specifications by id."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.styles: list[str] = []
        self.charts: dict[str, str] = {}
        self._inside = ("", "")
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self._inside = (tag, attributes.get("id") or "")
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ("", "")

    def handle_data(self, data: str) -> None:
        tag, name = self._inside
        if tag == "style":
            self.styles[-1] += data
        elif tag == "script" and name:
            self.charts[name] = self.charts.get(name, "") + data
        elif tag != "script":
            self.text += data

    def values(self, attribute: str) -> list[str]:
        return [str(attributes[attribute]) for _, attributes in self.tags if attribute in attributes]


def check_page(path: Path) -> PageReader:
    """One stylesheet, the same on every page, with colours for the dark; nothing from elsewhere, links only to files
    below the page; every figure in its place, and no number on it with an SI prefix."""
    html = path.read_text(encoding="utf-8")
    reader = PageReader(html)
    assert reader.styles == [STYLE] and "@media (prefers-color-scheme: dark)" in STYLE
    assert reader.values("src") == []
    links = [(path.parent / link).resolve() for link in reader.values("href")]
    assert all(link.is_file() and link.is_relative_to(path.parent.resolve()) for link in links)
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in reader.tags}
    assert not re.search(r"@import|url\(['\"]?http", html)
    policies = [attributes["content"] for _, attributes in reader.tags if "http-equiv" in attributes]
    assert len(policies) == 1 and str(policies[0]).startswith("default-src 'none'")
    ids = reader.values("id")
    assert len(ids) == len(set(ids)), "two elements share an id"
    assert sorted(reader.values("data-figure")) == sorted(reader.charts)
    for name, text in reader.charts.items():
        chart: dict[str, Any] = json.loads(text)
        assert chart["marks"], name
        assert not PREFIXED.search(text), f"{name}: {PREFIXED.findall(text)}"
    return reader
