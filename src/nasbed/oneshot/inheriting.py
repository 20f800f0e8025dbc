"""Weights that go from one network to another: between a supernet and an architecture's own network, and from a
supernet to a wider one."""

from __future__ import annotations

import torch
from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.oneshot.cells import SupernetCells
from nasbed.oneshot.spaces.base import SearchedSpace, Supernet


def inherit(
    network: nn.Module, supernet: Supernet, arch: Architecture, space: SearchedSpace, cells: SupernetCells
) -> None:
    """Copy the weights of an architecture's operations from a supernet of the same size to its own network.

    A supernet has no running statistics, and unless it is ``affine`` no scale and shift in its batch normalisations.
    Those of the network stay as they are, one and zero in a new network.

    Args:
        network: The network of the architecture.
        supernet: The supernet.
        arch: The architecture.
        space: Its space.
        cells: The cells of the supernet.
    """
    for own, shared in space.counterparts(network, supernet, arch, cells):
        inherited = shared.state_dict()
        for name, value in own.state_dict().items():
            if name not in inherited:
                continue
            if inherited[name].shape != value.shape:
                raise InvalidOption(
                    f"a network inherits from a supernet of its size, got {tuple(value.shape)} and "
                    f"{tuple(inherited[name].shape)} at {name}; build both alike, and without partial channels"
                )
            value.copy_(inherited[name])


def widen(supernet: Supernet, before: Supernet) -> None:
    """Give a supernet the weights of a narrower one where both have the same.

    Of each weight the leading block is inherited. What is added to it keeps its own values, except that the outputs
    that were there do not see the inputs that were not: those weights begin at zero. So the channels that went through
    an operation before go on computing what they did, and the new ones begin afresh. Where strided skips put their two
    halves side by side, the second half moves on by the channels added to the first.
    """
    inherited = before.state_dict()
    with torch.no_grad():
        for name, value in supernet.state_dict().items():
            if name not in inherited or inherited[name].dim() != value.dim():
                continue
            old = inherited[name]
            shared = tuple(slice(0, min(pair)) for pair in zip(value.shape, old.shape, strict=True))
            if value.dim() == 4 and value.shape[1] > old.shape[1]:
                value[: old.shape[0], old.shape[1] :] = 0.0
            value[shared] = old[shared]
