"""Search spaces: architectures as plain values, without networks, tables or files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from nasbed.core.calls.arguments import check_location
from nasbed.core.registry import Registry
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.graph import Diagram, Graphs, Node

SPACES = Registry[SearchSpace | Callable[[], SearchSpace]]("space", group="nasbed.spaces")
SPACES.add_entries(
    "nasbed.spaces",
    {
        "nb101": "nb101:NB101",
        "nb201": "nb201:NB201",
        "darts": "darts:Darts",
        "fbnet": "fbnet:FBNet",
        "transnas-micro": "transnas:TransNASMicro",
        "transnas-macro": "transnas:TransNASMacro",
        "fcnet": "fcnet:FCNet",
        "nats-sss": "nats_sss:NatsSSS",
        "bonsai": "bonsai:Bonsai",
    },
)

SPACE_FAMILIES = Registry[Callable[[str], SearchSpace]]("family of spaces", group="nasbed.space_families")
SPACE_FAMILIES.add("bonsai", "nasbed.spaces.bonsai:bonsai_space")


@cache
def space(name: str) -> SearchSpace:
    """The search space of that name; the same object each time. An unknown name raises with the nearest matches.

    >>> space("nb201").size
    15625
    >>> space("bonsai-nr-1")
    <space bonsai-nr-1: Bonsai-Net: cells nr of 1 node, any of seven operations an edge>
    """
    family = registered_id(name)
    if family != name:
        return SPACE_FAMILIES.get(family)(name)
    entry = SPACES.get(name)
    return entry if isinstance(entry, SearchSpace) else entry()


def registered_id(name: str) -> str:
    """The id under which a space is registered: its own name, or that of its family.

    >>> registered_id("transnas-micro"), registered_id("bonsai-nr-1")
    ('transnas-micro', 'bonsai')
    """
    check_location("a space is an id of nasbed list spaces", name)
    family = name.partition("-")[0]
    return family if name not in SPACES and family in SPACE_FAMILIES else name


def list_spaces(pattern: str = "*") -> list[str]:
    """The names of all search spaces that match a glob, plug-ins included."""
    return SPACES.names(pattern)


__all__ = [
    "SPACES",
    "SPACE_FAMILIES",
    "Diagram",
    "Graphs",
    "Node",
    "SearchSpace",
    "list_spaces",
    "registered_id",
    "space",
]
