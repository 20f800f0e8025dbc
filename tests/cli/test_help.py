"""The help of every command, read from the tree of commands itself: a new command is tested without being named."""

from __future__ import annotations

import pytest
import typer

from nasbed.cli import app
from support.command_tree import Words, commands
from support.commands import run_command

TREE = list(commands(typer.main.get_command(app)))


def test_every_command_explains_itself_and_every_option() -> None:
    assert len(TREE) > 50 and ("study", "landscape") in dict(TREE)
    for words, command in TREE:
        assert command.help and command.help.strip()[0].isupper(), words
        for parameter in command.params:
            assert parameter.help and parameter.help.strip(), (words, parameter.name)


def test_every_command_that_needs_words_shows_them_in_an_example() -> None:
    """A list is called by its name alone, and ``nasbed collect FILE`` is short for ``nasbed collect run FILE``."""
    for words, command in TREE:
        if hasattr(command, "commands") or "list" in words:
            continue
        command_words = words[:1] if words == ("collect", "run") else words
        assert f"Example: nasbed {' '.join(command_words)} " in f"{' '.join(command.help.split())} ", words


@pytest.mark.parametrize("words", [(), ("study",), ("results", "merge")])
def test_help_shows_usage_text_examples_and_commands(words: Words) -> None:
    output = run_command(*words, "--help")
    text = " ".join(output.stdout.replace("│", " ").split())
    assert (output.returncode, output.stderr) == (0, "")
    assert text.startswith("Usage: ") and " ".join(("nasbed", *words, "[OPTIONS]")) in text
    command = dict(TREE)[words]
    assert " ".join(command.help.split()) in text
    for word in getattr(command, "commands", {}):
        assert f" {word} " in text
