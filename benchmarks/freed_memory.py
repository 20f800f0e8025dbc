"""Steps of a training on a CPU that keeps the memory it frees, against steps that give it back to the system.

    python benchmarks/freed_memory.py [SIDE ...]

Two processes take turns with one core each, a step of 64 images at a time. Both train the same network of the DARTS
space with 8 channels and 5 cells; the median of nine steps counts. The setting is that of a process, so there are two.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
from multiprocessing.connection import Connection
from statistics import median
from time import perf_counter

import numpy as np
import torch
from torch.nn import functional

import nasbed
from nasbed.networks import build
from nasbed.networks.trimming import trim_convolutions
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.training.placement.freed_memory import keep_freed_memory

SIDES, BATCH, CLASSES, STEPS = (8, 16, 28, 64), 64, 4, 9


def step_on_request(link: Connection, side: int, keeps: bool) -> None:
    """Take a step at each message, and answer with its seconds and the most memory so far in MiB."""
    torch.set_num_threads(1)
    if keeps:
        assert keep_freed_memory(), "needs glibc"
    arch = nasbed.space("darts").sample(np.random.default_rng(0))
    network = build(arch, classes=CLASSES, channels_in=3, image=side, skeleton=DartsSkeleton(channels=8, cells=5))
    trim_convolutions(network.to(memory_format=torch.channels_last))  # type: ignore[call-overload]
    images, labels = torch.randn(BATCH, 3, side, side), torch.arange(BATCH) % CLASSES
    while link.recv():
        start = perf_counter()
        functional.cross_entropy(network(images), labels).backward()  # type: ignore[no-untyped-call]
        link.send((perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def main(*sides: str) -> None:
    processes = multiprocessing.get_context("spawn")
    for side in map(int, sides or SIDES):
        links = []
        for keeps in (False, True):
            here, there = processes.Pipe()
            processes.Process(target=step_on_request, args=(there, side, keeps), daemon=True).start()
            links.append(here)
        answers: tuple[list[tuple[float, float]], ...] = ([], [])
        for _ in range(STEPS):
            for link, heard in zip(links, answers, strict=True):
                link.send(True)
                heard.append(link.recv())
        gives, keeps_ = (median(time for time, _ in heard) for heard in answers)
        memory = [heard[-1][1] for heard in answers]
        print(
            f"{side}x{side}: gives back {1e3 * gives:.0f} ms, {memory[0]:.0f} MiB; keeps {1e3 * keeps_:.0f} ms, "
            f"{memory[1]:.0f} MiB; {gives / keeps_:.2f}x",
            flush=True,
        )
        for link in links:
            link.send(False)


if __name__ == "__main__":
    main(*sys.argv[1:])
