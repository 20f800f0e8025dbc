"""Options of commands that run search methods, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.settings import settings_by_owner

if TYPE_CHECKING:
    from nasbed.core.execution import Engine

DEFAULT = "rs,re,ls"
Optimizers = Annotated[
    list[str] | None,
    typer.Option(
        show_default=DEFAULT, help="Comma-separated ids from 'nasbed list optimizers'; your own as file.py:ClassName."
    ),
]
MethodSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="METHOD.KEY=VALUE", help="A method's setting; may be given several times."),
]
EngineName = Annotated[str, typer.Option(help="The engine that runs the methods: local, serial or ray.")]
RunTimeout = Annotated[float | None, typer.Option(min=1, help="Wall-clock timeout per run, in seconds.")]


def chosen_methods(optimizers: list[str] | None) -> list[str]:
    """The methods that a command line names; the usual ones where it names none."""
    from nasbed.optimizers import OPTIMIZERS

    method_list = ",".join([DEFAULT] if optimizers is None else optimizers)
    methods = [name.strip() for name in method_list.split(",") if name.strip()]
    if not methods:
        raise InvalidOption(
            f"a comparison needs at least one method, got {method_list!r}; known: {', '.join(OPTIMIZERS)}"
        )
    return methods


def chosen_settings(texts: list[str]) -> dict[str, dict[str, Any]]:
    """The settings of methods, by the names of their runs."""
    from nasbed.experiments.named_methods import short_name

    by_method = settings_by_owner(texts, owner="METHOD", example="re.sample_size=10")
    return {short_name(method): values for method, values in by_method.items()}


def chosen_engine(name: str, processes: int | None) -> Engine:
    """The engine of that name."""
    from nasbed.core.execution import LocalEngine, SerialEngine

    if name == "local":
        return LocalEngine(processes)
    if name == "serial":
        return SerialEngine()
    if name == "ray":
        from nasbed.core.execution.ray_engine import RayEngine

        return RayEngine()
    raise InvalidOption(f"an engine is local, serial or ray, got {name!r}; choose one of them")
