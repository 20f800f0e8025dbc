"""The parts of the documentation site that are written from code: the gallery, the pages of commands, docstrings."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from html import escape
from pathlib import Path
from types import ModuleType

import pytest
import typer

from nasbed.cli import app
from support.command_tree import commands
from support.documentation import DOCS, page_text

TOOLS = DOCS.parent / "tools" / "docs"
TREE = dict(commands(typer.main.get_command(app)))
LARGEST_TOTAL = 4_000_000


def tool(name: str) -> ModuleType:
    """A module of tools/docs, which is no package."""
    specification = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def test_gallery_has_every_picture_below_its_command() -> None:
    pytest.importorskip("PIL", reason="needs Pillow")
    pictures = tool("pictures")
    drawings = pictures.drawings(page_text("gallery"))
    shown = [picture for drawing in drawings for picture in drawing.pictures]
    assert len(shown) > 40 and len(set(shown)) == len(shown)
    for drawing in drawings:
        for picture in drawing.pictures:
            pictures.source_of(picture, drawing.commands)
            assert (DOCS / "pictures" / picture).is_file()
    unused = {path.name for path in (DOCS / "pictures").iterdir()} - set(shown)
    assert unused == {"explorer.png"}, "pictures that no command of the gallery draws"
    assert sum(path.stat().st_size for path in (DOCS / "pictures").iterdir()) < LARGEST_TOTAL


def test_gallery_commands_have_options_that_exist() -> None:
    for drawing in tool("pictures").drawings(page_text("gallery")):
        for line in drawing.commands:
            program, *words = shlex.split(line)
            if program == "python":
                assert (DOCS.parent / words[0]).is_file()
                continue
            command = TREE[tuple(words[:2])] if tuple(words[:2]) in TREE else TREE[tuple(words[:1])]
            options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
            assert {word for word in words if word.startswith("--")} <= options, line


def test_pages_of_commands_have_every_command_and_option() -> None:
    pages = tool("command_pages").pages()
    for words, command in TREE.items():
        if not words:
            continue
        assert f"# nasbed {' '.join(words)}\n" in pages[words[0]]
        for parameter in command.params:
            assert escape(max(parameter.opts, key=len)) in pages[words[0]] or parameter.param_type_name == "argument"


def test_links_out_of_the_documentation_lead_to_the_repository(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "how-to").mkdir(parents=True)
    (docs / "other.md").touch()
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "a.py").touch()
    text = "[a](../../examples/a.py) [all](../../examples) [page](../other.md#part) [lost](../../none.py)\n```\n[b](../../examples)\n```\n"
    rewritten = tool("outside_links").rewritten(
        text, docs / "how-to" / "page.md", docs=docs, repository="https://example.org/it"
    )
    assert rewritten == (
        "[a](https://example.org/it/blob/main/examples/a.py) [all](https://example.org/it/tree/main/examples) "
        "[page](../other.md#part) [lost](../../none.py)\n```\n[b](../../examples)\n```\n"
    )


def test_docstrings_become_markdown() -> None:
    pytest.importorskip("griffe", reason="needs griffe")
    as_markdown = tool("docstrings").as_markdown
    assert as_markdown("See :class:`~a.b.C` and :meth:`of`.") == "See `C` and `of`."
    assert as_markdown("One.\n\n>>> 1 + 1\n2\n\nTwo.") == "One.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nTwo."
