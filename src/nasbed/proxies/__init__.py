"""Zero-cost proxies: scores of untrained networks, higher predicting better. Torch loads when something is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from nasbed.core.registry import Registry
from nasbed.networks import check_torch
from nasbed.proxies.base import Need, Proxy, ProxyFunction, Score, defined

if TYPE_CHECKING:
    from torch import Tensor, nn

PROXIES: Registry[Proxy] = Registry("proxy", group="nasbed.proxies")
for _name in (
    "params",
    "flops",
    "l2_norm",
    "grad_norm",
    "snip",
    "plain",
    "grasp",
    "fisher",
    "synflow",
    "jacov",
    "epe_nas",
    "nwot",
    "swap",
    "ntk",
    "zen",
    "zico",
    "meco",
):
    PROXIES.add(_name, f"nasbed.proxies.{_name}:{_name}")


def proxy(name: str, *, summary: str = "", needs: tuple[Need, ...] = ()) -> Callable[[ProxyFunction], Proxy]:
    """Make a proxy of a function and register it. Without a summary it is the first line of the docstring."""

    def registered(function: ProxyFunction) -> Proxy:
        first = (function.__doc__ or name).strip().splitlines()[0]
        made = defined(name, summary=summary or first, needs=needs)(function)
        PROXIES.add(name, made)
        return made

    return registered


def score_all(
    network: nn.Module,
    batch: tuple[Tensor, Tensor],
    *,
    proxies: Iterable[str] | None = None,
    seed: int = 0,
    loss: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> dict[str, Score]:
    """The scores of one network by several proxies, every one registered unless named, by their names.

    ``batch`` is images and labels on the network's device; ``loss`` of logits and labels is cross-entropy unless given.
    Whatever is drawn comes from ``seed``, for each proxy alike whichever others are asked. The passes that proxies
    share are made once. The network is left as it was: weights, buffers, gradients, modes, and torch's generators.
    """
    check_torch()
    from nasbed.proxies.scoring import scores

    chosen = [PROXIES.get(name) for name in (PROXIES.names() if proxies is None else proxies)]
    return scores(network, batch, chosen, seed=seed, loss=loss)


__all__ = ["PROXIES", "Need", "Proxy", "ProxyFunction", "Score", "proxy", "score_all"]
