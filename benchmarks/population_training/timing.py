"""Seconds on a device, CUDA graphs of any work, what the device reaches at best, and which kernels take the time."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch

Work = Callable[[], object]

_FAILED: list[torch.cuda.CUDAGraph] = []
"""Recordings that broke off: torch's allocators go on asking them whether they record, so they must not be freed."""


def synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def wall_seconds(work: Work, device: torch.device) -> float:
    """Seconds of one call by the host's clock, the device's work included."""
    synchronize(device)
    began = perf_counter()
    work()
    synchronize(device)
    return perf_counter() - began


def seconds(work: Work, device: torch.device, *, budget_s: float) -> float:
    """The median of repeated calls, 5 to 50 as the budget allows; on a CUDA device by its own events."""
    work()
    single_s = wall_seconds(work, device)
    count = max(5, min(50, int(budget_s / max(single_s, 1e-9))))
    if device.type != "cuda":
        return median([wall_seconds(work, device) for _ in range(count)])
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]  # type: ignore[no-untyped-call]
    marks[0].record()
    for mark in marks[1:]:
        work()
        mark.record()
    torch.cuda.synchronize(device)
    return float(median([before.elapsed_time(after) / 1e3 for before, after in pairwise(marks)]))


@contextmanager
def recorded(work: Work, device: torch.device, *, stream: Any = None) -> Iterator[Work]:
    """The work as a CUDA graph; on other devices the work itself. Raises RuntimeError where it cannot be recorded."""
    if device.type != "cuda":
        yield work
        return
    current, generator = torch.cuda.current_stream(), torch.cuda.default_generators[device.index or 0]
    stream = stream or torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(current)
    with torch.cuda.stream(stream):
        work()
        work()
        with _waiting_refused():
            work()
    current.wait_stream(stream)
    torch.cuda.synchronize(device)
    graph = torch.cuda.CUDAGraph()
    pool, chance = torch.cuda.graph_pool_handle(), generator.clone_state()
    try:
        with torch.cuda.graph(graph, pool=pool, stream=stream):
            work()
    except RuntimeError:  # torch leaves its stream, generator and allocator as in the midst of recording
        torch.cuda.set_stream(current)
        generator.graphsafe_set_state(chance)
        _FAILED.append(graph)
        with suppress(RuntimeError):
            torch._C._cuda_endAllocateToPool(device.index or 0, pool)
            torch._C._cuda_releasePool(device.index or 0, pool)
        raise
    yield graph.replay
    torch.cuda.synchronize(device)
    graph.reset()


@contextmanager
def _waiting_refused() -> Iterator[None]:
    """Inside, an operation that makes the host wait for the device raises RuntimeError: a recording that fails for it
    is harder to clear away."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that this is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def copy_bandwidth(device: torch.device) -> float:
    """Bytes a second of a large copy on the device, bytes read and written both counted."""
    size = 2**32 if device.type == "cuda" else 2**24
    source = torch.randint(0, 127, (size,), dtype=torch.int8, device=device)
    target = torch.empty_like(source)
    return 2 * size / seconds(lambda: target.copy_(source), device, budget_s=_limit_budget_s(device))


def matrix_rate(device: torch.device) -> float:
    """FLOP/s of a large bfloat16 matrix product of random numbers."""
    side = 8192 if device.type == "cuda" else 256
    left, right = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    return 2 * side**3 / seconds(lambda: left @ right, device, budget_s=_limit_budget_s(device))


def _limit_budget_s(device: torch.device) -> float:
    """Seconds to measure a limit of the device; a CPU only rehearses."""
    return 0.3 if device.type == "cuda" else 0.05


@dataclass(frozen=True, slots=True)
class KernelShare:
    """Launches of one kernel with one shape. Registers, shared memory and occupancy are as the profiler estimates."""

    share: float
    seconds: float
    launches: int
    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    registers: int
    shared_bytes: int
    occupancy_percent: float


def kernel_shares(work: Work, device: torch.device) -> list[KernelShare]:
    """Which kernels of one call take the device's time, the longest first."""
    if device.type != "cuda":
        return []
    work()
    torch.cuda.synchronize(device)
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        work()
        torch.cuda.synchronize(device)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return grouped_kernels([event for event in events if event.get("cat") == "kernel"])


def grouped_kernels(events: list[dict[str, Any]]) -> list[KernelShare]:
    """The kernel events of a Chrome trace, by name and launch shape."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        about = event["args"]
        groups[event["name"], tuple(about.get("grid", ())), tuple(about.get("block", ()))].append(event)
    total = sum(event["dur"] for event in events)
    shares = []
    for (name, grid, block), same in groups.items():
        microseconds, about = sum(event["dur"] for event in same), same[0]["args"]
        shares.append(
            KernelShare(
                share=microseconds / total,
                seconds=microseconds / 1e6,
                launches=len(same),
                name=name,
                grid=grid,
                block=block,
                registers=about.get("registers per thread", 0),
                shared_bytes=about.get("shared memory", 0),
                occupancy_percent=about.get("est. achieved occupancy %", 0),
            )
        )
    return sorted(shares, key=lambda kernel: -kernel.share)
