"""Runs in files beside one another, and beside runs that were made here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.benchmarks.suites import SUITES, Suite
from nasbed.core.errors import InvalidOption, MissingDependency, shorten
from nasbed.core.home import embedded_home
from nasbed.experiments.provenance import benchmark_fingerprint
from nasbed.experiments.run_checks import check_runs_fit
from nasbed.experiments.runs import Runs, join_runs
from nasbed.experiments.searchable import continues
from nasbed.experiments.suites import BenchmarkRuns, SuiteRuns
from nasbed.leaderboard.run_file import SUFFIX, BenchmarkRecord, RunFile, load_run_file, with_name, without_methods

REFERENCE = "reference"
"""The label of the runs that come with the package, and what names them in an option."""


def reference_suites() -> list[str]:
    """The suites that have reference runs in the package."""
    return [name for name in SUITES if (_reference_folder() / f"{name}{SUFFIX}").is_file()]


def load_reference(suite: str) -> RunFile:
    """The reference runs of a suite that comes with the package."""
    path = _reference_folder() / f"{suite}{SUFFIX}"
    if suite not in reference_suites():
        raise InvalidOption(
            f"there are no reference runs of {shorten(suite)}; with the package come those of "
            f"{', '.join(reference_suites())}, and 'nasbed leaderboard make' makes others"
        )
    return load_run_file(path)


def files_for(suite: Suite, names: Sequence[str | Path]) -> list[RunFile]:
    """The files to compare a suite's runs with: ``reference``, or paths. Raises unless all of them fit the suite."""
    files = [load_reference(suite.name) if str(name) == REFERENCE else load_run_file(name) for name in names]
    for name, file in zip(names, files, strict=True):
        check_suite(file, suite, str(name))
    return files


def check_suite(file: RunFile, suite: Suite, name: str) -> None:
    """Raise unless runs of a suite can stand beside those of a file, which has every benchmark of the suite that is
    here, with the same bytes, budget and workers."""
    if file.judged_by != suite.judged_by:
        raise InvalidOption(f"{name} is judged by {file.judged_by} results, {suite.title} by {suite.judged_by}")
    records = {record.name: record for record in file.benchmarks}
    for entry in suite.entries:
        try:
            benchmark = load(entry.benchmark)
        except MissingDependency:
            continue
        if entry.name in file.left_out:
            continue
        if entry.name not in records:
            raise InvalidOption(f"{name} has no runs on {entry.name}; leave it out of the suite")
        record = records[entry.name]
        check_benchmark_bytes(record, benchmark, name)
        pairs = {
            "budget": (record.budget, entry.budget),
            "number of workers": (record.workers, entry.workers),
            "continue_trainings": (record.continue_trainings, continues(benchmark, entry.continue_trainings)),
        }
        for what, (stored, own) in pairs.items():
            if stored != own:
                raise InvalidOption(
                    f"runs are compared at one {what}, {name} has {stored} on {entry.name}, the suite {own}; use the "
                    "same"
                )


def check_benchmark_bytes(record: BenchmarkRecord, benchmark: Benchmark, name: str) -> None:
    """Raise where the bytes of a benchmark are not those that a file's runs were made on."""
    here = benchmark_fingerprint(benchmark)
    if here != record.sha256:
        raise InvalidOption(
            f"{name} has runs on other bytes of {record.benchmark}: its fingerprint is {record.sha256[:12]} there and "
            f"{here[:12]} here; use the same version, or make the runs again"
        )


def suite_runs(files: Sequence[RunFile]) -> SuiteRuns:
    """The runs of some files on the benchmarks of the first. Those that cannot be opened here, or that it leaves out,
    are missing."""
    files = with_distinct_names(files)
    parts, missing = [], dict(files[0].left_out)
    for record in files[0].benchmarks:
        try:
            benchmark = load(record.benchmark)
        except MissingDependency as error:
            missing[record.name] = str(error)
            continue
        parts.append(BenchmarkRuns(record.name, benchmark, _joined(record.name, benchmark, files)))
    sources = {method.name: file.label for file in files for method in file.methods}
    return SuiteRuns(files[0].title, files[0].judged_by, parts, missing, sources)


def join(runs: SuiteRuns, files: Sequence[RunFile]) -> SuiteRuns:
    """Runs that were made here beside those of files. A method of nasbed's own that was run here is not taken from a
    file; another method that is called like one of these has the label of its file added to its name."""
    own = list(dict.fromkeys(name for part in runs.benchmarks for name in part.runs.methods))
    shipped = [[method.name for method in file.methods if not method.source] for file in files]
    files = with_distinct_names(
        [
            without_methods(file, [name for name in own if name in names])
            for file, names in zip(files, shipped, strict=True)
        ],
        taken=own,
    )
    left_out = {name: f"{file.label}: {reason}" for file in files for name, reason in file.left_out.items()}
    parts = [
        replace(part, runs=join_runs([part.runs, _joined(part.name, part.benchmark, files)]) if files else part.runs)
        for part in runs.benchmarks
        if part.name not in left_out
    ]
    if not parts:
        raise InvalidOption("no benchmark of the suite has runs in all files; omit one")
    sources = {method.name: file.label for file in files for method in file.methods}
    return replace(runs, benchmarks=parts, missing={**runs.missing, **left_out}, sources=sources)


def with_distinct_names(files: Sequence[RunFile], taken: Iterable[str] = ()) -> list[RunFile]:
    """The files, where a method that is called like an earlier one, or by a name that is taken, has its label added to
    its name."""
    taken = set(taken)
    distinct = []
    for file in files:
        for method in file.methods:
            if method.name in taken:
                labelled = f"{method.name} ({file.label})"
                if labelled in taken | {other.name for other in file.methods}:
                    raise InvalidOption(f"two files have runs of {labelled}; omit one")
                file = with_name(file, method.name, labelled)
        taken |= {method.name for method in file.methods}
        distinct.append(file)
    return distinct


def _joined(name: str, benchmark: Benchmark, files: Sequence[RunFile]) -> Runs:
    sets = []
    for file in files:
        record = next((item for item in file.benchmarks if item.name == name), None)
        if record is None:
            raise InvalidOption(f"the runs of {file.label} lack {name}; run the whole suite")
        check_benchmark_bytes(record, benchmark, f"the file of {file.label}")
        runs = file.on(record)
        check_runs_fit(runs, benchmark)
        sets.append(runs)
    return join_runs(sets)


def _reference_folder() -> Path:
    return embedded_home() / REFERENCE
