"""The runs of some methods over a suite as one file, ``.nbr``: what a leaderboard shows, and what is needed to make any
of the runs again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from nasbed.benchmarks.live import PREFIX
from nasbed.benchmarks.suites import JUDGES
from nasbed.core.errors import BadFile, NasbedError, first_line, shorten
from nasbed.core.metric import Metric
from nasbed.experiments.named_methods import NAME
from nasbed.experiments.run_checks import FACTS, SETUP, TEXT, Kind, check_fields, objective_of
from nasbed.experiments.runs import Run, Runs, Setup
from nasbed.leaderboard.column_file import read_columns, write_columns
from nasbed.leaderboard.run_columns import STATED, from_columns, to_columns
from nasbed.leaderboard.text_kinds import LABEL, LINE, LINES, SOURCES

FORMAT = "nasbed-runs 1"
SUFFIX = ".nbr"
_TEXT_FIELDS = ("suite", "title", "label", "command")
_MAPPING_FIELDS = ("versions", "not_run", "left_out")
SHARED_WITH_SETUPS = ("benchmark", "space", "objective", "budget", "workers", "continue_trainings")
"""The fields of a setup that the record of a benchmark has too."""


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

    ``label`` says whose runs these are. ``not_run`` has the reason for each method that has no runs here, ``left_out``
    that for each benchmark of the suite. ``versions`` are those of the libraries that the runs were made with.
    """

    suite: str
    title: str
    judged_by: str
    benchmarks: Sequence[BenchmarkRecord]
    methods: Sequence[MethodRecord]
    runs: Mapping[str, Sequence[Run]]
    """By the name of the benchmark."""
    label: str
    command: str
    versions: Mapping[str, str]
    not_run: Mapping[str, str]
    left_out: Mapping[str, str]

    def method(self, name: str) -> MethodRecord:
        """The record of a method by its name."""
        return next(method for method in self.methods if method.name == name)

    def on(self, record: BenchmarkRecord) -> Runs:
        """The runs on one benchmark."""
        setup = Setup(
            **{name: getattr(record, name) for name in SHARED_WITH_SETUPS},
            settings={method.name: method.settings for method in self.methods if method.settings},
            command=self.command,
            versions=self.versions,
            benchmark_sha256=record.sha256,
            methods=tuple(method.name for method in self.methods),
            presets={method.name: method.preset for method in self.methods if method.preset},
        )
        return Runs(setup, self.runs[record.name])


def save_run_file(path: Path, file: RunFile) -> None:
    """Write a file of runs. The same runs give the same bytes."""
    content: dict[str, Any] = {name: getattr(file, name) for name in (*_TEXT_FIELDS, *_MAPPING_FIELDS, "judged_by")}
    content["benchmarks"] = [asdict(item) | {"objective": item.objective.to_json()} for item in file.benchmarks]
    content["methods"] = [asdict(item) for item in file.methods]
    names = [method.name for method in file.methods]
    stated: list[dict[str, Any]] = []
    columns: dict[str, NDArray[Any]] = {}
    for i, record in enumerate(file.benchmarks):
        runs = sorted(file.runs[record.name], key=lambda run: (names.index(run.method), run.seed))
        columns |= {f"{i} {name}": column for name, column in to_columns(runs, names, stated).items()}
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


def _parsed(content: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> RunFile:
    kinds: dict[str, Kind] = dict.fromkeys(_TEXT_FIELDS, LINE)
    kinds |= {"label": LABEL, "command": TEXT}
    kinds |= {"judged_by": ("test or validation", lambda value: value in JUDGES)}
    kinds |= dict.fromkeys(_MAPPING_FIELDS, LINES)
    kinds |= dict.fromkeys(("benchmarks", "methods", "stated"), ("a list", lambda value: isinstance(value, list)))
    check_fields(content, kinds, needed=tuple(kinds))
    benchmarks = [_benchmark_record(item) for item in content["benchmarks"]]
    methods = [_method_record(item) for item in content["methods"]]
    for names in ([item.name for item in benchmarks], [item.name for item in methods]):
        if not names or len(set(names)) < len(names):
            raise ValueError(f"it has 1 benchmark and method or more, each once, got {shorten(names)}")
    stated = []
    for item in content["stated"]:
        check_fields(item, {name: FACTS[name] for name in STATED}, needed=tuple(STATED))
        stated.append(item | {name: tuple(item[name]) for name in ("refusals", "remarks")})
    runs = {}
    for i, record in enumerate(benchmarks):
        start = f"{i} "
        part = {name.removeprefix(start): column for name, column in columns.items() if name.startswith(start)}
        runs[record.name] = from_columns(part, [item.name for item in methods], stated, record.objective)
    check_seeds(runs, [item.name for item in methods])
    rest = {name: value for name, value in content.items() if name not in ("stated", "benchmarks", "methods")}
    return RunFile(**rest, benchmarks=benchmarks, methods=methods, runs=runs)


def _benchmark_record(item: Any) -> BenchmarkRecord:
    kinds = {item.name: SETUP.get(item.name, TEXT) for item in fields(BenchmarkRecord)}
    kinds = {name: LINE if kind is TEXT else kind for name, kind in kinds.items()}
    check_fields(item, kinds, needed=tuple(kinds))
    if item["benchmark"].startswith(PREFIX):
        raise ValueError(f"its benchmarks train no networks, got {shorten(item['benchmark'])}")
    return BenchmarkRecord(**(item | {"objective": objective_of(item["objective"])}))


def _method_record(item: Any) -> MethodRecord:
    kinds: dict[str, Kind] = {item.name: LINE for item in fields(MethodRecord)}
    kinds |= {"files": SOURCES, "settings": ("settings by name", lambda value: isinstance(value, dict))}
    check_fields(item, kinds, needed=tuple(kinds))
    if not NAME.fullmatch(item["name"]):
        raise ValueError(
            f"a method's name is up to 60 letters, digits, spaces and _ . ( ) -, got {shorten(item['name'])}"
        )
    if not item["source"] and item["name"] != item["method"]:
        raise ValueError(f"a method of nasbed has its own name, {shorten(item['method'])} is called {item['name']}")
    return MethodRecord(**item)


def check_seeds(runs: Mapping[str, Sequence[Run]], methods: Sequence[str]) -> None:
    """Raise a ValueError unless every method has the runs of seeds 0 to n-1, the same n on all benchmarks: nobody can
    keep the lucky seeds."""
    for method in methods:
        seeds = {name: sorted(run.seed for run in part if run.method == method) for name, part in runs.items()}
        most = max(map(len, seeds.values()))
        for name, own in seeds.items():
            if not own or own != list(range(most)):
                raise ValueError(
                    f"a method has the runs of the first seeds, as many on each benchmark, {method} has others on "
                    f"{name}"
                )


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
