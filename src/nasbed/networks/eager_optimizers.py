"""Torch's optimizers for steps that are not compiled.

The first step of an optimizer of torch loads torch's compiler, which takes two seconds in every new process. These do
not load it, and are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import unwrap
from typing import Any

import torch
from torch import nn


class EagerOptimizer(torch.optim.Optimizer):
    """Without the wrappers by which torch excludes an optimizer from compilation. A subclass wraps its ``step`` in
    ``torch.no_grad``."""

    add_param_group: Any = unwrap(torch.optim.Optimizer.add_param_group)
    load_state_dict: Any = unwrap(torch.optim.Optimizer.load_state_dict)
    state_dict: Any = unwrap(torch.optim.Optimizer.state_dict)
    zero_grad: Any = unwrap(torch.optim.Optimizer.zero_grad)


class SGD(EagerOptimizer, torch.optim.SGD):
    step: Any = torch.no_grad()(unwrap(torch.optim.SGD.step))


class FusedSGD(SGD):
    """SGD in one pass over all weights, in which every weight starts with a velocity of zero.

    Torch's own makes a velocity from the first gradient of a weight, and fails where a weight has its first gradient
    after others have moved, as in a supernet of which each step trains a part.
    """

    def __init__(self, params: Iterable[nn.Parameter], **settings: Any) -> None:
        super().__init__(params, fused=True, **settings)
        self._complete_velocities()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The state of any SGD. One that is not fused has no velocity for weights without a gradient so far, and one on
        another device may have its channels elsewhere in memory."""
        fused = [group["fused"] for group in self.param_groups]
        super().load_state_dict(state_dict)
        for group, own in zip(self.param_groups, fused, strict=True):
            group["fused"] = own
        self._complete_velocities()

    def _complete_velocities(self) -> None:
        for group in self.param_groups:
            for weight in group["params"] if group["momentum"] else ():
                velocity = self.state[weight].get("momentum_buffer")
                if velocity is None:
                    self.state[weight]["momentum_buffer"] = torch.zeros_like(weight)
                elif velocity.stride() != weight.stride():
                    self.state[weight]["momentum_buffer"] = torch.empty_like(weight).copy_(velocity)


class Adam(EagerOptimizer, torch.optim.Adam):
    step: Any = torch.no_grad()(unwrap(torch.optim.Adam.step))


class AdamW(EagerOptimizer, torch.optim.AdamW):
    step: Any = torch.no_grad()(unwrap(torch.optim.AdamW.step))
