"""Former names of options: each still works, with a note that names the new one, until the version in which it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from nasbed.core.former_names import former_name_text
from nasbed.terminal.interruption import InterruptibleGroup
from nasbed.terminal.progress import note

UNTIL = "0.3"
"""The version in which the former names go."""
_ATTRIBUTE = "__former_options__"
Command = TypeVar("Command", bound=Callable[..., Any])


def former_options(names: Mapping[str, str]) -> Callable[[Command], Command]:
    """Keep former options of a command: by the former one, the new one, with its value if the former had none."""

    def keep(command: Command) -> Command:
        setattr(command, _ATTRIBUTE, dict(names))
        return command

    return keep


def former_options_of(command: Any) -> Mapping[str, str]:
    """The former options of a command in the tree, by their former names."""
    names: Mapping[str, str] = getattr(getattr(command, "callback", None), _ATTRIBUTE, {})
    return names


def with_new_names(words: Sequence[str], names: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The words of a command line with new names for former ones, and the former names that were used.

    >>> with_new_names(["--n", "5", "--top=1", "--", "--n"], {"--n": "--count", "--top": "--top-percent"})
    (['--count', '5', '--top-percent=1', '--', '--n'], ['--n', '--top'])
    """
    renamed: list[str] = []
    used: list[str] = []
    for place, word in enumerate(words):
        if word == "--":
            return [*renamed, *words[place:]], used
        option, equals, value = word.partition("=")
        if option in names:
            used.append(option)
            renamed += [f"{names[option]}={value}"] if equals else names[option].split()
        else:
            renamed.append(word)
    return renamed, used


class CommandTree(InterruptibleGroup):
    """The group of all commands, which accepts former names of their options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        command, place = _leaf(self, args)
        names = former_options_of(command)
        words, used = with_new_names(args[place:], names)
        for option in dict.fromkeys(used):
            note(former_name_text(option, names[option], until=UNTIL))
        parsed: list[str] = super().parse_args(ctx, [*args[:place], *words])
        return parsed


def _leaf(command: Any, words: Iterable[str]) -> tuple[Any, int]:
    """The command that the first words name, and the number of these words."""
    place = 0
    for word in words:
        commands = getattr(command, "commands", None)
        if commands is None:
            break
        if word in commands:
            command = commands[word]
        elif not word.startswith("-"):
            default = getattr(command, "default_command", None)
            return (command if default is None else commands[default]), place
        place += 1
    return command, place
