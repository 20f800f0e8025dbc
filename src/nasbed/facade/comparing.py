"""``nasbed.compare``: search methods on a benchmark."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nasbed.benchmarks import Benchmark, load
from nasbed.core.calls.arguments import check_location, one_or_several, whole_number
from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.experiments import compare as comparison
from nasbed.experiments.guidance import Guidance
from nasbed.experiments.provenance import Method, benchmark_fingerprint
from nasbed.experiments.runs import Runs
from nasbed.facade.arguments import check_settings, engine_of, method_list
from nasbed.terminal.progress import counted_bars, note


def compare(
    benchmark: str | Path | Benchmark,
    methods: Method | Iterable[Method],
    *,
    seeds: int = 10,
    budget: str = "300ev",
    out: str | Path | None = None,
    workers: int = 1,
    processes: int = 1,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    preset: str = "",
    warm_start: str | Sequence[str] = (),
    filter: str | Sequence[str] = (),
    scores: str | Path | None = None,
    continue_trainings: bool | None = None,
    progress: bool = True,
) -> Runs:
    """Run search methods with many seeds on a benchmark, as ``nasbed run`` does.

    The result shows its standings in a notebook; ``plot()`` draws the regret, ``to_pandas()`` has every evaluation.
    :func:`nasbed.experiments.compare.compare` also has engines, timeouts and callbacks.

    Args:
        benchmark: an id or a path that :func:`nasbed.load` takes, or what it returned.
        methods: one or several: ids of ``nasbed list optimizers``, ``file.py:ClassName``, or subclasses of
            :class:`nasbed.Optimizer` themselves.
        seeds: how many runs each method makes, with the seeds 0, 1, 2 …
        budget: of each run: evaluations, such as ``300ev``, or simulated seconds, such as ``1e6s``.
        out: the folder of the runs. A repeated call makes only what is missing there. Without it, runs are kept in
            memory alone.
        workers: parallel evaluations on the simulated clock.
        processes: how many runs are made at once. More than one need a script with ``if __name__ == "__main__":``, and
            your own class in a file.
        settings: by method and name: ``{"re": {"sample_size": 5}}``.
        preset: the paper that other settings are from, such as ``nb101``.
        warm_start: also run each method from the best of N architectures by a proxy: ``params:1000``.
        filter: also run each method with each draw the best of M candidates by a proxy: ``params:10``.
        scores: a file of scores, for proxies that spaces do not know in closed form.
        continue_trainings: whether a higher fidelity continues an earlier training. By default it does where fidelities
            are epochs of one training.
        progress: whether a notebook or a terminal shows progress bars.
    """
    chosen, seeds = method_list(methods), whole_number("seeds", seeds, least=1)
    check_settings(settings)
    warm_starts, filters = one_or_several("warm_start", warm_start), one_or_several("filter", filter)
    guidance = [None, *map(Guidance.warm_start, warm_starts), *map(Guidance.filter, filters)]
    engine = engine_of(processes)
    names = [comparison.run_name(method, guide) for guide in guidance for method in chosen]
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory()) if out is None else out
        report = stack.enter_context(_bars(names, seeds)) if progress else print_error
        return comparison.compare(
            _loadable(benchmark),
            chosen,
            seeds=seeds,
            budget=budget,
            out=folder,
            workers=whole_number("workers", workers, least=1),
            engine=engine,
            preset=preset,
            settings=settings,
            guidance=guidance,
            scores=scores,
            continue_trainings=continue_trainings,
            progress=report,
            on_note=note,
        )


@contextmanager
def _bars(names: Sequence[str], seeds: int) -> Iterator[Callable[[str, int, str], None]]:
    """A bar of runs per method; a run that broke is printed."""
    with counted_bars() as shown:
        tasks = {name: shown.add_task(name, total=seeds) for name in names}

        def report_run(method: str, seed: int, error: str) -> None:
            shown.advance(tasks[method])
            print_error(method, seed, error)

        yield report_run


def print_error(method: str, seed: int, error: str) -> None:
    """Print why a run broke, if it did."""
    if error:
        print(f"{method}, seed {seed}: {error}", file=sys.stderr)


def _loadable(benchmark: str | Path | Benchmark) -> str | Path:
    """What opens a benchmark anew, in other processes and for those who read stored runs."""
    if not isinstance(benchmark, Benchmark):
        check_location("a benchmark is an id of nasbed list benchmarks, a path or what nasbed.load returns", benchmark)
        return benchmark
    try:
        same = benchmark_fingerprint(load(benchmark.name)) == benchmark_fingerprint(benchmark)
    except NasbedError:
        same = False
    if not same:
        raise InvalidOption(
            f"runs open their benchmark by an id or a path, and {benchmark.name} is not the id of this one; pass the "
            "path that you loaded it from, or save it first"
        )
    return benchmark.name
