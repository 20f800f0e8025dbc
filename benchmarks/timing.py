"""How the benchmarks time things: the best of several repeats, everything in one run, ratios beside the seconds."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter


def best_seconds(
    call: Callable[[], object], *, repeats: int = 5, calls: int = 1, clock: Callable[[], float] = perf_counter
) -> float:
    """Seconds a call, the best of ``repeats`` rounds of ``calls``, by a clock."""
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        for _ in range(calls):
            call()
        best = min(best, clock() - start)
    return best / calls


def report(label: str, seconds: float, baseline: float | None = None) -> None:
    """One line; with a baseline, how many times faster than it."""
    ratio = f"  {baseline / seconds:8.1f}x" if baseline is not None else ""
    print(f"{label:<64} {seconds * 1e6:14,.2f} µs{ratio}", flush=True)
