"""Trainings that share a GPU, each in a process of its own, against each alone.

    nvidia-cuda-mps-control -d
    python benchmarks/gpu_sharing.py [densenet161 convnext-base pc-darts]

A step is the gradient of a batch, from a recording: of a CNN baseline 64 images of 64×64 pixels, of the supernet of
PC-DARTS in its preset configuration 256 of 24×24. Each repeats its step for a few seconds, alone and then beside the
others. The sum of the shares of speed that they keep says how much faster all are together than one after another.
Without NVIDIA's MPS the GPU works for one process at a time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Barrier
from time import perf_counter

import torch

from baseline_depthwise import recorded_step
from nasbed.networks.baselines import BASELINES, baseline
from nasbed.oneshot import SEARCHED_SPACES
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.loss import supernet_loss
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.spaces.base import SupernetSize
from nasbed.training.cuda_graphs import Recording
from nasbed.training.devices import coarse_products
from nasbed.training.recipe import Recipe

TRAININGS = ("densenet161", "convnext-base", "pc-darts")
SECONDS, PATIENCE = 4.0, 300.0
SUPERNET = Recipe(name="supernet", epochs=(1,), batch=256, learning_rate=0.1)


def cnn_step(name: str) -> Callable[[], object]:
    network = baseline(name, classes=4, channels_in=3, image=(64, 64))
    network.to("cuda", memory_format=torch.channels_last)  # type: ignore[call-overload]
    images = torch.randn(64, 3, 64, 64, device="cuda").contiguous(memory_format=torch.channels_last)
    labels = torch.arange(64, device="cuda") % 4
    with coarse_products():
        return recorded_step(network, images, labels)


def supernet_step() -> Callable[[], object]:
    space = SEARCHED_SPACES.get("darts")
    cells = space.cells(with_none=True)
    supernet = space.supernet(SupernetSize(16, 8, (1, 24, 24), 10), cells, Layout(4))
    supernet.to("cuda", memory_format=torch.channels_last)  # type: ignore[call-overload]
    images = torch.randn(256, 1, 24, 24, device="cuda")
    operations = torch.softmax(torch.zeros(cells.shape, device="cuda"), dim=-1)
    inputs = [
        images,
        torch.arange(256, device="cuda") % 10,
        operations,
        torch.full(cells.shape[:2], 0.3, device="cuda"),
    ]
    recording = Recording(
        supernet,
        lambda images, labels, *mixing: supernet_loss(supernet, (images, labels), Mixing(*mixing), SUPERNET),
        inputs,
    )
    return lambda: recording(*inputs)


def repeat_step(name: str, start: Barrier, milliseconds: multiprocessing.SimpleQueue[tuple[str, float]]) -> None:
    """Put the mean time of a step into the queue; all processes begin together."""
    step = supernet_step() if name == "pc-darts" else cnn_step(name)
    step()
    torch.cuda.synchronize()
    start.wait(timeout=PATIENCE)
    count, begin = 0, perf_counter()
    while perf_counter() - begin < SECONDS:
        step()
        torch.cuda.synchronize()
        count += 1
    milliseconds.put((name, 1e3 * (perf_counter() - begin) / count))


def times_together(names: Sequence[str]) -> dict[str, float]:
    context = multiprocessing.get_context("spawn")
    start, milliseconds = context.Barrier(len(names)), context.SimpleQueue()
    processes = [context.Process(target=repeat_step, args=(name, start, milliseconds)) for name in names]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        sys.exit("a training failed, see above")
    return dict(milliseconds.get() for _ in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trainings", nargs="*", default=TRAININGS, help="CNN baselines, or pc-darts")
    names = parser.parse_args().trainings
    if unknown := [name for name in names if name != "pc-darts" and name not in BASELINES]:
        parser.error(f"a training is a CNN baseline or pc-darts, got {unknown[0]!r}")
    if not torch.cuda.is_available():
        sys.exit("this shares a GPU, and torch finds none")
    alone = {name: times_together([name])[name] for name in names}
    together = times_together(names)
    for name in names:
        print(f"{name:<16} alone {alone[name]:7.2f} ms, beside the others {together[name]:7.2f} ms a step")
    print(f"together {sum(alone[name] / together[name] for name in names):.2f} times as fast as one after another")


if __name__ == "__main__":
    main()
