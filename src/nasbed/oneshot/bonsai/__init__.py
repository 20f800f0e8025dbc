"""Bonsai-Net (Geada, Prangle and McGough, 2006.09264): a network that holds everything is trained and pruned at once.

Torch is loaded only when something is searched or built.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nasbed.oneshot.bonsai.outcome import BonsaiEpoch, BonsaiSearched
from nasbed.oneshot.bonsai.settings import BonsaiSettings
from nasbed.oneshot.bonsai.space import BonsaiArchitecture, BonsaiCell, Frame, random_architecture

if TYPE_CHECKING:
    from nasbed.oneshot.bonsai.loop import search
    from nasbed.oneshot.bonsai.network import BonsaiNetwork, untrained

__all__ = [
    "BonsaiArchitecture",
    "BonsaiCell",
    "BonsaiEpoch",
    "BonsaiNetwork",
    "BonsaiSearched",
    "BonsaiSettings",
    "Frame",
    "random_architecture",
    "search",
    "untrained",
]

_LAZY = {"BonsaiNetwork": "network", "search": "loop", "untrained": "network"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(
            f"module 'nasbed.oneshot.bonsai' has no attribute {name!r}; it offers {', '.join(__all__)}"
        )
    from nasbed.networks import check_torch

    check_torch()
    return getattr(import_module(f"nasbed.oneshot.bonsai.{_LAZY[name]}"), name)
