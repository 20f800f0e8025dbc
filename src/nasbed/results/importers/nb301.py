"""NAS-Bench-301 and Surr-NAS-Bench-DARTS: a folder for each search method, a JSON file for each trained network.

``<method>/results_<number>.json`` (some are called ``results_<number>_ti.json``) holds the configuration under
``optimized_hyperparamater_config`` (sic), accuracies in per cent (``info[0].val_accuracy``, ``test_accuracy``),
``runtime`` in seconds, the ``budget`` in epochs and ``info[0].model_parameters``. There are no seeds in the files.

``model_parameters`` counts the network with its auxiliary head: ``space.parameters`` gives the same number for the
``init_channels`` and ``layers`` that the configuration names. On the file that the public repository ships, of 50
channels and 20 cells, both say 6 369 358. What a folder says is compared, and the outcome stands in the table's notes.

The published layout of the FBNet half of Surr-NAS-Bench could not be established: such files are refused.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption, NasbedError, shorten
from nasbed.core.metric import Metric
from nasbed.core.status import DIVERGED, FAILED, OK
from nasbed.results.importers.base import Draft, Importer
from nasbed.results.importers.strict_json import number, parse, read_bytes
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import UNKNOWN, Rows
from nasbed.spaces import space
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.spaces.darts.space import CONFIG_PREFIX, Darts

BATCH = 4096
COMPARED = 64
LARGEST_FILE = 64 << 20
MOST_EPOCHS = 1_000_000
METRICS = (
    Metric("accuracy", split="validation", unit="%", bounds=(0, 100)),
    Metric("accuracy", split="test", unit="%", bounds=(0, 100)),
    Metric("parameters", direction="minimize", bounds=(0, math.inf)),
)
_ARCHITECTURE = (f"{CONFIG_PREFIX}edge_", f"{CONFIG_PREFIX}inputs_node_")


@dataclass(frozen=True, slots=True)
class NetworkSize:
    """What surrounds the cells, where the configuration says it."""

    channels: int | None
    cells: int | None

    def agrees(self, other: NetworkSize) -> bool:
        pairs = ((self.channels, other.channels), (self.cells, other.cells))
        return all(a is None or b is None or a == b for a, b in pairs)


@dataclass(frozen=True, slots=True)
class NB301Run:
    """One result file. A value that it does not give is NaN, a budget :data:`UNKNOWN`."""

    architecture: Architecture
    network: NetworkSize
    values: tuple[float, float, float]
    train_time_s: float
    epochs: int
    status: int


class NB301Importer(Importer):
    """One table; a run without both accuracies is failed, or diverged if one of them is NaN."""

    format = "nb301"
    summary = "NAS-Bench-301: <method>/results_N.json, from github.com/automl/nasbench301"
    options: ClassVar[Mapping[str, str]] = {"name": "The name of the table. [default: snb-darts/cifar10]"}

    def read(self, path: Path) -> Iterator[Draft]:
        files = result_files(path)
        first = [(file, read_run(file, path)) for file in files[:COMPARED]]
        info = TableInfo(
            name=self.settings.get("name", "snb-darts/cifar10"),
            space="darts",
            metrics=METRICS,
            dataset="cifar10",
            recipe=_recipe(first[0][1].network),
            citation="Zela, Siems, Zimmer et al., Surrogate NAS Benchmarks, ICLR 2022, arXiv:2008.09777",
            source="https://github.com/automl/nasbench301",
            notes=_parameter_note([run for _, run in first]),
        )
        yield Draft(info, _batches(path, files, first[0][1].network), total=len(files))


def result_files(root: Path) -> list[Path]:
    """Every result file under a folder, those of a method by their number, which is the order of its evaluations. A
    symbolic link in it is refused: it may lead anywhere."""
    if not root.is_dir():
        raise BadFile(f"{root} is not a folder; nb301 reads a folder with <method>/results_N.json, unpacked")
    files = []
    for folder, folders, names in os.walk(root, onerror=_raise):
        folders.sort()
        for name in sorted([*folders, *names]):
            if (Path(folder) / name).is_symlink():
                raise BadFile(f"{Path(folder) / name} is a symbolic link; copy what it points to into the folder")
        results = [name for name in names if name.startswith("results_") and name.endswith(".json")]
        results.sort(key=_evaluation_number)
        if results and not Path(folder).resolve().name.isprintable():
            raise BadFile(f"a method's name is printable text, got the folder {shorten(folder)}; rename it")
        files += [Path(folder) / name for name in results]
    if not files:
        raise BadFile(f"{root} holds no <method>/results_N.json; unpack the published archive and name its folder")
    return files


def _evaluation_number(name: str) -> tuple[int, str]:
    """The N of ``results_N.json``, also with a suffix such as ``results_7_ti.json``, and the name; names without a
    number come last."""
    digits = name.removeprefix("results_").removesuffix(".json").split("_")[0]
    is_number = digits.isascii() and digits.isdecimal() and len(digits) < 19
    return (int(digits) if is_number else sys.maxsize, name)


def _raise(error: OSError) -> None:
    raise BadFile(f"{error.filename} cannot be listed, {error.strerror}") from None


def read_run(file: Path, root: Path) -> NB301Run:
    source = file.relative_to(root).as_posix()
    return run_from(read_bytes(file, source, LARGEST_FILE), source)


def run_from(data: bytes, source: str) -> NB301Run:
    """What one result file says."""
    result = parse(data, source)
    config = result.get("optimized_hyperparamater_config") if isinstance(result, dict) else None
    if not isinstance(config, dict):
        raise BadFile(f"{source}: a result has optimized_hyperparamater_config, got {shorten(result)}")
    kind = config.get("NetworkSelectorDatasetInfo:network", "darts")
    if kind != "darts":
        raise BadFile(f"{source}: nb301 reads networks of the kind darts, got {shorten(kind)}")
    try:
        architecture = space("darts").from_config(
            {name: value for name, value in config.items() if name.startswith(_ARCHITECTURE)}
        )
    except NasbedError as error:
        raise BadFile(f"{source}: {error}") from None
    info = result.get("info")
    first = info[0] if isinstance(info, list) and info else {}
    if not isinstance(first, dict) or not isinstance(info, list | None):
        raise BadFile(f"{source}: info is a list of objects, got {shorten(info)}")
    published = (first.get("val_accuracy"), result.get("test_accuracy"), first.get("model_parameters"))
    values = tuple(
        _validate_value(metric, number(value, metric.key, source), source)
        for metric, value in zip(METRICS, published, strict=True)
    )
    train_time_s = number(result.get("runtime"), "runtime", source)
    if train_time_s < 0 or math.isinf(train_time_s):
        raise BadFile(f"{source}: runtime is a finite number of seconds, not negative, got {train_time_s}")
    status = FAILED if None in published[:2] else DIVERGED if any(map(math.isnan, values[:2])) else OK
    network = NetworkSize(
        _integer(config.get(f"{CONFIG_PREFIX}init_channels"), "init_channels", source),
        _integer(config.get(f"{CONFIG_PREFIX}layers"), "layers", source),
    )
    epochs = _integer(result.get("budget"), "budget", source)
    return NB301Run(
        architecture,
        network,
        (values[0], values[1], values[2]),
        train_time_s,
        UNKNOWN if epochs is None else epochs,
        status,
    )


def _validate_value(metric: Metric, value: float, source: str) -> float:
    if not math.isnan(value):
        try:
            metric.check(value)
        except NasbedError as error:
            raise BadFile(f"{source}: {error}") from None
        if math.isinf(value):
            raise BadFile(f"{source}: {metric.key} is a finite number, got {value}")
    return value


def _integer(value: Any, label: str, source: str) -> int | None:
    """A small whole number; budgets are also written as 100.0."""
    parsed = number(value, label, source)
    if value is None:
        return None
    if not 1 <= parsed <= MOST_EPOCHS or parsed != int(parsed):
        raise BadFile(f"{source}: {label} is a whole number from 1 to {MOST_EPOCHS}, got {shorten(value)}")
    return int(parsed)


def _batches(root: Path, files: list[Path], network: NetworkSize) -> Iterator[Rows]:
    remaining = iter(files)
    while chunk := list(islice(remaining, BATCH)):
        runs = [read_run(file, root) for file in chunk]
        for file, run in zip(chunk, runs, strict=True):
            if not run.network.agrees(network):
                raise BadFile(
                    f"{file.relative_to(root).as_posix()}: the runs of a table share one network, {network}, got "
                    f"{run.network}; import folders of different networks under different names"
                )
        yield Rows.of(
            np.array([run.architecture.code for run in runs], dtype=np.int64),
            {metric.key: np.array([run.values[i] for run in runs]) for i, metric in enumerate(METRICS)},
            fidelity=np.array([run.epochs for run in runs], dtype=np.int64),
            train_time_s=np.array([run.train_time_s for run in runs]),
            method=np.array([file.parent.resolve().name for file in chunk], dtype=np.str_),
            status=np.array([run.status for run in runs], dtype=np.int8),
        )


def _recipe(network: NetworkSize) -> str:
    return (
        f"Surr-NAS-Bench-DARTS: {network.channels or 32} channels, {network.cells or 8} cells, auxiliary head, SGD "
        "with cosine annealing, cutout, mixup"
    )


def _parameter_note(runs: list[NB301Run]) -> str:
    """How the published parameter counts of the first runs compare with those computed from their architectures."""
    darts = space("darts")
    assert isinstance(darts, Darts)
    sized = [run for run in runs if not math.isnan(run.values[2])]
    equal = 0
    for run in sized:
        try:
            skeleton = DartsSkeleton(run.network.channels or 32, run.network.cells or 8, auxiliary=True)
        except InvalidOption:
            continue
        equal += int(darts.parameters([run.architecture], skeleton)[0]) == run.values[2]
    if not sized:
        return "No parameter counts are given."
    return (
        f"parameters are published ones and count the auxiliary head: {equal} of the first {len(sized)} equal those "
        "computed from the architecture."
    )
