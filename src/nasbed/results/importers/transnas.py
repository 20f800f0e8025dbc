"""TransNAS-Bench-101: the file ``transnas-bench_v10141024.pth``, seven tasks for 4 096 cells and 3 256 networks.

The saved dictionary has ``micro`` and ``macro`` under ``data``. There each architecture and task has ``total_epochs``,
``model_info`` (parameters, FLOPs, inference time) and ``metrics``: for each name in ``metrics_dict[task]`` a list with
one value per epoch. The last one is taken, so that all figures of a row are of the same network. The published
interface takes each metric's own maximum by default.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.errors import BadFile, InvalidArchitecture, ParseError, shorten
from nasbed.core.metric import Direction, Metric, Split
from nasbed.core.restricted_pickle import figure
from nasbed.results.importers.base import Draft, Importer
from nasbed.results.importers.torch_file import load_torch_file
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.spaces import SearchSpace, space

LARGEST_FILE = 2 << 30
MOST_EPOCHS = 100_000
MAIN = ("top1", "mIoU", "ssim", "neg_loss")
"""What a task is judged by in the paper, whichever it has; that metric's validation value comes first in a table."""
_SPLITS: dict[str, Split] = {"train": "train", "valid": "validation", "val": "validation", "test": "test"}
_NAME = re.compile(r"(train|valid|val|test)_([A-Za-z]\w*)")
_BOUNDS = {"top1": (0, 100), "top5": (0, 100), "acc": (0, 100), "mIoU": (0, 100), "ssim": (-1, 1)}
_INFO = {
    "model_params": Metric("parameters", direction="minimize", bounds=(0, math.inf)),
    "encoder_params": Metric("encoder_parameters", direction="minimize", bounds=(0, math.inf)),
    "model_FLOPs": Metric("multiply_adds", direction="minimize", bounds=(0, math.inf)),
    "encoder_FLOPs": Metric("encoder_multiply_adds", direction="minimize", bounds=(0, math.inf)),
    "inference_time": Metric("latency", direction="minimize", unit="s", bounds=(0, math.inf)),
}
TIME = "time_elapsed"


class TransNASImporter(Importer):
    """The importer of the published file."""

    format = "transnas"
    summary = "TransNAS-Bench-101's file transnas-bench_v10141024.pth"

    def read(self, path: Path) -> Iterator[Draft]:
        saved = load_torch_file(path, LARGEST_FILE)
        data, tasks, names = (_inside(saved, key, path) for key in ("data", "task_list", "metrics_dict"))
        if type(tasks) is not list or not all(type(task) is str and re.fullmatch(r"[a-z_]+", task) for task in tasks):
            raise BadFile(f"{path} has a task_list of names, got {shorten(tasks)}; get the published file again")
        for level in ("micro", "macro"):
            table = _inside(data, level, path)
            if not isinstance(table, dict) or not table:
                raise BadFile(f"{path} has architectures under {level}, got {shorten(table)}")
            searched = space(f"transnas-{level}")
            codes = _codes(list(table), searched, path)
            for task in tasks:
                metrics = _metrics(_inside(names, task, path), task, path)
                results = [_inside(results, task, f"{path}: {text}") for text, results in table.items()]
                rows = _rows(codes, results, metrics, f"{path}: {level} {task}")
                yield Draft(_table_info(task, searched, metrics), iter([rows]), total=len(rows))


def _inside(holder: object, key: str, source: object) -> Any:
    if not isinstance(holder, dict) or key not in holder:
        raise BadFile(f"{source} has no {key}; give the published file of TransNAS-Bench-101")
    return holder[key]


def _codes(texts: list[object], searched: SearchSpace, path: Path) -> np.ndarray[Any, np.dtype[np.int64]]:
    try:
        return searched.codes([searched.from_native(text) for text in texts])
    except (ParseError, InvalidArchitecture) as error:
        raise BadFile(f"{path} has an unknown architecture: {error}") from None


def _metrics(names: object, task: str, path: Path) -> dict[str, Metric]:
    """The metrics of a task by their published names, the main one first."""
    if type(names) is not list:
        raise BadFile(f"{path} has a list of metrics for {task}, got {shorten(names)}")
    metrics = {}
    for name in names:
        match = _NAME.fullmatch(name) if type(name) is str else None
        if match:
            split, kind = match.groups()
            direction: Direction = "minimize" if "loss" in kind and kind != "neg_loss" else "maximize"
            bounds = _BOUNDS.get(kind, (-math.inf, 0) if kind == "neg_loss" else (-math.inf, math.inf))
            unit = "%" if bounds == (0, 100) else ""
            metrics[name] = Metric(kind, split=_SPLITS[split], direction=direction, unit=unit, bounds=bounds)
        elif name != TIME:
            raise BadFile(f"{path} has metrics of train, valid and test and {TIME}, got {shorten(name)} for {task}")
    first = [name for name, metric in metrics.items() if metric.name in MAIN and metric.split == "validation"]
    if not first:
        raise BadFile(f"{path} has a validation metric {' or '.join(MAIN)} for {task}, got {shorten(names)}")
    return {**{name: metrics[name] for name in first}, **metrics}


def _rows(
    codes: np.ndarray[Any, np.dtype[np.int64]], results: list[Any], metrics: Mapping[str, Metric], source: str
) -> Rows:
    columns: dict[str, list[float]] = {metric.key: [] for metric in (*metrics.values(), *_INFO.values())}
    epochs, times = [], []
    for result in results:
        curves, total = _inside(result, "metrics", source), _inside(result, "total_epochs", source)
        if type(total) is not int or not 0 < total <= MOST_EPOCHS:
            raise BadFile(f"{source} has a number of epochs, got {shorten(total)}")
        for name, metric in metrics.items():
            columns[metric.key].append(_last(_inside(curves, name, source), total, source))
        info = result.get("model_info")
        for name, metric in _INFO.items():
            columns[metric.key].append(figure(info.get(name)) if isinstance(info, dict) else math.nan)
        epochs.append(total)
        times.append(_elapsed(curves.get(TIME)))
    return Rows.of(
        codes,
        {key: np.array(column, dtype=np.float64) for key, column in columns.items()},
        fidelity=np.array(epochs, dtype=np.int64),
        train_time_s=np.array(times, dtype=np.float64),
    )


def _last(curve: object, epochs: int, source: str) -> float:
    """The value after the last epoch; missing where training did not get so far."""
    if isinstance(curve, np.ndarray) and curve.ndim == 1:
        curve = curve.tolist()
    if type(curve) is not list or len(curve) > epochs:
        raise BadFile(f"{source} has a value for each of {epochs} epochs, got {shorten(curve)}")
    return figure(curve[-1]) if len(curve) == epochs else math.nan


def _elapsed(curve: object) -> float:
    """Seconds from the start to the end of the last epoch: the last of times that only rise, as numbers or as
    ``hh:mm:ss``."""
    times = [_seconds(time) for time in curve] if type(curve) is list else []
    rising = bool(times) and all(a <= b for a, b in pairwise(times))
    return times[-1] if rising else math.nan


def _seconds(time: object) -> float:
    match = re.fullmatch(r"(\d{2,3}):(\d\d):(\d\d)", time) if type(time) is str else None
    if match:
        hours, minutes, seconds = map(int, match.groups())
        return 3600.0 * hours + 60 * minutes + seconds
    return figure(time)


def _table_info(task: str, searched: SearchSpace, metrics: Mapping[str, Metric]) -> TableInfo:
    return TableInfo(
        name=f"{searched.name}/{task}",
        space=searched.name,
        metrics=(*dict.fromkeys(metrics.values()), *_INFO.values()),
        dataset=f"taskonomy-{task.replace('_', '-')}",
        licence="MIT (the interface; the data name none)",
        citation=searched.citation,
        source="transnas-bench_v10141024.pth",
        notes=(
            "Every figure is after the last epoch. train_time_s runs from the start to that point, validation and test "
            "included. The seed is not in the file. multiply_adds are the published FLOPs (thop, one for a "
            "multiply-add). top1, top5, acc and mIoU are in %."
        ),
    )
