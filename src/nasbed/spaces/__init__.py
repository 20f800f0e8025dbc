"""Search spaces: architectures as plain values, without networks, tables or files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from nasbed.core.registry import Registry
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.graph import Diagram, Graphs, Node

SPACES = Registry[SearchSpace | Callable[[], SearchSpace]]("space", group="nasbed.spaces")
SPACES.add("nb101", "nasbed.spaces.nb101:NB101")
SPACES.add("nb201", "nasbed.spaces.nb201:NB201")
SPACES.add("darts", "nasbed.spaces.darts:Darts")
SPACES.add("fbnet", "nasbed.spaces.fbnet:FBNet")
SPACES.add("transnas-micro", "nasbed.spaces.transnas:TransNASMicro")
SPACES.add("transnas-macro", "nasbed.spaces.transnas:TransNASMacro")
SPACES.add("fcnet", "nasbed.spaces.fcnet:FCNet")
SPACES.add("nats-sss", "nasbed.spaces.nats_sss:NatsSSS")


@cache
def space(name: str) -> SearchSpace:
    """The search space of that name; the same object each time.

    >>> space("nb201").size
    15625
    """
    entry = SPACES.get(name)
    return entry if isinstance(entry, SearchSpace) else entry()


def list_spaces(pattern: str = "*") -> list[str]:
    """The names of all search spaces that match a glob, plug-ins included."""
    return SPACES.names(pattern)


__all__ = ["SPACES", "Diagram", "Graphs", "Node", "SearchSpace", "list_spaces", "space"]
