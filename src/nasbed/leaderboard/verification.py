"""Runs of a file made again, to see whether they are what the file says.

Every value in a file is compared with the benchmark's own answer where that is determined by the number of the
evaluation. Of the runs, a random sample is made again from the method and the seed, and compared proposal by proposal.
Measured times, such as how long a method thinks, differ between machines and are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.core.architecture import Architecture
from nasbed.core.code_fingerprint import file_fingerprint
from nasbed.core.errors import InvalidOption, NasbedError, nearest, shorten
from nasbed.experiments.budget import Budget
from nasbed.experiments.comparison_checks import check_comparison
from nasbed.experiments.run_task import RunTask, run_task
from nasbed.experiments.runs import Run
from nasbed.leaderboard.condensing import condense
from nasbed.leaderboard.joining import check_benchmark_bytes
from nasbed.leaderboard.packing import environment, shipped_code
from nasbed.leaderboard.run_file import BenchmarkRecord, MethodRecord, RunFile
from nasbed.optimizers import OPTIMIZERS

Verdict = Literal["verified", "differs", "cannot be verified here"]
TOLERANCE = 1e-9
"""Relative. Values and times that differ by less are equal: another processor may round another way."""


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one run of a file. ``reason`` is empty for a verified one."""

    benchmark: str
    method: str
    seed: int
    verdict: Verdict
    reason: str = ""


def verify(
    file: RunFile,
    *,
    sample: int = 3,
    seed: int = 0,
    methods: Sequence[str] = (),
    trust_code: bool = False,
    on_check: Callable[[Check], None] | None = None,
) -> list[Check]:
    """Make a random sample of the runs of a file again and compare.

    Args:
        file: the runs.
        sample: how many runs are made again.
        seed: of the sample. Whoever verifies chooses it, so nobody knows beforehand which runs are looked at.
        methods: of which the sample is taken, all by default.
        trust_code: whether the code in the file may be run. Otherwise only methods of nasbed's own are.
        on_check: called with each result.
    """
    names = [method.name for method in file.methods]
    for name in methods:
        if name not in names:
            raise InvalidOption(f"the file has no runs of {shorten(name)}; {nearest(name, names)}")
    pairs = [
        (record, run)
        for record in file.benchmarks
        for run in file.runs[record.name]
        if not methods or run.method in methods
    ]
    if not pairs:
        raise InvalidOption("the file has no runs, so there is nothing to verify; get another")
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:sample]
    checks = []
    for number in sorted(chosen.tolist()):
        record, run = pairs[number]
        verdict, reason = _verified(file, record, run, trust_code=trust_code)
        checks.append(Check(record.name, run.method, run.seed, verdict, reason))
        if on_check is not None:
            on_check(checks[-1])
    return checks


def wrong_values(file: RunFile) -> list[Check]:
    """The runs with a value that the benchmark does not give. Nothing of the file is run.

    A benchmark answers by architecture, fidelity and seed, and the seed of an evaluation is determined by its number if
    there is one worker and no training is continued. Other benchmarks, and those that are not here, are passed over.
    """
    checks = []
    for record in file.benchmarks:
        benchmark, reason = _open_benchmark(record)
        if benchmark is None or reason or record.workers != 1 or record.continue_trainings:
            continue
        for run in file.runs[record.name]:
            wrong = _first_wrong_value(run, benchmark)
            if wrong:
                checks.append(Check(record.name, run.method, run.seed, "differs", wrong))
    return checks


def _first_wrong_value(run: Run, benchmark: Benchmark) -> str:
    rows = zip(run.codes.tolist(), run.fidelity.tolist(), run.value.tolist(), run.numbers.tolist(), strict=True)
    for code, fidelity, value, number in rows:
        if np.isnan(value):
            continue
        arch = Architecture(benchmark.space.name, tuple(code))
        try:
            answer = benchmark.query(arch, fidelity=fidelity, seed=(run.seed << 40) + number - 1)
        except NasbedError as error:
            return f"evaluation {number}: {error}"
        expected = answer.values.get(benchmark.objective, float("nan"))
        if not _close(value, expected):
            return f"evaluation {number} has {value!r}, the benchmark gives {expected!r}"
    return ""


def _verified(file: RunFile, record: BenchmarkRecord, run: Run, *, trust_code: bool) -> tuple[Verdict, str]:
    benchmark, reason = _open_benchmark(record)
    if benchmark is None or reason:
        return "cannot be verified here", reason
    method = file.method(run.method)
    try:
        with _runnable(method, trust_code=trust_code) as named:
            check_comparison(
                benchmark, [named], name=record.benchmark, budget=record.budget, settings={method.name: method.settings}
            )
            again = run_task(
                RunTask(
                    name=method.name,
                    benchmark=record.benchmark,
                    method=named,
                    seed=run.seed,
                    budget=Budget.parse(record.budget),
                    workers=record.workers,
                    settings=method.settings,
                    continue_trainings=record.continue_trainings,
                )
            )
    except NasbedError as error:
        return "cannot be verified here", str(error)
    difference = _difference(run, condense(again, benchmark))
    others = _other_versions(file, method) if difference else ""
    if others:
        return "cannot be verified here", f"{others}, and {difference}"
    return ("differs", difference) if difference else ("verified", "")


def _open_benchmark(record: BenchmarkRecord) -> tuple[Benchmark | None, str]:
    """The benchmark of a record, or why it cannot be used."""
    try:
        benchmark = load(record.benchmark)
        check_benchmark_bytes(record, benchmark, "the file")
    except NasbedError as error:
        return None, str(error)
    return benchmark, ""


@contextmanager
def _runnable(method: MethodRecord, *, trust_code: bool) -> Iterator[str]:
    """What names a method so that it can be run: its id, or its file unpacked into a folder that is removed again."""
    if not method.source:
        OPTIMIZERS.get(method.method)  # never what is in a file: an id, or it raises
        yield method.method
        return
    if not method.files:
        raise InvalidOption(f"the file has no source of {method.name}, which was not in a file of its own")
    if not trust_code:
        raise InvalidOption(f"{method.name} is code in the file; read it, then allow it to run with --trust-code")
    with TemporaryDirectory() as folder:
        main = unpack_code(method, Path(folder))
        if file_fingerprint(main) != method.source:
            raise InvalidOption(f"the source of {method.name} in the file is not what made its runs")
        yield f"{main}:{method.method.rpartition(':')[2]}"


def unpack_code(method: MethodRecord, folder: Path) -> Path:
    """Write the source of a method into a folder; the path of its main file. Nothing is written outside the folder or
    over a file that is there."""
    main = method.method.rpartition(":")[0]
    for name in method.files:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or "\\" in name or ":" in name or not place.parts:
            raise InvalidOption(f"a file of {method.name} lies outside its folder: {shorten(name)}")
    if main not in method.files:
        raise InvalidOption(f"the source of {method.name} is {shorten(list(method.files))}, without {shorten(main)}")
    for name, text in method.files.items():
        target, source = folder / name, text.encode("utf-8")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and target.read_bytes() != source:
                raise InvalidOption(f"{target} is there and is another file; name an empty folder")
            target.write_bytes(source)
        except OSError as error:
            raise InvalidOption(
                f"{shorten(name)} of {method.name} cannot be written, {error.strerror}; name another folder"
            ) from None
    return folder / main


def _difference(stored: Run, again: Run) -> str:
    """Where two condensed runs of one method and seed differ, in a clause; empty if they do not."""
    if stored.error != again.error:
        return f"the file has the error {stored.error!r}, again {again.error!r}"
    rows = range(min(len(stored), len(again)))
    for name, what in (("numbers", "its place"), ("codes", "its architecture"), ("fidelity", "its fidelity")):
        first, second = getattr(stored, name), getattr(again, name)
        for row in rows:
            if not np.array_equal(first[row], second[row]):
                return f"evaluation {min(stored.numbers[row], again.numbers[row])} or one before differs in {what}"
    for name in ("value", "end_s"):
        first, second = getattr(stored, name), getattr(again, name)
        for row in rows:
            if not _close(first[row], second[row]):
                what = f"{name} {float(first[row])!r}, again {float(second[row])!r}"
                return f"evaluation {stored.numbers[row]} has {what}"
    assert stored.condensed is not None and again.condensed is not None, "both are condensed"
    if stored.evaluations != again.evaluations:
        return f"it has {stored.evaluations} evaluations, again {again.evaluations}"
    if stored.condensed.proposals != again.condensed.proposals:
        return "incumbents agree, but other proposals differ"
    for name in ("failed", "below_top", "free", "repeated"):
        first, second = getattr(stored.condensed, name), getattr(again.condensed, name)
        if not _close(first, second):
            return f"it states {first:g} as {name.replace('_', ' ')}, again {second:g}"
    return ""


def _close(first: float, second: float) -> bool:
    return bool(np.isclose(first, second, rtol=TOLERANCE, atol=0.0, equal_nan=True))


def _other_versions(file: RunFile, method: MethodRecord) -> str:
    """In which versions the runs were made, if others are installed here."""
    here = environment()
    others = [
        f"{name} {version} made it, here is {here.get(name, 'none')}"
        for name, version in file.versions.items()
        if here.get(name) != version
    ]
    if method.code and method.method in OPTIMIZERS and shipped_code(method.method) != method.code:
        others.append(f"the code of {method.method} has changed since")
    return ", ".join(others[:2])
