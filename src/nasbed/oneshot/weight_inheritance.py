"""Weights that go from a supernet to a wider one."""

from __future__ import annotations

import torch

from nasbed.oneshot.spaces.base import Supernet


def widen(supernet: Supernet, previous: Supernet) -> None:
    """Give a supernet the weights of a narrower one where both have the same.

    Of each weight the leading block is inherited. What is added to it keeps its own values, except that the outputs
    that were there do not see the inputs that were not: those weights begin at zero. So the channels that went through
    an operation before keep computing what they did, and the new ones have initial weights. Where strided skips put
    their two halves side by side, the second half moves on by the channels added to the first.
    """
    inherited = previous.state_dict()
    with torch.no_grad():
        for name, value in supernet.state_dict().items():
            if name not in inherited or inherited[name].dim() != value.dim():
                continue
            old = inherited[name]
            shared = tuple(slice(0, min(pair)) for pair in zip(value.shape, old.shape, strict=True))
            if value.dim() == 4 and value.shape[1] > old.shape[1]:
                value[: old.shape[0], old.shape[1] :] = 0.0
            value[shared] = old[shared]
