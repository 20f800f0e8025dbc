"""What mkdocs calls while it builds the site: pages of commands, links out of docs/, ``FOLDER/*``, captions."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import command_pages
import outside_links

COMMANDS = "reference/cli"
_PICTURE = re.compile(r'<p>(?P<picture><img alt="(?P<text>[^"]*)" src="(?P<source>[^"]*)"[^>]*>)</p>')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each command and name all pages in the navigation."""
    for name, text in command_pages.pages().items():
        files.append(File.generated(config, f"{COMMANDS}/{name}.md", content=text))
    named = set(_names(config.nav))
    config.nav = _expanded(config.nav, [file.src_uri for file in files.documentation_pages()], named)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Append the table of commands to their overview, and turn links out of docs/ into links to the repository."""
    if page.file.src_uri == f"{COMMANDS}.md":
        markdown += "\n\n" + command_pages.overview(folder="cli")
    if page.file.generated_by:
        return markdown
    source = Path(config.docs_dir) / page.file.src_uri
    return outside_links.rewritten(markdown, source, docs=Path(config.docs_dir), repository=config.extra["repository"])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show the text of a picture that stands alone below it, and the picture itself when it is clicked."""
    return _PICTURE.sub(r'<figure><a href="\g<source>">\g<picture></a><figcaption>\g<text></figcaption></figure>', html)


def _names(entries: Any) -> list[str]:
    if isinstance(entries, str):
        return [entries]
    inner = entries.values() if isinstance(entries, dict) else entries
    return [name for entry in inner for name in _names(entry)]


def _expanded(entry: Any, pages: list[str], named: set[str]) -> Any:
    """A part of the navigation in which FOLDER/* became the pages that stand in this folder and are not named."""
    if isinstance(entry, dict):
        return {title: _expanded(inner, pages, named) for title, inner in entry.items()}
    if not isinstance(entry, list):
        return entry
    expanded: list[Any] = []
    for inner in entry:
        if isinstance(inner, str) and inner.endswith("/*"):
            folder = inner.removesuffix("/*")
            expanded += sorted(page for page in pages if page.rpartition("/")[0] == folder and page not in named)
        else:
            expanded.append(_expanded(inner, pages, named))
    return [inner for inner in expanded if not _is_empty(inner)]


def _is_empty(entry: Any) -> bool:
    return isinstance(entry, dict) and list(entry.values()) == [[]]
