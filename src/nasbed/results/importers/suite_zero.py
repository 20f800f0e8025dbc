"""NAS-Bench-Suite-Zero: published scores of zero-cost proxies, ``zc_<space>.json`` of the zerocost branch of NASLib.

The file reads ``{dataset: {key: {proxy: {"score": …, "time": …}, …, "val_accuracy": …, "id": …}}}``. A key is the text
of a Python tuple. The meaning of its integers comes from NASLib's ``search_spaces/*/conversions.py`` at that branch. An
independent reader of the same files (zc_combine, ``fixes/operations.py``) agrees, except that it swaps digits 2 and 3
of TransNAS micro. TransNAS's own text decides:

- ``zc_nasbench101``: the adjacency matrix row by row, then one number a vertex into input, output, maxpool3x3,
  conv1x1-bn-relu, conv3x3-bn-relu.
- ``zc_nasbench201``: six operations into skip_connect, none, nor_conv_3x3, nor_conv_1x1, avg_pool_3x3, for the edges
  0→1, 0→2, 0→3, 1→2, 1→3, 2→3. Published pairs of key and architecture string confirm it.
- ``zc_nasbench301``: for each of the two cells eight pairs (input, operation), the operations in the order of DARTS.
- ``zc_transbench101_micro`` and ``_macro``: the digits of TransNAS-Bench-101's own text, from which NASLib builds the
  network; macro keys end in zeros for absent modules.

``val_accuracy`` is the value that NASLib's query calls so. It is in per cent, except for the structural similarity on
autoencoder and normal and the negative loss on room_layout. For nasbench301 it is a surrogate's prediction, not a
measurement. On ninapro, svhn and scifar100 its scale is not stated anywhere, so that the metric has no unit.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption, NasbedError, shorten
from nasbed.core.metric import Metric
from nasbed.core.status import FAILED, OK
from nasbed.results.importers.base import Draft, Importer
from nasbed.results.importers.strict_json import Reader, number, read_bytes
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.spaces import space
from nasbed.spaces.darts.cell import NODES, OPERATIONS
from nasbed.spaces.darts.genotype import Genotype

BATCH = 4096
LARGEST_FILE = 4 << 30
_KEY = re.compile(r"[()\[\], 0-9]{1,2000}")
_NB101 = ("input", "output", "maxpool3x3", "conv1x1-bn-relu", "conv3x3-bn-relu")
_NB201 = ("skip_connect", "none", "nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3")
_NB201_EDGES = ("1<-0", "2<-0", "3<-0", "2<-1", "3<-1", "3<-2")
_OF_TASK = {
    "autoencoder": Metric("ssim", split="validation", bounds=(-1, 1)),
    "normal": Metric("ssim", split="validation", bounds=(-1, 1)),
    "room_layout": Metric("neg_loss", split="validation", bounds=(-math.inf, 0)),
    **dict.fromkeys(("ninapro", "svhn", "scifar100"), Metric("accuracy", split="validation", bounds=(0, 100))),
}
_ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
_TIME = Metric("time_s", direction="minimize", unit="s", bounds=(0, math.inf))


def _nb101(key: Any) -> Architecture:
    vertices = math.isqrt(len(key))
    if vertices * (vertices + 1) != len(key):
        raise BadFile(f"an nb101 key has n·n + n numbers, got {len(key)}")
    matrix = [key[row * vertices : (row + 1) * vertices] for row in range(vertices)]
    return space("nb101").from_native((matrix, [_NB101[op] for op in key[-vertices:]]))


def _nb201(key: Any) -> Architecture:
    options = {edge: _NB201[op] for edge, op in zip(_NB201_EDGES, key, strict=True)}
    return space("nb201").from_config(options)


def _darts(key: Any) -> Architecture:
    cells = [[(OPERATIONS[op], source) for source, op in cell] for cell in key]
    normal, reduction = cells
    return space("darts").from_native(Genotype(normal, list(NODES), reduction, list(NODES)))


def _transnas_micro(key: Any) -> Architecture:
    return _validated(Architecture("transnas-micro", tuple(key)))


def _transnas_macro(key: Any) -> Architecture:
    return _validated(Architecture("transnas-macro", tuple(key) + (0,) * (6 - len(key))))


def _validated(arch: Architecture) -> Architecture:
    space(arch.space).validate(arch)
    return arch


ENCODINGS: dict[str, tuple[str, Callable[[Any], Architecture]]] = {
    "nb101": ("nasbench101", _nb101),
    "nb201": ("nasbench201", _nb201),
    "darts": ("nasbench301", _darts),
    "transnas-micro": ("transbench101_micro", _transnas_micro),
    "transnas-macro": ("transbench101_macro", _transnas_macro),
}


class SuiteZeroImporter(Importer):
    """A table for each dataset. A proxy's score is a metric of its name, its time ``<proxy>_time_s``; a score that is
    NaN or infinite was not measured and is missing."""

    format = "suite-zero"
    summary = "NAS-Bench-Suite-Zero: zc_<space>.json, from github.com/automl/NASLib"
    options: ClassVar[Mapping[str, str]] = {
        "space": "The space of the keys. [default: as the file's name says]",
        "dataset": "Read this dataset only. [default: each, as a table of its own]",
        "name": "The name before /<dataset>. [default: suite-zero/<space>]",
    }

    def read(self, path: Path) -> Iterator[Draft]:
        searched = self._space(path)
        data = read_bytes(path, path.name, LARGEST_FILE)
        by_dataset = contents(data, path.name, searched)
        requested = self.settings.get("dataset")
        if requested is not None and requested not in by_dataset:
            raise BadFile(f"{path.name} holds the datasets {', '.join(by_dataset)}, not {shorten(requested)}")
        prefix = self.settings.get("name", f"suite-zero/{searched}")
        for dataset, content in by_dataset.items():
            if requested not in (None, dataset):
                continue
            info = TableInfo(
                name=f"{prefix}/{dataset.lower()}",
                space=searched,
                metrics=tuple(content.metrics(dataset).values()),
                dataset=dataset,
                fidelity_unit="epochs",
                citation="Krishnakumar, White, Zela et al., NAS-Bench-Suite-Zero, NeurIPS 2022, arXiv:2210.03230",
                source="https://github.com/automl/NASLib/tree/zerocost",
                notes="params and flops are in millions." if {"params", "flops"} & content.scores.keys() else "",
            )
            yield Draft(info, _batches(data, path.name, searched, dataset, content), total=content.count)

    def _space(self, path: Path) -> str:
        by_file = {f"zc_{stem}": name for name, (stem, _) in ENCODINGS.items()}
        encoding = self.settings.get("space") or by_file.get(path.stem)
        if encoding not in ENCODINGS:
            raise InvalidOption(
                f"the keys of {', '.join(ENCODINGS)} are known here, got {shorten(encoding or path.name)}; set space"
            )
        return encoding


@dataclass
class DatasetScores:
    """What a dataset's entries have: the proxies, each with whether it was timed, and accuracies."""

    scores: dict[str, bool] = field(default_factory=dict)
    has_accuracy: bool = False
    count: int = 0

    def metrics(self, dataset: str) -> dict[str, Metric]:
        """The metrics by where they come from: a proxy, a proxy and ``/time``, or ``val_accuracy``."""
        metrics = {}
        for proxy, timed in sorted(self.scores.items()):
            metrics[proxy] = Metric(proxy)
            if timed:
                metrics[f"{proxy}/time"] = replace(_TIME, name=f"{proxy}_time_s")
        if self.has_accuracy:
            metrics["val_accuracy"] = _OF_TASK.get(dataset, _ACCURACY)
        return metrics


def contents(data: bytes, source: str, searched: str) -> dict[str, DatasetScores]:
    """A first reading of the whole file, which checks all of it: what each dataset holds."""
    by_dataset: dict[str, DatasetScores] = {}
    for dataset, key, entry in entries(data, source):
        content = by_dataset.setdefault(dataset, DatasetScores())
        content.count += 1
        architecture_of(key, searched, f"{source}, {dataset}")
        for proxy, value in values_of(entry, f"{source}, {dataset} {key}").items():
            name, _, time = proxy.partition("/")
            metric = _OF_TASK.get(dataset, _ACCURACY) if name == "val_accuracy" else _TIME if time else None
            try:
                if metric is not None and not math.isnan(value):
                    metric.check(value)
            except NasbedError as error:
                raise BadFile(f"{source}, {dataset} {key}: {error}") from None
            if name == "val_accuracy":
                content.has_accuracy |= not math.isnan(value)
            else:
                content.scores[name] = content.scores.get(name, False) or bool(time)
    if not by_dataset:
        raise BadFile(f"{source}: this file of proxy scores holds no datasets of architectures")
    for dataset, content in by_dataset.items():
        try:
            content.metrics(dataset)
        except NasbedError as error:
            raise BadFile(f"{source}, {dataset}: {error}") from None
    return by_dataset


def entries(data: bytes, source: str) -> Iterator[tuple[str, str, Any]]:
    """(dataset, key, entry), one after the other; only one entry is held at a time."""
    reader = Reader(data, source)
    for dataset in reader.members():
        for key in reader.members():
            yield dataset, key, reader.value()
    reader.end()


def architecture_of(key: str, searched: str, source: str) -> Architecture:
    """The architecture that a key of a space's file names."""
    if not _KEY.fullmatch(key):
        raise BadFile(f"{source}: a key is the text of a tuple of integers, got {shorten(key)}")
    try:
        numbers = json.loads(key.translate({ord("("): "[", ord(")"): "]"}))
        return ENCODINGS[searched][1](numbers)
    except (NasbedError, ValueError, TypeError, IndexError, RecursionError) as error:
        reason = str(error) if isinstance(error, NasbedError) else "it has the wrong form"
        raise BadFile(f"{source}: no {searched} architecture has the key {shorten(key)}; {reason}") from None


def values_of(entry: Any, source: str) -> dict[str, float]:
    """The numbers of an entry by proxy, by proxy and ``/time``, and as ``val_accuracy``; NaN where there is none."""
    if not isinstance(entry, dict):
        raise BadFile(f"{source}: an architecture has proxies with score and time, got {shorten(entry)}")
    values = {}
    for name, value in entry.items():
        if name == "id":
            continue
        if name == "val_accuracy":
            values[name] = number(value, name, source)
        elif not name.isidentifier() or not isinstance(value, dict) or "score" not in value:
            raise BadFile(f"{source}: a proxy is a name with score and time, got {shorten(name)}: {shorten(value)}")
        else:
            values[name] = _finite(number(value["score"], f"the score of {name}", source))
            if "time" in value:
                values[f"{name}/time"] = _finite(number(value["time"], f"the time of {name}", source))
    return values


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan


def _batches(data: bytes, source: str, searched: str, dataset: str, content: DatasetScores) -> Iterator[Rows]:
    metrics = content.metrics(dataset)
    of_dataset = ((key, entry) for name, key, entry in entries(data, source) if name == dataset)
    while chunk := list(islice(of_dataset, BATCH)):
        values = [values_of(entry, f"{source}, {dataset} {key}") for key, entry in chunk]
        columns = {
            metric.key: np.array([row.get(name, math.nan) for row in values]) for name, metric in metrics.items()
        }
        empty = np.all([np.isnan(column) for column in columns.values()], axis=0) if columns else np.ones(len(chunk))
        yield Rows.of(
            np.array([architecture_of(key, searched, f"{source}, {dataset}").code for key, _ in chunk], dtype=np.int64),
            columns,
            status=np.where(empty, FAILED, OK).astype(np.int8),
        )
