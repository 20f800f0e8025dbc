"""``nasbed study …``: every registered study as a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from nasbed.core.errors import DuplicateName, InvalidOption, first_line
from nasbed.core.registry import Registry
from nasbed.studies import STUDIES

VALIDATION = "validation"
"""The study that is a command of its own, ``nasbed validate``."""


def study_commands(studies: Registry[Callable[..., Any]]) -> typer.Typer:
    """All studies as commands. A plug-in that cannot be loaded is skipped with a warning; other commands still work."""
    commands = typer.Typer(help="Study a table as a paper did: statistics, figures, a report.", no_args_is_help=True)
    for name in _names(studies):
        if name != VALIDATION:
            try:
                commands.command(name)(_readable_command(studies.get(name)))
            except Exception as error:  # whatever the code of a plug-in raises
                _warn(f"the study {name} cannot be loaded and is skipped", error)
    return commands


def _names(studies: Registry[Callable[..., Any]]) -> list[str]:
    try:
        return studies.names()
    except DuplicateName as error:
        _warn("not all plug-ins with studies are loaded", error)
        return studies.names()


def _readable_command(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command. One that the command line cannot read raises here, not when all commands are put together."""
    if not callable(command):
        raise InvalidOption(f"a study is registered as a function, got {type(command).__name__}")
    if not command.__module__.startswith("nasbed."):
        alone = typer.Typer()
        alone.command()(command)
        typer.main.get_command(alone)
    return command


def _warn(subject: str, error: Exception) -> None:
    typer.echo(f"nasbed: {subject}: {type(error).__name__}: {first_line(error)}", err=True)


app = study_commands(STUDIES)
