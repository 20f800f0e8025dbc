"""Methods on all benchmarks of a suite: a folder of runs for each, and the suite's file beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import how_to_get, load
from nasbed.benchmarks.suites import Suite, SuiteEntry, load_suite, read_suite
from nasbed.benchmarks.suites.suite import FILE_NAME
from nasbed.core.errors import BadFile, InvalidOption, MissingDependency
from nasbed.core.execution import Engine
from nasbed.core.execution.journal import check_same_inputs
from nasbed.core.presentation.upward import call_facade, html_view
from nasbed.experiments.compare import compare
from nasbed.experiments.comparison_checks import check_comparison
from nasbed.experiments.provenance import Method, check_benchmark, stale_methods
from nasbed.experiments.run_checks import check_runs_fit
from nasbed.experiments.runs import Runs, join_runs, load_runs

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 3
"""How many missing benchmarks an error names."""


@dataclass(frozen=True, slots=True)
class BenchmarkRuns:
    """The runs on one benchmark of a suite, and the benchmark that judges them. ``stale`` has the reason per method
    whose runs are out of date."""

    name: str
    benchmark: Benchmark
    runs: Runs
    stale: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuiteRuns:
    """All runs of a suite. ``missing`` has the benchmarks that were skipped, each with how to get it."""

    title: str
    judged_by: str
    benchmarks: Sequence[BenchmarkRuns]
    missing: Mapping[str, str]
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where runs come from that were not made here, by method: ``reference``, or whose submission it is."""

    def summary(self) -> Any:
        """The statistics over all benchmarks, a :class:`nasbed.evaluation.suite.SuiteSummary`: ``standings()``,
        ``final_regret(method)``, ``record(one, other)`` …"""
        return call_facade("suites:suite_summary", self)

    def to_pandas(self) -> pd.DataFrame:
        """One row an evaluation, as :meth:`nasbed.Runs.to_pandas` has it, with the name of the ``benchmark``."""
        return call_facade("suites:suite_frame", self)

    def write_report(self, folder: str | Path) -> Path:
        """Write the page over all benchmarks with its tables and numbers into a folder; the path of the page."""
        return Path(call_facade("suites:write_runs_of_suite", self, Path(folder)))

    def _repr_html_(self) -> str | None:
        return html_view("suites:suite_html", self)


def run_suite(
    suite: str | Path | Suite,
    methods: Sequence[Method],
    *,
    out: Path | str,
    seeds: int | None = None,
    engine: Engine | None = None,
    preset: str = "",
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    skip_missing: bool = False,
    timeout_s: float | None = None,
    command: str = "",
    progress: Callable[[str, str, int, str], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> SuiteRuns:
    """Run every method with every seed on every benchmark of a suite. Runs that are stored in ``out`` are not repeated.

    Everything is checked on all benchmarks before the first run.

    Args:
        suite: an id of :data:`~nasbed.benchmarks.suites.SUITES`, a TOML file, or a suite.
        methods: ids, ``file.py:ClassName``, or classes.
        out: gets a folder of runs for each benchmark, and ``suite.toml``.
        seeds: runs per method and benchmark; the suite's own number by default.
        engine: carries out the runs; local processes by default.
        preset: the paper that the settings are from, see :func:`~nasbed.experiments.compare.compare`.
        settings: by the names of methods; they win over the preset.
        skip_missing: whether to leave out benchmarks that are not here; otherwise they raise.
        timeout_s: wall-clock timeout per run.
        command: what the report says the runs were made with.
        progress: called with the benchmark, the method, the seed and the error, if any, of each run that ended.
        on_note: called with a line about each thing that a user should know.
    """
    chosen, out = suite if isinstance(suite, Suite) else load_suite(suite), Path(out)
    missing = missing_benchmarks(chosen)
    if missing and not skip_missing:
        raise MissingDependency(_missing_line(chosen, missing))
    if len(missing) == len(chosen.benchmarks):
        raise InvalidOption(f"no benchmark of {chosen.name} is here, and all are skipped; get one: {_named(missing)}")
    present = chosen.without(list(missing))
    if (out / "setup.json").is_file():
        raise InvalidOption(f"{out} holds runs on one benchmark; choose another folder")
    if (out / FILE_NAME).is_file():
        stored, subject = read_suite(out / FILE_NAME), f"{out} holds runs of a suite"
        inputs = ({"title": suite.title, "judged_by": suite.judged_by} for suite in (stored, present))
        check_same_inputs(subject, *inputs, remedy="choose another folder")
        check_same_inputs(subject, *_common_inputs(stored, present), remedy="choose another folder")
    for entry in present.entries:
        check_comparison(
            load(entry.benchmark),
            methods,
            name=entry.benchmark,
            budget=entry.budget,
            preset=preset,
            settings=settings,
            continue_trainings=entry.continue_trainings,
        )
    chosen.save(out)
    for entry in present.entries:

        def on_run(method: str, seed: int, error: str, name: str = entry.name) -> None:
            if progress is not None:
                progress(name, method, seed, error)

        def on_line(line: str, name: str = entry.name) -> None:
            if on_note is not None:
                on_note(f"{name}: {line}")

        compare(
            entry.benchmark,
            methods,
            seeds=present.seeds if seeds is None else seeds,
            budget=entry.budget,
            out=out / entry.name,
            workers=entry.workers or 1,
            engine=engine,
            preset=preset,
            settings=settings,
            continue_trainings=entry.continue_trainings,
            timeout_s=timeout_s,
            command=command,
            progress=on_run,
            on_note=on_line,
        )
    runs = load_suite_runs(out)
    return replace(runs, missing={**runs.missing, **missing})


def _common_inputs(first: Suite, second: Suite) -> list[dict[str, object]]:
    """What the runs on the benchmarks of both suites were made with, for each of the suites."""
    names = {entry.name for entry in first.entries} & {entry.name for entry in second.entries}
    return [
        {
            f"{key} of {entry.name}": getattr(entry, key)
            for entry in sorted(suite.entries, key=lambda entry: entry.name)
            for key in ("benchmark", "budget", "workers")
            if entry.name in names
        }
        for suite in (first, second)
    ]


def missing_benchmarks(suite: Suite) -> dict[str, str]:
    """The benchmarks of a suite that are not here, by name, each with how to get it. The others are opened, and
    imported where that is all they need."""
    missing = {}
    for entry in suite.benchmarks:
        get = how_to_get(entry.id)
        try:
            if not get:
                load(entry.benchmark)
        except MissingDependency as error:
            get = str(error).rpartition("get it with: ")[2]
        if get:
            missing[entry.name] = get
    return missing


def load_suite_runs(folder: Path | str) -> SuiteRuns:
    """The stored runs of a suite, from the folder that :func:`run_suite` wrote."""
    folder = Path(folder)
    if not (folder / FILE_NAME).is_file():
        raise BadFile(f"{folder} holds no suite: it has no {FILE_NAME}; make one with: nasbed suite run --out {folder}")
    suite = read_suite(folder / FILE_NAME)
    started = [entry.name for entry in suite.benchmarks if (folder / entry.name / "setup.json").is_file()]
    stored = {name: runs for name in started if (runs := load_runs(folder / name)).runs}
    if not stored:
        raise BadFile(f"{folder} holds no runs yet; make some with: nasbed suite run {folder / FILE_NAME}")
    parts = [_benchmark_runs(name, runs, folder / name) for name, runs in stored.items()]
    missing = {
        entry.name: how_to_get(entry.id) or "not run yet" for entry in suite.benchmarks if entry.name not in stored
    }
    return SuiteRuns(suite.title, suite.judged_by, parts, missing)


def join_suite_runs(folders: Sequence[Path], *, title: str, judged_by: str = "test") -> SuiteRuns:
    """Folders of runs on several benchmarks as the runs of a suite; those of one benchmark are joined."""
    by_benchmark: dict[str, list[Path]] = {}
    for folder in folders:
        by_benchmark.setdefault(load_runs(folder).setup.benchmark, []).append(folder)
    parts = []
    for benchmark, places in by_benchmark.items():
        runs = join_runs([load_runs(place) for place in places])
        parts.append(_benchmark_runs(SuiteEntry(benchmark).name, runs, places[0]))
    return SuiteRuns(title, judged_by, parts, {})


def _benchmark_runs(name: str, runs: Runs, folder: Path) -> BenchmarkRuns:
    benchmark = load(runs.setup.benchmark)
    check_benchmark(runs.setup, benchmark, folder)
    check_runs_fit(runs, benchmark)
    return BenchmarkRuns(name, benchmark, runs, stale_methods(runs, benchmark))


def _missing_line(suite: Suite, missing: Mapping[str, str]) -> str:
    total = len(suite.benchmarks)
    return (
        f"{len(missing)} of the {total} benchmarks of {suite.name} are not here: {_named(missing)}; get them, or leave "
        "them out with --skip-missing"
    )


def _named(missing: Mapping[str, str]) -> str:
    """The missing benchmarks by how to get them, the first few of each."""
    by_command: dict[str, list[str]] = {}
    for name, get in missing.items():
        by_command.setdefault(get, []).append(name)
    return "; ".join(
        f"{', '.join(names[:MOST_NAMED])}{' …' if names[MOST_NAMED:] else ''} ({get})"
        for get, names in by_command.items()
    )
