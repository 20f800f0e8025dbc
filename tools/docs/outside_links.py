"""Links from pages to files that the site does not have: they lead to the repository."""

from __future__ import annotations

import re
from pathlib import Path

_BLOCK = re.compile(r"^(?P<fence>`{3,}).*?^(?P=fence)", flags=re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\])\((?P<target>[^)\s:#]+)(?P<anchor>#[^)\s]*)?\)")


def rewritten(markdown: str, source: Path, *, docs: Path, repository: str) -> str:
    """The text of a page with absolute links to what is outside ``docs``. mkdocs reports links that lead nowhere."""

    def link(match: re.Match[str]) -> str:
        target = (source.parent / match["target"]).resolve()
        if target.is_relative_to(docs) or not target.exists():
            return match[0]
        kind = "tree" if target.is_dir() else "blob"
        place = target.relative_to(docs.parent).as_posix()
        return f"({repository}/{kind}/main/{place}{match['anchor'] or ''})"

    parts, end = [], 0
    for block in _BLOCK.finditer(markdown):
        parts += [_LINK.sub(link, markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, _LINK.sub(link, markdown[end:])])
