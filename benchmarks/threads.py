"""Training on a CPU with one thread and with two: on a quiet machine, and beside busy processes.

    python benchmarks/threads.py [--epochs 4] [--busy 3]

A DARTS network of 8 channels and 5 cells trains on digits, each time in a process of its own. The fastest epoch counts.
Threads wait as torch has it, spinning, or asleep (``OMP_WAIT_POLICY=passive``). A training that takes over a minute is
ended. For two cores: on more of them, more busy processes are needed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from time import perf_counter

import numpy as np
import torch

import nasbed
from nasbed.datasets.opening import open_dataset
from nasbed.networks import build
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.training import load_recipe
from nasbed.training.devices import threads_used
from nasbed.training.loop import train_network

WORST_S = 60.0
WAITS = {"1 thread": (1, {}), "2 threads": (2, {}), "2 threads, asleep": (2, {"OMP_WAIT_POLICY": "passive"})}


def epoch_s(threads: int, epochs: int) -> float:
    """The seconds of the fastest epoch."""
    arch = nasbed.space("darts").sample(np.random.default_rng(0))
    network = build(arch, classes=10, channels_in=1, image=8, skeleton=DartsSkeleton(channels=8, cells=5))
    times = [perf_counter()]
    with threads_used(threads):
        train_network(
            network,
            open_dataset("digits"),
            load_recipe("unseen"),
            seed=0,
            epochs=epochs,
            device=torch.device("cpu"),
            progress=lambda _: times.append(perf_counter()),
        )
    return min(end - start for start, end in pairwise(times))


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Inside, so many processes compute; they end by themselves after ten minutes."""
    loop = "import time; end = time.time() + 600\nwhile time.time() < end: pass"
    processes = [subprocess.Popen([sys.executable, "-c", loop], start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measured(threads: int, more: dict[str, str], epochs: int) -> str:
    """What a process of its own measures."""
    command = [sys.executable, __file__, "--alone", str(threads), "--epochs", str(epochs)]
    inherited = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    try:
        done = subprocess.run(
            command, env=inherited | more, capture_output=True, text=True, timeout=WORST_S, check=True
        )
    except subprocess.TimeoutExpired:
        return f"more than {WORST_S / epochs:.0f} s"
    return f"{float(done.stdout):.2f} s"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--busy", type=int, default=3, help="the number of busy processes")
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        print(epoch_s(options.alone, options.epochs))
        return
    for busy in (0, options.busy):
        with busy_processes(busy):
            for name, (threads, more) in WAITS.items():
                text = measured(threads, more, options.epochs)
                print(f"{busy} busy processes, {name}: {text} an epoch", flush=True)


if __name__ == "__main__":
    main()
