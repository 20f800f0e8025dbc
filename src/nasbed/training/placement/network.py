"""Networks on the device that trains them."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn

from nasbed.networks.trimming import trim_convolutions
from nasbed.training.placement.freed_memory import keep_freed_memory

Network = TypeVar("Network", bound=nn.Module)


def place_network(network: Network, device: torch.device) -> Network:
    """Move a network to a device, in place, and return it.

    On a CPU its channels are last in memory, and its convolutions compute only what meets the image, with faster
    gradients of depthwise ones. It then trains about twice as fast (``python benchmarks/cpu_training.py``), to the same
    results up to rounding. Memory that the process frees stays with it.
    """
    network.to(device)
    if device.type == "cpu":
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        trim_convolutions(network)
        keep_freed_memory()
    return network
