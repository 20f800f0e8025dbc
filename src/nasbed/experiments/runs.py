"""The evaluations of one run in the order in which they ended, and sets of many runs."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nasbed.core.calls.arguments import check_location
from nasbed.core.errors import BadFile, InvalidOption, first_line, shorten
from nasbed.core.files import complete_file
from nasbed.core.metric import Metric
from nasbed.core.presentation.upward import call_facade, html_view
from nasbed.core.status import FAILED
from nasbed.experiments.provenance import Provenance
from nasbed.experiments.run_checks import (
    COLUMNS,
    FACTS,
    OTHER,
    SETUP,
    check_columns,
    check_fields,
    check_run,
    objective_of,
)

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_UNREADABLE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError),
    *(NotImplementedError, BadZipFile, struct.error, zlib.error),
)
"""The errors of numpy, zipfile and json on a damaged file."""
SAME_IN_A_FOLDER = ("benchmark", "budget", "workers", "charge_thinking", "continue_trainings")
"""The fields of a setup that all runs of a folder, and all runs that are compared, have in common."""
MOST_REASONS = 3
"""How many different reasons for refused evaluations are kept."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """What a run knows of its evaluations after most were dropped, see :mod:`nasbed.leaderboard.condensing`."""

    numbers: NDArray[np.int64]  # of the evaluations that are left, from 1
    evaluations: int
    failed: int
    below_top: int  # at a lower fidelity than the benchmark's highest
    free: int  # took no simulated time, and did not fail
    repeated: float  # the share that repeats an earlier architecture at the same fidelity
    proposals: bytes  # a digest of all proposals in their order


@dataclass(frozen=True, slots=True)
class Run:
    """One method with one seed on one benchmark. All arrays have one entry an evaluation, by the time at which it
    ended.

    ``value`` is the objective as measured, NaN for an evaluation that did not end well; ``start_s`` and ``end_s`` are
    simulated seconds; ``others`` are the other metrics that were measured. A proposal that is not a code of the space
    has -1 throughout. A run that broke has its evaluations up to then, and the reason in ``error``.
    """

    method: str
    seed: int
    codes: NDArray[np.int64]  # [n, code_length]; -1 where a proposal is not in the space
    fidelity: NDArray[np.int64]
    value: NDArray[np.float64]
    status: NDArray[np.int8]
    start_s: NDArray[np.float64]
    end_s: NDArray[np.float64]
    others: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    error: str = ""
    thinking_s: float = 0.0
    """Real seconds that the method spent in ask and tell."""
    scoring_s: float = 0.0
    """Simulated seconds that the scoring by a proxy took; evaluations wait for it."""
    refusals: tuple[str, ...] = ()
    """The first different reasons for which the benchmark refused evaluations; each of these counts as failed."""
    random_start: int | None = None
    """The number of evaluations before proposals depend on results, if the method declares it."""
    remarks: tuple[str, ...] = ()
    """The method's own remarks on this run, a sentence each."""
    traceback: str = ""
    """The traceback of the error; a text file next to the run stores it, see :func:`traceback_file`."""
    made_by: Provenance | None = None
    """The provenance of the run; None if it was not recorded."""
    condensed: Condensed | None = None
    """The numbers and counts of evaluations, where the arrays do not have all of them."""

    def __len__(self) -> int:
        return len(self.value)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of each evaluation that the arrays have, from 1."""
        return np.arange(1, len(self) + 1) if self.condensed is None else self.condensed.numbers

    @property
    def evaluations(self) -> int:
        """How many evaluations the run made."""
        return len(self) if self.condensed is None else self.condensed.evaluations

    @property
    def failed(self) -> int:
        """How many evaluations failed."""
        return int((self.status == FAILED).sum()) if self.condensed is None else self.condensed.failed

    @property
    def free(self) -> int:
        """How many evaluations took no simulated time although they did not fail."""
        if self.condensed is not None:
            return self.condensed.free
        return int(((self.end_s == self.start_s) & (self.status != FAILED)).sum())

    def below(self, top_fidelity: int) -> int:
        """How many evaluations were at a lower fidelity than the benchmark's highest."""
        return int((self.fidelity < top_fidelity).sum()) if self.condensed is None else self.condensed.below_top


@dataclass(frozen=True, slots=True)
class Setup:
    """The setup of a set of runs, sufficient to repeat it. ``benchmark`` is its id, or the path of its table."""

    benchmark: str
    space: str
    objective: Metric
    budget: str
    workers: int
    settings: Mapping[str, Mapping[str, Any]]
    """By the name under which a method's runs are kept."""
    charge_thinking: bool = False
    continue_trainings: bool = False
    """Whether a higher fidelity continued an earlier training; in runs of older versions of nasbed none did."""
    command: str = ""
    """The commands that made the runs, one per line."""
    versions: Mapping[str, str] = field(default_factory=dict)
    benchmark_sha256: str = ""
    """The checksum of the benchmark's content; empty if an older nasbed did not record it."""
    methods: tuple[str, ...] = ()
    """The names of the methods in the order in which they were compared; empty where an older nasbed did not record
    it."""
    presets: Mapping[str, str] = field(default_factory=dict)
    """The preset that a method's settings are from, with what differs, by the name of its runs."""


@dataclass(frozen=True, slots=True, repr=False)
class Runs:
    """A set of runs on one benchmark, the result of :func:`nasbed.compare`. A notebook shows the standings."""

    setup: Setup
    runs: Sequence[Run]

    @property
    def methods(self) -> list[str]:
        """The methods that have runs, in the order of the setup; those that it does not name come last, in the order of
        the runs."""
        present = dict.fromkeys(run.method for run in self.runs)
        return list(dict.fromkeys([*(name for name in self.setup.methods if name in present), *present]))

    def of(self, method: str) -> list[Run]:
        """The runs of one method, by seed."""
        return sorted((run for run in self.runs if run.method == method), key=lambda run: run.seed)

    @property
    def broken_methods(self) -> list[str]:
        """The methods of which every run broke."""
        return [method for method in self.methods if all(run.error for run in self.of(method))]

    @property
    def found_nothing(self) -> bool:
        """Whether every run broke, or has no evaluation that gave a value."""
        return all(run.error or np.isnan(run.value).all() for run in self.runs)

    def to_pandas(self) -> pd.DataFrame:
        """One row an evaluation, in the order in which they ended: ``method``, ``seed``, ``evaluation`` (from 1),
        ``architecture`` as text, ``fidelity``, ``status``, the objective and the other metrics by key, ``start_s`` and
        ``end_s`` on the simulated clock. ``incumbent`` is the objective's value of the incumbent after the evaluation,
        ``incumbent_evaluation`` which one that is. Needs pandas (``pip install 'nasbed[pandas]'``)."""
        return call_facade("run_views:runs_frame", self)

    def plot(
        self, over: Literal["time", "evaluations"] = "evaluations", *, centre: Literal["median", "mean"] = "median"
    ) -> alt.LayerChart:
        """The regret of each method's incumbent: the median over seeds and the quartiles, or the mean and its 95 %
        interval, as an altair chart that a notebook shows without a network. ``over`` is what the horizontal axis
        counts."""
        chart: alt.LayerChart = call_facade("run_views:regret_chart", self, over, centre)
        return chart

    def write_report(self, folder: str | Path, *, centre: Literal["median", "mean"] = "median") -> Path:
        """Write the page of ``nasbed report`` with its figures and numbers into a folder; the path of the page.
        ``centre`` is what its curves show of all seeds."""
        return Path(call_facade("run_views:write_runs_report", self, Path(folder), centre))

    def __repr__(self) -> str:
        methods = ", ".join(self.methods)
        return f"<{len(self.runs)} runs on {self.setup.benchmark}: {methods}; {self.setup.budget} each>"

    def _repr_html_(self) -> str | None:
        return html_view("run_views:runs_html", self)

    @property
    def finished(self) -> Runs:
        """Those that did not break."""
        return replace(self, runs=[run for run in self.runs if not run.error])


def save_run(folder: str | Path, run: Run) -> None:
    """Write one run to its own file, which is complete or absent."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: getattr(run, name) for name in COLUMNS}
    arrays |= {f"{OTHER}{key}": column for key, column in run.others.items()}
    facts = {name: getattr(run, name) for name in FACTS}
    facts["made_by"] = None if run.made_by is None else asdict(run.made_by)
    traceback_path = traceback_file(folder, run.method, run.seed)
    if run.traceback:
        traceback_path.write_text(run.traceback, encoding="utf-8")
    else:
        traceback_path.unlink(missing_ok=True)
    with complete_file(folder / f"{run.method}-{run.seed}.npz") as draft, draft.open("wb") as file:
        np.savez_compressed(file, facts=np.array(json.dumps(facts)), **arrays)


def traceback_file(folder: Path, method: str, seed: int) -> Path:
    """Where the traceback of a run that broke is kept, if it broke by an exception."""
    return folder / f"{method}-{seed}.traceback.txt"


def load_run(path: str | Path) -> Run:
    """The inverse of :func:`save_run`; other files are refused."""
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:  # numpy leaves some damaged files open
            arrays = {name: data[name] for name in data if name != "facts"}
            facts = json.loads(str(data["facts"]))
        check_fields(facts, FACTS, needed=("method", "seed"))
        check_columns(arrays)
        if path.name != f"{facts['method']}-{facts['seed']}.npz":
            raise ValueError(f"it is of {shorten(facts['method'])} with seed {facts['seed']}, its name says another")
        recorded = facts.get("made_by")
        facts["made_by"] = None if recorded is None else Provenance(**recorded)
        facts |= {name: tuple(facts.get(name, ())) for name in ("refusals", "remarks")}
        extra_metrics = {name.removeprefix(OTHER): arrays[name] for name in arrays if name.startswith(OTHER)}
        return Run(**facts, **{name: arrays[name] for name in COLUMNS}, others=extra_metrics)
    except _UNREADABLE as error:
        raise BadFile(f"{path} is not a complete run: {first_line(error)}; delete it") from None


def save_setup(folder: str | Path, setup: Setup) -> None:
    folder = Path(folder)
    data = asdict(setup) | {"objective": setup.objective.to_json()}
    folder.mkdir(parents=True, exist_ok=True)
    with complete_file(folder / "setup.json") as draft:
        draft.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def load_setup(folder: str | Path) -> Setup:
    """The setup of the runs in a folder."""
    folder = Path(folder)
    path = folder / "setup.json"
    if not path.is_file():
        raise BadFile(f"{folder} holds no runs: it has no setup.json; make some with: nasbed run --out {folder}")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        check_fields(data, SETUP, needed=("benchmark", "space", "objective", "budget", "workers", "settings"))
        read = {"objective": objective_of(data["objective"]), "methods": tuple(data.get("methods", ()))}
        return Setup(**(data | read))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BadFile(
            f"{path} is not a setup of runs: {first_line(error)}; delete {folder}, or put the file back"
        ) from None


def load_runs(folder: str | Path) -> Runs:
    """All runs that a folder holds, as ``nasbed run`` and ``compare(…, out=folder)`` store them."""
    check_location("stored runs are a folder", folder)
    folder = Path(folder)
    setup, runs = load_setup(folder), []
    for path in run_files(folder):
        runs.append(load_run(path))
        try:
            check_run(runs[-1], setup)
        except ValueError as error:
            raise BadFile(f"{path} is not a run of {folder / 'setup.json'}: {error}; delete it") from None
    return Runs(setup, runs)


def join_runs(sets: Sequence[Runs]) -> Runs:
    """Several sets as one: of one benchmark, budget and number of workers, and no run twice."""
    first = sets[0].setup
    for runs_set in sets[1:]:
        for name in ("benchmark_sha256", "objective", *SAME_IN_A_FOLDER):
            if getattr(runs_set.setup, name) != getattr(first, name):
                raise InvalidOption(
                    f"compared runs have one {name}, got {getattr(first, name)} and {getattr(runs_set.setup, name)}"
                )
    runs = [run for part in sets for run in part.runs]
    keys = [(run.method, run.seed) for run in runs]
    if len(set(keys)) < len(keys):
        repeated = next(name for name in keys if keys.count(name) > 1)
        raise InvalidOption(f"the run of {repeated[0]} with seed {repeated[1]} occurs twice; omit one folder")
    settings: dict[str, Mapping[str, Any]] = {}
    for part in sets:
        for method in part.methods:
            values = part.setup.settings.get(method, {})
            if settings.setdefault(method, values) != values:
                raise InvalidOption(
                    f"compared runs of {method} have one set of settings, got {dict(settings[method])} and "
                    f"{dict(values)}"
                )
    settings = {method: values for method, values in settings.items() if values}
    commands = dict.fromkeys(line for part in sets for line in part.setup.command.splitlines())
    methods = tuple(dict.fromkeys(method for part in sets for method in part.methods))
    presets = {name: label for part in sets for name, label in part.setup.presets.items() if name in part.methods}
    joined = replace(first, settings=settings, command="\n".join(commands), methods=methods, presets=presets)
    return Runs(joined, runs)


def run_files(folder: Path) -> Iterable[Path]:
    """The files of the runs in a folder, by name."""
    return sorted((folder / "runs").glob("*.npz"))
