"""The runs of a suite's folder as one file, with what is needed to make them again."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from nasbed.benchmarks.suites import read_suite
from nasbed.benchmarks.suites.suite import FILE_NAME
from nasbed.core.code_fingerprint import file_fingerprint, package_fingerprint, source_files
from nasbed.core.errors import InvalidOption, nearest, shorten
from nasbed.core.packages import package_versions
from nasbed.experiments.runs import Run
from nasbed.experiments.suites import BenchmarkRuns, load_suite_runs
from nasbed.leaderboard.condensing import condense
from nasbed.leaderboard.run_file import SHARED_WITH_SETUPS, BenchmarkRecord, MethodRecord, RunFile, check_seeds
from nasbed.optimizers import OPTIMIZERS

LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "ConfigSpace",
    "lightgbm",
    "xgboost-cpu",
    "xgboost",
    "optuna",
    "smac",
    "torch",
)
"""What the runs of methods and the answers of surrogates can depend on."""


def pack(
    folder: Path,
    *,
    label: str,
    methods: Sequence[str] = (),
    code: Path | None = None,
    not_run: Mapping[str, str] | None = None,
    left_out: Mapping[str, str] | None = None,
    command: str = "",
) -> RunFile:
    """The runs of a folder that :func:`~nasbed.experiments.suites.run_suite` wrote.

    Args:
        folder: of the suite.
        label: whose runs these are.
        methods: which, by name. By default those that are not nasbed's own, or all if there are no others.
        code: the file of the method, if it has moved since.
        not_run: why other methods have no runs.
        left_out: why other benchmarks of the suite have none.
        command: what the runs were made with; by default what the folder says.
    """
    stored = load_suite_runs(folder)
    suite = read_suite(folder / FILE_NAME)
    chosen = _chosen(stored.benchmarks, methods)
    if stored.missing:
        name, why = next(iter(stored.missing.items()))
        raise InvalidOption(
            f"{folder} has no runs on {name} ({why}), and a file is of a whole suite; run it to its end"
        )
    for part in stored.benchmarks:
        if part.benchmark.is_live:
            raise InvalidOption(
                f"{part.name} trains networks for real, so no other machine can verify its runs; omit it"
            )
        missing = [name for name in chosen if name not in part.runs.methods]
        if missing:
            raise InvalidOption(f"{folder} has no runs of {missing[0]} on {part.name}; run the suite to its end")
        stale = [why for name, why in part.stale.items() if name in chosen and code is None]
        if stale:
            raise InvalidOption(
                f"{part.name}: {stale[0].rstrip('.')}; run the suite again, or name its file with --code"
            )
    try:
        check_seeds({part.name: part.runs.runs for part in stored.benchmarks}, chosen)
    except ValueError as error:
        raise InvalidOption(f"{folder}: {error}; run the suite to its end") from None
    records = [_method_record(name, stored.benchmarks, code) for name in chosen]
    commands = dict.fromkeys(line for part in stored.benchmarks for line in part.runs.setup.command.splitlines())
    return RunFile(
        suite=suite.name,
        title=suite.title,
        judged_by=suite.judged_by,
        label=label,
        command=command or "\n".join(commands),
        versions=environment() | dict(stored.benchmarks[-1].runs.setup.versions),
        not_run=dict(not_run or {}),
        left_out=dict(left_out or {}),
        benchmarks=[_benchmark_record(part) for part in stored.benchmarks],
        methods=records,
        runs={
            part.name: [condense(run, part.benchmark) for run in part.runs.runs if run.method in chosen]
            for part in stored.benchmarks
        },
    )


def environment() -> dict[str, str]:
    """The versions of what runs depend on, and the kind of processor."""
    return package_versions(*LIBRARIES) | {"machine": platform.machine()}


def shipped_code(method: str) -> str:
    """The fingerprint of the code of a method of nasbed's own."""
    return package_fingerprint(OPTIMIZERS.get(method), "nasbed.optimizers")


def _chosen(parts: Sequence[BenchmarkRuns], methods: Sequence[str]) -> list[str]:
    """The methods to pack, in the order of the folder."""
    names = list(dict.fromkeys(name for part in parts for name in part.runs.methods))
    for name in methods:
        if name not in names:
            raise InvalidOption(f"there are no runs of {shorten(name)}; {nearest(name, names)}")
    own = {run.method for part in parts for run in part.runs.runs if run.made_by is not None and run.made_by.source}
    chosen = set(methods) or own or set(names)
    return [name for name in names if name in chosen]


def _benchmark_record(part: BenchmarkRuns) -> BenchmarkRecord:
    setup = part.runs.setup
    shared = {name: getattr(setup, name) for name in SHARED_WITH_SETUPS}
    return BenchmarkRecord(name=part.name, sha256=setup.benchmark_sha256, **shared)


def _method_record(name: str, parts: Sequence[BenchmarkRuns], code: Path | None) -> MethodRecord:
    """The record of a method that every run of it agrees with."""
    settings = [dict(part.runs.setup.settings.get(name, {})) for part in parts]
    if any(values != settings[0] for values in settings):
        raise InvalidOption(f"{name} has one set of settings on all benchmarks, got {shorten(settings)}; run it again")
    runs: list[Run] = [run for part in parts for run in part.runs.of(name)]
    sources = {(run.made_by.source, run.made_by.origin) for run in runs if run.made_by is not None}
    if len({source for source, _ in sources}) != 1:
        raise InvalidOption(f"the runs of {name} were made by one state of its code, got several; run it again")
    source, origin = next(iter(sources))
    preset = parts[0].runs.setup.presets.get(name, "")
    if not source:
        return MethodRecord(name, name, settings[0], preset, code=shipped_code(name))
    file, _, attribute = origin.rpartition(":")
    path = code or Path(file)
    if attribute and file and not file.endswith(".py"):
        raise InvalidOption(
            f"{name} was run as a class, whose file others cannot have; run the suite with file.py:{attribute}"
        )
    if not file:  # a plug-in, by its id
        return MethodRecord(name, origin, settings[0], preset, source=source)
    if not path.is_file() or path.name != Path(file).name or file_fingerprint(path) != source:
        raise InvalidOption(
            f"{path} is not the file that made the runs of {name}, {Path(file).name} as it was then; name it with "
            "--code, or run the suite again"
        )
    texts = {_place(module, file, path): _text(file, name) for module, file in source_files(path).items()}
    return MethodRecord(name, f"{path.name}:{attribute}", settings[0], preset, source=source, files=texts)


def _text(file: Path, method: str) -> str:
    """The text of a file with its line ends as they are, so that it has the same fingerprint elsewhere."""
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidOption(f"the source of {method} is text in UTF-8, {file} is not; convert it") from None


def _place(module: str, file: Path, main: Path) -> str:
    """Where a file goes beside the main one so that the same import finds it."""
    if file == main.resolve():
        return main.name
    parts = module.split(".")
    return "/".join([*parts, file.name] if file.stem == "__init__" else [*parts[:-1], file.name])
