"""Reference runs of a suite: every method that can run on it, in one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from nasbed.benchmarks.catalog import load
from nasbed.benchmarks.suites import Suite
from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidOption, NasbedError, nearest, shorten
from nasbed.core.execution import Engine
from nasbed.experiments.comparison_checks import check_comparison
from nasbed.experiments.simulate import problem_of
from nasbed.experiments.suites import missing_benchmarks, run_suite
from nasbed.leaderboard.joining import REFERENCE
from nasbed.leaderboard.packing import pack
from nasbed.leaderboard.run_file import RunFile
from nasbed.optimizers import OPTIMIZERS

OMITTED = "left out: its runs take too long for these reference runs"
SLOW = "left out of these runs: slow to query"


def shipped_methods() -> list[str]:
    """The methods that come with the package."""
    return [name for name in OPTIMIZERS if not object_fingerprint(OPTIMIZERS.get(name))]


def unable_methods(suite: Suite, methods: Sequence[str]) -> dict[str, str]:
    """Why methods cannot run on some benchmark of a suite, by method."""
    reasons: dict[str, str] = {}
    for entry in suite.entries:
        benchmark = load(entry.benchmark)
        for method in methods:
            try:
                check_comparison(benchmark, [method], name=entry.benchmark, budget=entry.budget)
                OPTIMIZERS.get(method)(problem_of(benchmark), np.random.default_rng(0))
            except NasbedError as error:
                reasons.setdefault(method, f"cannot run on {entry.name}: {error}")
    return reasons


def make_reference(
    suite: Suite,
    *,
    runs: Path,
    seeds: int,
    seeds_of: Mapping[str, int] | None = None,
    without: Sequence[str] = (),
    engine: Engine | None = None,
    command: str = "",
    progress: Callable[[str, str, int, str], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> RunFile:
    """Run all methods of the package on a suite, except those that cannot run there, and pack the runs.

    Args:
        suite: all of whose benchmarks are here.
        runs: the folder of the runs; what it has is not run again.
        seeds: runs of each method on each benchmark.
        seeds_of: another number for slow methods; 0 leaves a method out, and the file says so.
        without: patterns such as ``*-gin-*`` of benchmarks to leave out, and the file says so.
        engine: carries out the runs.
        command: what the file says that the runs were made with.
        progress, on_note: as for :func:`~nasbed.experiments.suites.run_suite`.
    """
    methods, fewer = shipped_methods(), dict(seeds_of or {})
    for name in fewer:
        if name not in methods:
            raise InvalidOption(f"no method of nasbed is called {shorten(name)}; {nearest(name, methods)}")
    left_out = {entry.name: SLOW for entry in suite.entries if any(fnmatch(entry.name, one) for one in without)}
    suite = suite.without(list(left_out))
    missing = missing_benchmarks(suite)
    if missing:
        name, get = next(iter(missing.items()))
        raise InvalidOption(f"reference runs are of a whole suite, {name} is not here; get it with: {get}")
    omitted = {name: OMITTED for name, count in fewer.items() if not count}
    not_run = omitted | unable_methods(suite, [name for name in methods if name not in omitted])
    able = [name for name in methods if name not in not_run]
    by_seeds: dict[int, list[str]] = {}
    for name in able:
        by_seeds.setdefault(fewer.get(name, seeds), []).append(name)
    for count, group in sorted(by_seeds.items(), reverse=True):
        run_suite(
            suite, group, out=runs, seeds=count, engine=engine, command=command, progress=progress, on_note=on_note
        )
    return pack(runs, label=REFERENCE, methods=able, not_run=not_run, left_out=left_out, command=command)
