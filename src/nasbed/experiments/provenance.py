"""The provenance of stored runs, and whether they are out of date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nasbed
from nasbed.benchmarks.base import Benchmark
from nasbed.core.code_fingerprint import file_fingerprint, module_fingerprint, named_file, object_fingerprint
from nasbed.core.errors import BadFile, NasbedError
from nasbed.core.files import values_sha256
from nasbed.optimizers import OPTIMIZERS, Optimizer

if TYPE_CHECKING:
    from nasbed.experiments.runs import Run, Runs, Setup

UNRECORDED = "the nasbed that made them recorded neither its code nor its data"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The inputs of a run, apart from its seed and the setup of its folder. Another value of any field is another
    run.

    ``source`` is empty for a method of nasbed's own, which has the version ``nasbed``. ``origin`` says where the source
    of another is: ``/path/to/file.py:ClassName``, ``module:ClassName``, or the id of a plug-in.
    """

    nasbed: str  # the version
    benchmark: str  # SHA-256 of its content
    settings: str  # SHA-256
    source: str = ""  # SHA-256
    origin: str = ""


Method = str | type[Optimizer]
"""A search method: a registered id, ``file.py:ClassName``, or the class itself."""


def provenance_of(method: Method, settings: Mapping[str, Any], benchmark: Benchmark) -> Provenance:
    """The provenance of a run of a method if it were made now."""
    origin = method_origin(method)
    source = source_fingerprint(origin) if isinstance(method, str) else object_fingerprint(method)
    return Provenance(
        nasbed=nasbed.__version__,
        benchmark=benchmark_fingerprint(benchmark),
        settings=values_sha256(dict(settings)),
        source=source,
        origin=origin if source else "",
    )


def method_origin(method: Method) -> str:
    """The method by the full path of its file, so that it can be looked up from elsewhere; an id as it is, and a class
    by its module."""
    if not isinstance(method, str):
        return f"{method.__module__}:{method.__qualname__}"
    file = named_file(method)
    return method if file is None else f"{file}:{method.rpartition(':')[2]}"


def source_fingerprint(origin: str) -> str:
    """The fingerprint of a method's source, empty for nasbed's own. Raises an OSError or NasbedError if it is gone, as
    a class is that was defined in a notebook."""
    file = named_file(origin)
    if file is not None:
        return file_fingerprint(file)
    return module_fingerprint(origin) if ":" in origin else object_fingerprint(OPTIMIZERS.get(origin))


def benchmark_fingerprint(benchmark: Benchmark) -> str:
    """The fingerprint of a benchmark's content and, where its space or itself is a plug-in's class, of the code of
    that."""
    codes = [code for item in (benchmark.space, benchmark.unwrapped) if (code := object_fingerprint(item))]
    return values_sha256((benchmark.fingerprint, *codes)) if codes else benchmark.fingerprint


def check_benchmark(setup: Setup, benchmark: Benchmark, folder: str | Path) -> None:
    """Raise if runs would be judged by another benchmark than the one that they were made on. Runs of older versions of
    nasbed record no content and are out of date, see :func:`changes`."""
    check_content(setup, benchmark_fingerprint(benchmark), folder)


def check_content(setup: Setup, fingerprint: str, folder: str | Path) -> None:
    """Raise where the runs of a folder were made on another content of the benchmark than the one with this
    fingerprint."""
    if setup.benchmark_sha256 not in ("", fingerprint):
        raise BadFile(
            f"{folder} holds runs on another content of {setup.benchmark} than it has now; put the old one back, or "
            "run into another folder"
        )


def changes(old: Provenance | None, new: Provenance) -> list[str]:
    """The differences between a stored run and one that would be made now, a clause each; empty if it is still
    valid."""
    if old is None:
        return [UNRECORDED]
    reasons = []
    if old.benchmark != new.benchmark:
        reasons.append("the benchmark has changed")
    if old.source != new.source:
        reasons.append(f"{_origin_name(new.origin or old.origin)} or a module that it imports has changed")
    if old.settings != new.settings:
        reasons.append("its settings have changed")
    if old.nasbed != new.nasbed:
        reasons.append(f"nasbed {old.nasbed} made them, this is {new.nasbed}")
    return reasons


def stale_methods(runs: Runs, benchmark: Benchmark) -> dict[str, str]:
    """Why runs of a method are out of date, a sentence by method; methods with valid runs only are omitted."""
    counts: dict[str, Counter[str]] = {}
    sources: dict[str, str] = {}
    for run in runs.runs:
        reasons = _stored_changes(run, runs.setup, benchmark, sources)
        if reasons:
            counts.setdefault(run.method, Counter())["; ".join(reasons)] += 1
    return {
        method: " ".join(
            f"{count} of {len(runs.of(method))} runs of {method} are out of date: {reason}."
            for reason, count in counter.items()
        )
        for method, counter in counts.items()
    }


def _stored_changes(run: Run, setup: Setup, benchmark: Benchmark, sources: dict[str, str]) -> list[str]:
    old = run.made_by
    if old is None:
        return [UNRECORDED]
    source = old.source
    if old.origin and old.origin not in sources:
        try:
            sources[old.origin] = source_fingerprint(old.origin)
        except (OSError, NasbedError):
            sources[old.origin] = ""
    if old.origin:
        source = sources[old.origin]
    unknown = [f"{_origin_name(old.origin)} is not here to compare with"] if old.origin and not source else []
    new = Provenance(
        nasbed=nasbed.__version__,
        benchmark=benchmark_fingerprint(benchmark),
        settings=values_sha256(dict(setup.settings.get(run.method, {}))),
        source=source or old.source,
        origin=old.origin,
    )
    return [*unknown, *changes(old, new)]


def _origin_name(origin: str) -> str:
    """A user's file by its name, a plug-in by its id."""
    file, colon, _ = origin.rpartition(":")
    return Path(file).name if colon else origin
