"""Pages are easy to read: no line and no sentence is too long, and every link leads somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.prose import ROOT, complaints, long_lines, long_sentences, pages


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_page_is_plain(path: Path) -> None:
    assert complaints(path) == []


def test_long_lines_sentences_and_broken_links_are_noticed(tmp_path: Path) -> None:
    words = " ".join(["word"] * 26)
    assert [*long_sentences(f"{words}.\n\n- {words}.\n")] and len([*long_sentences(f"{words}.\n\n- {words}.\n")]) == 2
    assert not [*long_sentences(f"| {words} |\n\n    {words}\n\n```\n{words}\n```\n")], "tables and code do not count"
    assert len([*long_lines("x" * 161)]) == 1
    page = tmp_path / "page.md"
    page.write_text("# A title\n\n[here](#a-title) [there](#another) [elsewhere](missing.md)\n")
    assert complaints(page) == ["a link leads to no heading: #another", "a link leads nowhere: missing.md"]
