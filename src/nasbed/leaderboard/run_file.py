"""The runs of some methods over a suite as one file, ``.nbr``: what a leaderboard shows, and what is needed to make any
of the runs again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.suites import JUDGES
from nasbed.core.errors import BadFile, NasbedError, first_line, shorten
from nasbed.core.metric import Metric
from nasbed.experiments.named_methods import NAME
from nasbed.experiments.run_checks import FACTS, SETUP, TEXT, Kind, check_columns, check_fields, objective_of
from nasbed.experiments.runs import Condensed, Run, Runs, Setup
from nasbed.leaderboard.column_file import read_columns, write_columns
from nasbed.leaderboard.condensing import DIGEST_BYTES

FORMAT = "nasbed-runs 1"
SUFFIX = ".nbr"
_TEXTS = ("texts by name", lambda value: isinstance(value, dict) and all(isinstance(v, str) for v in value.values()))
_STATED = {"random_start": None, "error": "", "refusals": (), "remarks": ()}
"""The fields of a run that are texts or seldom differ, stored once for all runs that have the same."""
_COUNTS = {"evaluations": "<u4", "failed": "<u4", "below_top": "<u4", "free": "<u4", "repeated": "<f8"}
_ROWS = {"fidelity": "<i8", "value": "<f8", "status": "|u1", "end_s": "<f8"}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BenchmarkRecord:
    """A benchmark of the suite, as the runs were made on it. ``sha256`` is the fingerprint of its bytes."""

    name: str
    benchmark: str
    space: str
    objective: Metric
    budget: str
    workers: int
    continue_trainings: bool
    sha256: str


@dataclass(frozen=True, slots=True)
class MethodRecord:
    """A method, as it can be run again.

    ``method`` is a registered id, or ``file.py:ClassName`` of a file in ``files``, which has the texts of that file and
    of the user's modules that it imports, by path. ``source`` is the fingerprint of these, and ``code`` that of a
    method of nasbed's own.
    """

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    code: str = ""
    source: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFile:
    """The runs of methods on the benchmarks of a suite, condensed (:mod:`nasbed.leaderboard.condensing`).

    ``label`` says whose runs these are. ``not_run`` has the reason for each method that has no runs here. ``versions``
    are those of the libraries that the runs were made with.
    """

    suite: str
    title: str
    judged_by: str
    label: str
    command: str
    versions: Mapping[str, str]
    not_run: Mapping[str, str]
    benchmarks: Sequence[BenchmarkRecord]
    methods: Sequence[MethodRecord]
    runs: Mapping[str, Sequence[Run]]
    """By the name of the benchmark."""

    def method(self, name: str) -> MethodRecord:
        """The record of a method by its name."""
        return next(method for method in self.methods if method.name == name)

    def on(self, record: BenchmarkRecord) -> Runs:
        """The runs on one benchmark."""
        setup = Setup(
            benchmark=record.benchmark,
            space=record.space,
            objective=record.objective,
            budget=record.budget,
            workers=record.workers,
            settings={method.name: method.settings for method in self.methods if method.settings},
            continue_trainings=record.continue_trainings,
            command=self.command,
            versions=self.versions,
            benchmark_sha256=record.sha256,
            methods=tuple(method.name for method in self.methods),
            presets={method.name: method.preset for method in self.methods if method.preset},
        )
        return Runs(setup, self.runs[record.name])


def save_run_file(path: Path, file: RunFile) -> None:
    """Write a file of runs. The same runs give the same bytes."""
    content: dict[str, Any] = {
        name: getattr(file, name)
        for name in ("suite", "title", "judged_by", "label", "command", "versions", "not_run")
    }
    content["benchmarks"] = [asdict(item) | {"objective": item.objective.to_json()} for item in file.benchmarks]
    content["methods"] = [asdict(item) for item in file.methods]
    names = [method.name for method in file.methods]
    stated: list[dict[str, Any]] = []
    columns: dict[str, NDArray[Any]] = {}
    for i, record in enumerate(file.benchmarks):
        runs = sorted(file.runs[record.name], key=lambda run: (names.index(run.method), run.seed))
        columns |= {f"{i} {name}": column for name, column in _to_columns(runs, names, stated).items()}
    content["stated"] = stated
    write_columns(path, FORMAT, content, columns)


def load_run_file(path: str | Path) -> RunFile:
    """The inverse of :func:`save_run_file`. Raises :class:`BadFile` for a file that is damaged, changed, or holds what
    are no runs."""
    path = Path(path)
    content, columns = read_columns(path, FORMAT)
    try:
        return _parsed(content, columns)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, StopIteration) as error:
        reason = first_line(error) if isinstance(error, NasbedError | ValueError) else "a part of it is missing"
        raise BadFile(f"{path} is not a complete file of runs: {reason}; get it again") from None


def _to_columns(runs: Sequence[Run], names: Sequence[str], stated: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """The runs on one benchmark as columns. What several runs state alike is added to ``stated`` once."""
    width = runs[0].codes.shape[1] if runs else 0
    places = []
    for run in runs:
        facts = {name: getattr(run, name) for name in _STATED}
        facts |= {name: list(facts[name]) for name in ("refusals", "remarks")}
        if facts not in stated:
            stated.append(facts)
        places.append(stated.index(facts))
    condensed = [_condensed(run) for run in runs]
    codes = np.concatenate([*(run.codes for run in runs), np.empty((0, width), dtype=np.int64)])
    small = codes.min(initial=0) >= 0 and codes.max(initial=0) < 256
    return {
        "method": np.array([names.index(run.method) for run in runs], dtype="<u2"),
        "seed": np.array([run.seed for run in runs], dtype="<i8"),
        "stated": np.array(places, dtype="<u4"),
        "thinking_s": np.array([run.thinking_s for run in runs], dtype="<f8"),
        "rows": np.array([len(run) for run in runs], dtype="<u4"),
        "proposals": np.frombuffer(b"".join(item.proposals for item in condensed), dtype="|u1").reshape(-1, DIGEST_BYTES),
        **{name: np.array([getattr(item, name) for item in condensed], dtype=kind) for name, kind in _COUNTS.items()},
        "codes": codes.astype("|u1" if small else "<i8"),
        "steps": np.concatenate(
            [*(np.diff(item.numbers, prepend=0) for item in condensed), np.empty(0, dtype=np.int64)]
        ).astype("<u4"),
        **{
            name: np.concatenate([*(getattr(run, name) for run in runs), np.empty(0)]).astype(kind)
            for name, kind in _ROWS.items()
        },
    }


def _condensed(run: Run) -> Condensed:
    if run.condensed is None:
        raise TypeError("a file has condensed runs")
    return run.condensed


def _parsed(content: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> RunFile:
    kinds: dict[str, Kind] = dict.fromkeys(("suite", "title", "label", "command"), TEXT)
    kinds |= {"judged_by": ("test or validation", lambda value: value in JUDGES)}
    kinds |= dict.fromkeys(("versions", "not_run"), _TEXTS)
    kinds |= dict.fromkeys(("benchmarks", "methods", "stated"), ("a list", lambda value: isinstance(value, list)))
    check_fields(content, kinds, needed=tuple(kinds))
    benchmarks = [_benchmark_record(item) for item in content["benchmarks"]]
    methods = [_method_record(item) for item in content["methods"]]
    for names in ([item.name for item in benchmarks], [item.name for item in methods]):
        if not names or len(set(names)) < len(names):
            raise ValueError(f"it has 1 benchmark and method or more, each once, got {shorten(names)}")
    stated = []
    for item in content["stated"]:
        check_fields(item, {name: FACTS[name] for name in _STATED}, needed=tuple(_STATED))
        stated.append(item | {name: tuple(item[name]) for name in ("refusals", "remarks")})
    runs = {}
    for i, record in enumerate(benchmarks):
        start = f"{i} "
        part = {name.removeprefix(start): column for name, column in columns.items() if name.startswith(start)}
        runs[record.name] = _from_columns(part, [item.name for item in methods], stated, record)
    rest = {name: value for name, value in content.items() if name not in ("stated", "benchmarks", "methods")}
    return RunFile(**rest, benchmarks=benchmarks, methods=methods, runs=runs)


def _benchmark_record(item: Any) -> BenchmarkRecord:
    kinds = {item.name: SETUP.get(item.name, TEXT) for item in fields(BenchmarkRecord)}
    check_fields(item, kinds, needed=tuple(kinds))
    return BenchmarkRecord(**(item | {"objective": objective_of(item["objective"])}))


def _method_record(item: Any) -> MethodRecord:
    kinds: dict[str, Kind] = {item.name: TEXT for item in fields(MethodRecord)}
    kinds |= {"files": _TEXTS, "settings": ("settings by name", lambda value: isinstance(value, dict))}
    check_fields(item, kinds, needed=tuple(kinds))
    if not NAME.fullmatch(item["name"]):
        raise ValueError(f"a method's name is up to 60 letters, digits, spaces and _ . ( ) -, got {shorten(item['name'])}")
    return MethodRecord(**item)


def _from_columns(
    columns: Mapping[str, NDArray[Any]],
    names: Sequence[str],
    stated: Sequence[Mapping[str, Any]],
    record: BenchmarkRecord,
) -> list[Run]:
    """The inverse of :func:`_to_columns`, checked as stored runs are."""
    rows = columns["rows"].astype(np.int64)
    ends = np.cumsum(rows)
    lengths = {len(columns[name]) for name in ("codes", "steps", *_ROWS)}
    per_run = {len(columns[name]) for name in ("method", "seed", "stated", "thinking_s", "proposals", *_COUNTS)}
    if lengths != {int(ends[-1]) if len(ends) else 0} or per_run != {len(rows)}:
        raise ValueError("its columns have one length, got several")
    runs, keys = [], set()
    for i, end in enumerate(ends.tolist()):
        inside = slice(end - int(rows[i]), end)
        arrays = {name: columns[name][inside] for name in _ROWS} | {"codes": columns["codes"][inside].astype(np.int64)}
        arrays["status"] = arrays["status"].astype(np.int8)
        check_columns(arrays | {"start_s": arrays["end_s"]})
        for value in arrays["value"][~np.isnan(arrays["value"])].tolist():
            record.objective.check(value)
        counts = {name: columns[name][i].item() for name in _COUNTS}
        numbers = np.cumsum(columns["steps"][inside].astype(np.int64))
        if (np.diff(numbers, prepend=0) < 1).any() or numbers.max(initial=0) != counts["evaluations"]:
            raise ValueError("evaluations have rising numbers, and the last one is kept, got others")
        run = Run(
            method=names[int(columns["method"][i])],
            seed=int(columns["seed"][i]),
            start_s=np.full(int(rows[i]), np.nan),
            thinking_s=float(columns["thinking_s"][i]),
            condensed=Condensed(numbers=numbers, proposals=columns["proposals"][i].tobytes(), **counts),
            **arrays,
            **stated[int(columns["stated"][i])],
        )
        if run.seed < 0 or (run.method, run.seed) in keys:
            raise ValueError(f"it has each run once, got {run.method} with seed {run.seed} again")
        keys.add((run.method, run.seed))
        runs.append(run)
    return runs


def without_methods(file: RunFile, names: Sequence[str]) -> RunFile:
    """The file without the runs of some methods."""
    return replace(
        file,
        methods=[method for method in file.methods if method.name not in names],
        runs={key: [run for run in runs if run.method not in names] for key, runs in file.runs.items()},
    )


def with_name(file: RunFile, old: str, new: str) -> RunFile:
    """The file with another name for one method."""
    return replace(
        file,
        methods=[replace(method, name=new) if method.name == old else method for method in file.methods],
        runs={
            key: [replace(run, method=new) if run.method == old else run for run in runs]
            for key, runs in file.runs.items()
        },
    )
