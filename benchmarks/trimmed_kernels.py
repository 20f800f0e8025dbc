"""A training step of a baseline on small images, with kernels trimmed to what meets the image against whole ones.

    python benchmarks/trimmed_kernels.py [NETWORK [SIDE]]

Both take turns on one core with the same weights, and the fastest of ten steps counts.
"""

from __future__ import annotations

import sys
from time import perf_counter

import torch
from torch import nn
from torch.nn import functional

from nasbed.networks.baselines import baseline
from nasbed.networks.trimming import TrimmedConvolution

BATCH, CHANNELS, CLASSES, REPEATS = 64, 12, 3, 10


def step_s(network: nn.Module, kind: type[nn.Conv2d], optimizer: torch.optim.Optimizer, images: torch.Tensor) -> float:
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            module.__class__ = kind
    labels = torch.arange(len(images)) % CLASSES
    start = perf_counter()
    optimizer.zero_grad()
    functional.cross_entropy(network(images), labels).backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return perf_counter() - start


def main(name: str = "resnet18", side: str = "8") -> None:
    torch.set_num_threads(1)
    network = baseline(name, classes=CLASSES, channels_in=CHANNELS, image=int(side))
    network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    images = torch.randn(BATCH, CHANNELS, int(side), int(side)).contiguous(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    kinds = (nn.Conv2d, TrimmedConvolution)
    turns = [[step_s(network, kind, optimizer, images) for kind in kinds] for _ in range(REPEATS)]
    whole, trimmed = (1e3 * min(times) for times in zip(*turns, strict=True))
    print(f"{name}, {side}x{side}: whole {whole:.1f} ms, trimmed {trimmed:.1f} ms, {whole / trimmed:.2f}x")


if __name__ == "__main__":
    main(*sys.argv[1:])
