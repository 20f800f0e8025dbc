"""The reference of the command line, written from the tree of commands: a page for each command of the first level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

import typer

from nasbed.cli import app

_EXAMPLE = "Example: "


def pages() -> dict[str, str]:
    """The Markdown of each page by the first word of its commands."""
    return {word: _page(word, command) for word, command in _tree().commands.items() if not command.hidden}


def overview(folder: str) -> str:
    """All commands of the first level in the groups of ``nasbed --help``, with links to their pages in a folder."""
    groups: dict[str, list[str]] = {}
    for word, command in _tree().commands.items():
        if not command.hidden:
            row = f"| [`nasbed {word}`]({folder}/{word}.md) | {_escaped(_summary(command))} |"
            groups.setdefault(command.rich_help_panel, []).append(row)
    return "\n\n".join(
        f"## {group}\n\n| command | what it does |\n|---|---|\n" + "\n".join(rows) for group, rows in groups.items()
    )


def _tree() -> Any:
    return typer.main.get_command(app)


def _page(word: str, command: Any) -> str:
    context = typer.Context(_tree(), info_name="nasbed")
    sections = list(_sections(command, word, parent=context))
    return (
        "\n\n".join([f"# nasbed {word}", *sections[0][1:], *(part for section in sections[1:] for part in section)])
        + "\n"
    )


def _sections(command: Any, word: str, parent: Any) -> Iterator[list[str]]:
    """The heading and the parts of a command, then those of all commands in it."""
    context = typer.Context(command, info_name=word, parent=parent)
    words = context.command_path
    usage = " ".join([words, *command.collect_usage_pieces(context)])
    yield [f"## {words}", *_description(command.help), f"```text\n{usage}\n```", *_parameters(command, context)]
    for inner_word, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _sections(inner, inner_word, context)


def _summary(command: Any) -> str:
    return " ".join(command.help.split("\n\n")[0].split())


def _description(text: str) -> Iterator[str]:
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    yield from (_escaped(paragraph) for paragraph in paragraphs if not paragraph.startswith(_EXAMPLE))
    if examples := [line.removeprefix(_EXAMPLE) for line in paragraphs if line.startswith(_EXAMPLE)]:
        yield "```console\n" + "\n".join(f"$ {example}" for example in examples) + "\n```"


def _parameters(command: Any, context: Any) -> Iterator[str]:
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    options = [parameter for parameter in shown if parameter.param_type_name == "option"]
    if arguments:
        yield _table("argument", arguments, context)
    if options:
        yield _table("option", options, context)


def _table(title: str, parameters: Iterable[Any], context: Any) -> str:
    rows = [f"| {title} | what it is |", "|---|---|"]
    for parameter in parameters:
        name, text = parameter.get_help_record(context)
        rows.append(f"| <code>{_in_table(escape(name))}</code> | {_in_table(_escaped(text))} |")
    return "\n".join(rows)


def _escaped(text: str) -> str:
    """Plain text as Markdown, in which commands in quotation marks and options are code."""
    text = text.replace("<", "&lt;").replace("*", "\\*").replace("  [", " [")
    return re.sub(r"'(nasbed[^']*)'|(?<![\w-])(--[a-z][a-z-]*)", lambda match: f"`{match[1] or match[2]}`", text)


def _in_table(text: str) -> str:
    return text.replace("|", "&#124;")
