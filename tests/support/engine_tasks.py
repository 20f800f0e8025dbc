"""Functions for worker processes: they must be importable there."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from nasbed import Architecture
from nasbed.core.errors import NotReady


def square(number: int) -> int:
    return number * number


def process_of(_: int) -> int:
    return os.getpid()


def misbehave(task: tuple[str, str]) -> str:
    """Raise, die, die once, or hang, as the task asks."""
    kind, folder = task
    if kind == "raise":
        raise ValueError("as asked\nsecond line")
    if kind == "die":
        os._exit(3)
    if kind == "die once":
        marker = Path(folder) / "died"
        if not marker.exists():
            marker.touch()
            os._exit(3)
    if kind == "hang":
        time.sleep(60)
    return kind


def write_pid_and_hang(folder: str) -> None:
    """Leave a file with the number of this process, and hang."""
    (Path(folder) / f"{os.getpid()}.pid").touch()
    time.sleep(60)


def refuse(message: str) -> None:
    raise NotReady(message)


def square_in_another_process(number: int) -> int:
    """The square, computed by a child of this process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(square, number).result()


def accuracies(cases: Sequence[tuple[Any, Sequence[Architecture]]]) -> list[list[float]]:
    """What benchmarks that were sent to another process answer there."""
    return [[benchmark.query(arch, seed=0).values[benchmark.objective] for arch in archs] for benchmark, archs in cases]
