"""One self-contained HTML page: facts beside pictures, nothing fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from nasbed.core.files import complete_file

STYLE = """
:root { color-scheme: light; --ink: #1f2430; --faint: #667085; --line: #e4e7ec; }
body { font: 15px/1.5 system-ui, "Liberation Sans", sans-serif; color: var(--ink); margin: 0 auto; max-width: 70rem;
padding: 2rem 1.5rem; } h1 { font-size: 1.7rem; margin: 0 0 1.5rem; }
section { border-top: 1px solid var(--line); padding: 1.5rem 0; }
h2 { font-size: 1.15rem; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; max-width: 48rem; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1.25rem; margin: 0 0 1rem; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
figure { margin: 0; overflow-x: auto; }
svg { max-width: 100%; height: auto; }
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what there is to say, a picture as SVG text, a paragraph that explains it, and HTML to go below."""

    title: str
    facts: Mapping[str, object]
    svg: str = ""
    text: str = ""
    html: str = ""


def write_page(path: Path, title: str, sections: Sequence[Section], *, head: str = "", foot: str = "") -> None:
    """Write the page; the file appears only when it is complete. ``head`` and ``foot`` are HTML that ends the page's
    head and its body."""
    body = "\n".join(_section(section) for section in sections)
    html = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n{head}</head>\n<body>\n<h1>{escape(title)}</h1>\n{body}\n{foot}</body>\n</html>\n"
    )
    with complete_file(path) as draft:
        draft.write_text(html, encoding="utf-8")


def write_numbers(folder: Path, numbers: Mapping[str, Any]) -> None:
    """Write ``numbers.json``, what a page shows for scripts, into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    with complete_file(folder / "numbers.json") as draft:
        draft.write_text(json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _section(section: Section) -> str:
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(_readable(fact))}</dd>" for name, fact in section.facts.items()
    )
    text = f"<p>{escape(section.text)}</p>\n" if section.text else ""
    figure = f"<figure>{section.svg}</figure>" if section.svg else ""
    return f"<section>\n<h2>{escape(section.title)}</h2>\n{text}<dl>{facts}</dl>\n{figure}{section.html}\n</section>"


def _readable(fact: object) -> str:
    """Digits of a whole number in groups of three."""
    try:
        return f"{fact:,d}".replace(",", "\u2009")
    except (TypeError, ValueError):
        return str(fact)
