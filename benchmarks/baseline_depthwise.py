"""The gradient of a CNN baseline on a GPU with depthwise convolutions of our own against torch's; in one run.

    python benchmarks/baseline_depthwise.py [convnext-base:3x64x64 mnasnet:3x28x28 ...]

Both ways are recorded with the same weights and 64 images, and take turns. The fastest of twenty steps counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.networks import trimming
from nasbed.networks.baselines import baseline
from nasbed.training.cuda_graphs import Recording
from nasbed.training.devices import coarse_products

CASES = ("convnext-base:3x64x64", "convnext-base:3x28x28", "mnasnet:3x64x64", "mnasnet:3x28x28")
BATCH, CLASSES, REPEATS = 64, 4, 20


@contextmanager
def torch_kernels() -> Iterator[None]:
    with patch.object(trimming, "suits_cuda_kernels", lambda *_, **__: False):
        yield


def recorded_step(network: nn.Module, images: Tensor, labels: Tensor) -> Callable[[], Tensor]:
    recording = Recording(
        network, lambda *batch: functional.cross_entropy(network(batch[0]), batch[1]), (images, labels)
    )
    return lambda: recording(images, labels)


def seconds(step: Callable[[], Tensor]) -> float:
    torch.cuda.synchronize()
    start = perf_counter()
    step()
    torch.cuda.synchronize()
    return perf_counter() - start


def main(*cases: str) -> None:
    if not torch.cuda.is_available():
        sys.exit("this compares kernels of a GPU, and torch finds none")
    torch.manual_seed(0)
    print(f"{BATCH} images, the best of {REPEATS} steps, {torch.cuda.get_device_name()}")
    for case in cases or CASES:
        name, _, shape = case.partition(":")
        channels, *sides = map(int, shape.split("x"))
        network = baseline(name, classes=CLASSES, channels_in=channels, image=(sides[0], sides[1]))
        network.to("cuda", memory_format=torch.channels_last)  # type: ignore[call-overload]
        images = torch.randn(BATCH, channels, *sides, device="cuda").contiguous(memory_format=torch.channels_last)
        labels = torch.arange(BATCH, device="cuda") % CLASSES
        with coarse_products():
            own = recorded_step(network, images, labels)
            with torch_kernels():
                theirs = recorded_step(network, images, labels)
        times = [(seconds(theirs), seconds(own)) for _ in range(REPEATS)]
        plain, fast = (min(column) for column in zip(*times, strict=True))
        print(f"{case}: torch's {1e3 * plain:.2f} ms, our own {1e3 * fast:.2f} ms, {plain / fast:.2f}x", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
