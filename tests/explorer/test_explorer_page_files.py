"""The files of the explorer's page."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import nasbed
from nasbed.explorer.export import MARKER

PAGE = Path(nasbed.__file__).parent / "explorer" / "page"


def test_template_is_made_from_the_present_files() -> None:
    """The digest that `make explorer-bundle` wrote into the template is that of the page's files."""
    names = sorted(
        [file.name for file in PAGE.iterdir() if file.suffix in (".js", ".css") or file.name == "index.html"]
        + ["vendor/d3.js", "vendor/LICENSES.txt"]
    )
    parts = [f"{name}\n{(PAGE / name).read_text(encoding='utf-8')}\n" for name in names]
    digest = hashlib.sha256("".join(parts).encode()).hexdigest()
    template = (PAGE / "export.html").read_text(encoding="utf-8")
    assert re.search(r'<meta name="source" content="(\w+)">', template)[1] == digest, "run make explorer-bundle"  # type: ignore[index]
    assert template.count(MARKER) == 1


def test_page_has_no_inline_script_or_style_and_no_other_host() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]* src=)", index)
    for file in [*PAGE.glob("*.js"), PAGE / "index.html", PAGE / "style.css"]:
        content = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in re.sub(r"https?\b(?!://)", "", content), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", content), (
            file.name
        )
