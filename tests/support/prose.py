"""What is hard to read on a page of the documentation, and links that lead nowhere.

``python tests/support/prose.py docs/how-to/running.md …`` prints them; without names, those of all pages.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST_LINE = 160
LONGEST_SENTENCE = 25


def pages() -> list[Path]:
    """The README and all pages of the documentation."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def long_lines(text: str) -> Iterator[str]:
    """Lines longer than allowed, with their number."""
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > LONGEST_LINE:
            yield f"line {number} has {len(line)} characters of {LONGEST_LINE}: {line[:60]}…"


def long_sentences(text: str) -> Iterator[str]:
    """Sentences of more words than allowed. Code, tables, headings and quotations do not count."""
    for block in _prose_blocks(text):
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[^\s])", block):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > LONGEST_SENTENCE:
                yield f"a sentence has {len(words)} words of {LONGEST_SENTENCE}: {' '.join(words[:9])} …"


def broken_links(path: Path) -> Iterator[str]:
    """Relative links of a page to files or headings that do not exist."""
    text = _without_code(path.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            yield f"a link leads nowhere: {link}"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"a link leads to no heading: {link}"


def anchors(text: str) -> set[str]:
    """The names of the headings of a page, as mkdocs writes them."""
    names: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", _without_blocks(text), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
        name = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
        names.add(name)
    return names


def _without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def _without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "x", _without_blocks(text))


def _prose_blocks(text: str) -> Iterator[str]:
    """Paragraphs and list items as single lines, each piece of code one word."""
    lines: list[str] = []
    for line in [*_without_blocks(text).splitlines(), ""]:
        is_code = line.startswith("    ") and not lines
        starts_item = re.match(r"\s*([-*]|\d+\.) ", line)
        if (
            not line.strip()
            or line.lstrip().startswith(("|", "#", ">", "<", ":::", "!!!", "???"))
            or is_code
            or starts_item
        ):
            if lines:
                yield re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", " ".join(lines)))
            lines = []
        if starts_item or (
            line.strip() and not is_code and not line.lstrip().startswith(("|", "#", ">", "<", ":::", "!!!"))
        ):
            lines.append(re.sub(r"^\s*([-*]|\d+\.) ", "", line).strip())


def complaints(path: Path) -> list[str]:
    """All of a page."""
    text = path.read_text(encoding="utf-8")
    return [*long_lines(text), *long_sentences(text), *broken_links(path)]


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        for complaint in complaints(page):
            print(f"{page.relative_to(ROOT)}: {complaint}")
