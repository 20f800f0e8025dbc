"""One-shot NAS: one network that holds every architecture of a space is trained, and an architecture is read from it.
Torch is loaded only when something is searched."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nasbed.core.former_names import former
from nasbed.core.registry import Registry
from nasbed.oneshot.pruning.settings import METHOD as BONSAI_NET
from nasbed.oneshot.pruning.settings import BonsaiSettings
from nasbed.oneshot.settings import OneShotSettings, SearchSettings
from nasbed.oneshot.stopping import STOPPING_RULES, StoppingRule, eigenvalue_rule, skip_rule, stopped
from nasbed.oneshot.trajectory import SearchEpoch, SearchResult

if TYPE_CHECKING:
    from nasbed.oneshot.loop import search
    from nasbed.oneshot.methods.base import OneShotMethod
    from nasbed.oneshot.spaces.base import SearchedSpace

METHODS: Registry[type[OneShotMethod[Any]]] = Registry("one-shot method", group="nasbed.oneshot.methods")
"""The registry of methods. Packages add to it by entry points in the group ``nasbed.oneshot.methods``."""
_OWN_METHODS = {
    "darts": "darts:DartsMethod",
    "darts2": "darts2:Darts2",
    "gdas": "gdas:Gdas",
    "pc-darts": "pc_darts:PCDarts",
    "drnas": "drnas:DrNAS",
    "random-ws": "random_ws:RandomWS",
    "bonsai-net": "bonsai_net:BonsaiNet",
}
METHODS.add_entries("nasbed.oneshot.methods", _OWN_METHODS)
_OWN_SETTINGS: dict[str, type[OneShotSettings]] = {BONSAI_NET: BonsaiSettings}
"""Those of methods here that have other settings than a supernet, known without torch."""

SEARCHED_SPACES: Registry[SearchedSpace] = Registry("space with a supernet", group="nasbed.oneshot.spaces")
"""The spaces that have a supernet. Packages add to them by entry points in the group ``nasbed.oneshot.spaces``."""
SEARCHED_SPACES.add_entries(
    "nasbed.oneshot.spaces",
    {
        "darts": "darts:DARTS",
        "nb201": "nb201:NB201",
    },
)

__all__ = [
    "METHODS",
    "SEARCHED_SPACES",
    "STOPPING_RULES",
    "BonsaiSettings",
    "OneShotSettings",
    "SearchEpoch",
    "SearchResult",
    "SearchSettings",
    "StoppingRule",
    "eigenvalue_rule",
    "search",
    "settings_type",
    "skip_rule",
    "stopped",
]


def settings_type(method: str) -> type[OneShotSettings]:
    """The settings by which a method searches, ``SearchSettings`` for a method that is not installed.

    A plug-in is imported for it. The methods that come with nasbed are not, so that their records are read without
    torch.
    """
    if method in _OWN_METHODS or method not in METHODS:
        return _OWN_SETTINGS.get(method, SearchSettings)
    return METHODS.get(method).settings


def _lazy_attribute(name: str) -> Any:
    if name != "search":
        raise AttributeError(f"module 'nasbed.oneshot' has no attribute {name!r}; it offers {', '.join(__all__)}")
    from nasbed.networks import check_torch

    check_torch()
    return import_module("nasbed.oneshot.loop").search


__getattr__ = former(__name__, {"Searched": "nasbed.oneshot:SearchResult"}, until="0.3", otherwise=_lazy_attribute)
