"""NATS-Bench: the folders of its fast mode, ``NATS-tss-v1_0-3ffb9-simple`` and ``NATS-sss-v1_0-50262-simple``.

``meta.pickle.pbz2`` lists the architectures; ``NNNNNN.pickle.pbz2`` has the results of number N. For each training
budget (``12`` and ``200`` epochs for topologies, ``01``, ``12`` and ``90`` for sizes) it has a dictionary whose
``all_results`` maps (dataset, seed) to one training run.

CIFAR-10 was trained on twice. ``cifar10-valid`` runs saw half of the training set, and are validated on the other half
(``x-valid``); ``cifar10`` runs saw all of it, and are tested (``ori-test``). A row of the table cifar10 joins the two
runs of one seed: validation and training figures, times and latency are of the first, test figures of the second. On
CIFAR-100 and ImageNet16-120 one run has both, ``x-valid`` and ``x-test``; its ``ori-test``, which is the two together,
is not read. A figure that a run lacks is missing in its row.
"""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidArchitecture, ParseError, shorten
from nasbed.core.execution.interpreters import map_in_interpreters
from nasbed.core.metric import Metric
from nasbed.core.restricted_pickle import figure, loads
from nasbed.results.importers.base import Draft, Importer
from nasbed.results.importers.bounded_files import read_bz2
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.spaces import SearchSpace, space
from nasbed.spaces.nats_sss import NatsSSS

EXTENSION = ".pickle.pbz2"
META = f"meta{EXTENSION}"
LARGEST_FILE = 64 << 20
FILES_AT_ONCE = 64
"""How many files a process reads before it hands over their rows."""
MILLION = 1_000_000
MOST_EPOCHS = 100_000


@dataclass(frozen=True, slots=True)
class RunLayout:
    """How one of the published datasets is read: the table it belongs to, and which evaluation is which split."""

    table: str
    splits: Mapping[str, str]
    main: bool
    """Whether training figures, time and latency come from here."""


RUNS = {
    "cifar10-valid": RunLayout("cifar10", {"validation": "x-valid"}, main=True),
    "cifar10": RunLayout("cifar10", {"test": "ori-test"}, main=False),
    "cifar100": RunLayout("cifar100", {"validation": "x-valid", "test": "x-test"}, main=True),
    "ImageNet16-120": RunLayout("imagenet16-120", {"validation": "x-valid", "test": "x-test"}, main=True),
}
TABLES = ("cifar10", "cifar100", "imagenet16-120")
METRICS = (
    Metric("accuracy", split="validation", unit="%", bounds=(0, 100)),
    Metric("accuracy", split="test", unit="%", bounds=(0, 100)),
    Metric("accuracy", split="train", unit="%", bounds=(0, 100)),
    Metric("loss", split="validation", direction="minimize"),
    Metric("loss", split="test", direction="minimize"),
    Metric("loss", split="train", direction="minimize"),
    Metric("latency", direction="minimize", unit="s", bounds=(0, math.inf)),
    Metric("parameters", direction="minimize", bounds=(0, math.inf)),
    Metric("flops", direction="minimize", bounds=(0, math.inf)),
)
COLUMNS = ("number", "epochs", "seed", "train_time_s", *(metric.key for metric in METRICS))


class NatsBenchImporter(Importer):
    """The importer of both NATS-Bench folders."""

    format = "nats-bench"
    summary = "NATS-Bench's folder for fast mode: NATS-tss-v1_0-3ffb9-simple or NATS-sss-v1_0-50262-simple"

    def read(self, path: Path) -> Iterator[Draft]:
        searched, codes, texts = _architectures(path)
        cells = {table: array("d") for table in TABLES}
        parts = [
            _Part(path, number, texts[number : number + FILES_AT_ONCE])
            for number in range(0, len(texts), FILES_AT_ONCE)
        ]
        for rows in map_in_interpreters(_read_part, parts, os.cpu_count() or 1):
            for table, figures in rows.items():
                cells[table].extend(figures)
        kind = "sss" if searched.name == NatsSSS.name else "tss"
        for table in TABLES:
            if cells[table]:
                columns = np.frombuffer(cells[table], dtype=np.float64).reshape(-1, len(COLUMNS)).T
                rows_of_table = _rows(dict(zip(COLUMNS, columns, strict=True)), codes)
                yield Draft(_table_info(table, kind, searched), iter([rows_of_table]), total=len(rows_of_table))


class _Part(NamedTuple):
    """Some files of a folder that one process reads: those of the architectures from number ``first`` on."""

    folder: Path
    first: int
    texts: list[str]


def _read_part(part: _Part) -> dict[str, array[float]]:
    """The rows of some architectures, by table, one after the other in the order of :data:`COLUMNS`."""
    cells = {table: array("d") for table in TABLES}
    for number, text in enumerate(part.texts, start=part.first):
        rows = _read_architecture(part.folder / f"{number:06d}{EXTENSION}", number, text)
        for (table, epochs, seed), row in rows.items():
            cells[table].extend([number, epochs, seed, *(row.get(column, math.nan) for column in COLUMNS[3:])])
    return cells


def read_texts(path: Path) -> list[str]:
    """The architectures that a folder lists, by number."""
    meta_path = path / META
    if not meta_path.is_file():
        raise BadFile(f"{path} does not hold {meta_path.name}; give the folder of the fast mode")
    return check_texts(loads(read_bz2(meta_path, LARGEST_FILE), str(meta_path)), str(meta_path))


def check_texts(meta: object, name: str) -> list[str]:
    """The list of architectures in a published dictionary."""
    texts = meta.get("meta_archs") if isinstance(meta, dict) else None
    if type(texts) is not list or not texts or not all(type(text) is str for text in texts):
        raise BadFile(f"{name} has no list of architectures under meta_archs; get the folder again")
    return texts


def space_of(texts: list[str]) -> SearchSpace:
    """The search space of a list of architectures."""
    return space("nb201" if texts[0].startswith("|") else NatsSSS.name)


def read_states(path: Path, number: int, text: str) -> dict[Any, Any]:
    """What a file has on one architecture: by training budget, a dictionary with ``all_results``."""
    return check_states(loads(read_bz2(path, LARGEST_FILE), str(path)), str(path), number, text)


def check_states(budgets: object, name: str, number: int, text: str) -> dict[Any, Any]:
    """The same of a value: raises unless it is about this architecture.

    Args:
        budgets: The value.
        name: Where it comes from.
        number: The number of the architecture.
        text: Its published text.
    """
    if not isinstance(budgets, dict):
        raise BadFile(f"{name} maps training budgets to results, got {shorten(budgets)}")
    for budget, results in budgets.items():
        if not isinstance(results, dict) or not isinstance(results.get("all_results"), dict):
            raise BadFile(f"{name} lacks all_results for the budget {shorten(budget)}")
        identity = results.get("arch_index"), results.get("arch_str")
        if tuple(map(type, identity)) != (int, str) or identity != (number, text):
            raise BadFile(
                f"{name} is of {shorten(identity)}, the list says {shorten((number, text))}; get the folder again"
            )
    return budgets


def _architectures(path: Path) -> tuple[SearchSpace, NDArray[np.int64], list[str]]:
    """The space, codes and published texts of the architectures, by number."""
    texts, meta_path = read_texts(path), path / META
    searched = space_of(texts)
    try:
        codes = searched.codes([searched.parse(text) for text in texts])
    except (ParseError, InvalidArchitecture) as error:
        raise BadFile(f"{meta_path} lists an unknown architecture: {error}") from None
    if len(set(texts)) < len(texts):
        raise BadFile(f"{meta_path} lists an architecture twice; get the folder again")
    present = {entry.name for entry in path.glob(f"[0-9]*{EXTENSION}")}
    expected = {f"{number:06d}{EXTENSION}" for number in range(len(texts))}
    if present != expected:
        odd = min(present ^ expected)
        raise BadFile(
            f"{path} has a file for each of its {len(texts)} architectures, {odd} is "
            f"{'unexpected' if odd in present else 'missing'}; get the folder again"
        )
    return searched, codes, texts


def _read_architecture(path: Path, number: int, text: str) -> dict[tuple[str, int, int], dict[str, float]]:
    """The rows of one architecture: by table, epochs and seed, the figures that there are."""
    rows: dict[tuple[str, int, int], dict[str, float]] = {}
    for budget, results in read_states(path, number, text).items():
        for key, run in results["all_results"].items():
            if type(key) is not tuple or len(key) != 2 or key[0] not in RUNS or not figure(key[1]) >= 0:
                raise BadFile(f"{path} has results by known dataset and seed, got {shorten(key)}")
            if not isinstance(run, dict):
                raise BadFile(f"{path} has a dictionary for {shorten(key)}, got {shorten(run)}")
            epochs = run.get("epochs")
            if type(epochs) is not int or not 0 < epochs <= MOST_EPOCHS or str(budget).lstrip("0") != str(epochs):
                raise BadFile(f"{path} has {shorten(budget)} epochs for {shorten(key)}, got {shorten(epochs)}")
            reading = RUNS[key[0]]
            row = rows.setdefault((reading.table, epochs, int(key[1])), {})
            row.update(_figures(run, epochs, reading, row))
    return {key: row for key, row in rows.items() if any(metric.key in row for metric in METRICS[:6])}


def _figures(run: Mapping[str, Any], epochs: int, reading: RunLayout, already: Mapping[str, float]) -> dict[str, float]:
    """The figures of one training run after its last epoch."""
    last = epochs - 1
    figures = {
        f"{split}_{name}": _entry(run, table, f"{evaluation}@{last}")
        for split, evaluation in reading.splits.items()
        for name, table in (("accuracy", "eval_acc1es"), ("loss", "eval_losses"))
    }
    figures["parameters"] = round(figure(run.get("params")) * MILLION, 0)
    figures["flops"] = round(figure(run.get("flop")) * MILLION, 0)
    if reading.main:
        figures["train_accuracy"] = _entry(run, "train_acc1es", last)
        figures["train_loss"] = _entry(run, "train_losses", last)
        figures["latency"] = _mean(run.get("latency"))
        figures["train_time_s"] = sum(_entry(run, "train_times", epoch) for epoch in range(epochs))
    return {
        name: value for name, value in figures.items() if math.isfinite(value) and (reading.main or name not in already)
    }


def _entry(run: Mapping[str, Any], table: str, key: str | int) -> float:
    inside = run.get(table)
    return figure(inside.get(key)) if isinstance(inside, dict) else math.nan


def _mean(values: object) -> float:
    """The mean of a list of latencies; NaN where it is empty or negative, which means that none was measured."""
    if type(values) is not list or not values:
        return math.nan
    mean = sum(map(figure, values)) / len(values)
    return mean if mean > 0 else math.nan


def _rows(columns: Mapping[str, NDArray[np.float64]], codes: NDArray[np.int64]) -> Rows:
    return Rows.of(
        codes[columns["number"].astype(np.int64)],
        {metric.key: columns[metric.key] for metric in METRICS},
        fidelity=columns["epochs"].astype(np.int64),
        seed=columns["seed"].astype(np.int64),
        train_time_s=columns["train_time_s"],
    )


def _table_info(table: str, kind: str, searched: SearchSpace) -> TableInfo:
    joined = (
        "Two runs of one seed make a row: validation, training, time and latency are of the run on half of the "
        "training set (cifar10-valid), test is of the run on all of it (cifar10, ori-test). "
    )
    return TableInfo(
        name=f"nats-{kind}/{table}",
        space=searched.name,
        metrics=METRICS,
        dataset=table,
        recipe="SGD with Nesterov momentum 0.9, weight decay 5e-4, cosine from 0.1 over the budget, batch 256",
        licence="MIT",
        citation=NatsSSS.citation,
        source=f"NATS-{kind} v1.0, fast mode",
        notes=(
            (joined if table == "cifar10" else "Validation is x-valid and test is x-test of the same run. ")
            + "Figures are after the last epoch; each fidelity is a training of its own. train_time_s adds up the "
            "epochs, without evaluations. Latency is of a batch of 256. flops are as published."
        ),
    )
