"""Zero-cost proxies: scores of untrained networks, higher predicting better. Torch loads when something is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from nasbed.core.registry import Registry
from nasbed.networks import check_torch
from nasbed.proxies.base import Need, Proxy, ProxyFunction, Score, defined

if TYPE_CHECKING:
    from torch import Tensor, nn

_NAMES = "params flops l2_norm grad_norm snip plain grasp fisher synflow jacov epe_nas nwot swap ntk zen zico meco"
"""The built-in proxies, each a function in the module of its name; ``ntk_all`` stands beside ``ntk``."""

PROXIES: Registry[Proxy] = Registry("proxy", group="nasbed.proxies")
"""The registry of proxies. Packages add to it by entry points in the group ``nasbed.proxies``."""
PROXIES.add_entries("nasbed.proxies", {name: f"{name}:{name}" for name in _NAMES.split()} | {"ntk_all": "ntk:ntk_all"})


def proxy(name: str, *, summary: str = "", needs: tuple[Need, ...] = ()) -> Callable[[ProxyFunction], Proxy]:
    """Make a proxy of a function and register it. Without a summary it is the first line of the docstring."""

    def register(function: ProxyFunction) -> Proxy:
        first = (function.__doc__ or name).strip().splitlines()[0]
        definition = defined(name, summary=summary or first, needs=needs)(function)
        PROXIES.add(name, definition)
        return definition

    return register


def score_all(
    network: nn.Module,
    batch: tuple[Tensor, Tensor],
    *,
    proxies: Iterable[str] | None = None,
    seed: int = 0,
    loss: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> dict[str, Score]:
    """The scores of one network by several proxies, by name.

    Passes that proxies share run once. The network is left as it was: weights, buffers, gradients, modes, and torch's
    generators.

    Args:
        network: The network.
        batch: Images and labels on the network's device.
        proxies: The names of the proxies; all registered ones by default.
        seed: The seed of all random draws. A proxy's score does not depend on the other proxies.
        loss: From logits and labels to the loss; cross-entropy by default.
    """
    check_torch()
    from nasbed.proxies.scoring import scores

    selected = [PROXIES.get(name) for name in (PROXIES.names() if proxies is None else proxies)]
    return scores(network, batch, selected, seed=seed, loss=loss)


__all__ = ["PROXIES", "Need", "Proxy", "ProxyFunction", "Score", "proxy", "score_all"]
