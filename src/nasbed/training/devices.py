"""Devices, their generators and threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from nasbed.core.errors import InvalidOption, shorten


def chosen_device(name: str | torch.device) -> torch.device:
    """``cpu``, ``cuda``, ``cuda:1``, or with ``auto`` a GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InvalidOption(f"a device is auto, cpu, cuda or cuda:NUMBER, got {shorten(name)}") from None
    if device.type not in ("cpu", "cuda"):
        raise InvalidOption(f"networks are trained on cpu or cuda, got {shorten(str(device))}")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InvalidOption(
            f"this machine has {torch.cuda.device_count()} CUDA devices, got {device}; take cpu or auto"
        )
    return device


@contextmanager
def chance_kept(device: torch.device) -> Iterator[None]:
    """Restore torch's own generators afterwards, whatever is drawn inside."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield


def set_chance(device: torch.device, seed: int) -> None:
    """Seed the generator from which layers on a device draw what they drop."""
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


@contextmanager
def coarse_products() -> Iterator[None]:
    """Inside, a GPU rounds the factors of matrix products to TF32, as torch's default is for convolutions. On an
    H200 a step of VGG16 takes three quarters of the time, one of ConvNext two thirds."""
    previous = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = previous


@contextmanager
def threads_used(count: int) -> Iterator[None]:
    """Inside, torch computes on a CPU with ``count`` threads. The last bits of a result depend on their number; small
    networks are fastest with one."""
    previous_count = torch.get_num_threads()
    torch.set_num_threads(checked_threads(count))
    try:
        yield
    finally:
        torch.set_num_threads(previous_count)


def checked_threads(count: int) -> int:
    if count < 1:
        raise InvalidOption(f"a training has at least one thread, got {count}")
    return count
