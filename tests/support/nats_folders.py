"""NATS-Bench's folders of the fast mode, written from the published layout with distinct numbers."""

from __future__ import annotations

import bz2
import pickle
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

TOPOLOGIES = [
    "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|nor_conv_1x1~0|skip_connect~1|skip_connect~2|",
    "|nor_conv_3x3~0|+|nor_conv_3x3~0|none~1|+|skip_connect~0|nor_conv_3x3~1|skip_connect~2|",
]
SIZES = ["8:8:8:8:8", "64:8:16:24:40", "16:56:64:8:32"]
EVALUATIONS = {
    "cifar10-valid": ["x-valid", "ori-test"],
    "cifar10": ["ori-test"],
    "cifar100": ["x-valid", "x-test", "ori-test"],
    "ImageNet16-120": ["x-valid", "x-test", "ori-test"],
}


def distinct(scale: float) -> Callable[[], float]:
    """Numbers that never repeat, so that one in a wrong place cannot go unnoticed."""
    counter = count(1)
    return lambda: next(counter) * scale


def run_state(dataset: str, seed: int, epochs: int, draw: Callable[[], float], text: str) -> dict[str, Any]:
    """What ``ResultsCount.state_dict`` saves of one training run."""
    by_epoch = range(epochs)
    state: dict[str, Any] = {
        "name": dataset,
        "net_state_dict": None,
        "train_acc1es": {epoch: draw() for epoch in by_epoch},
        "train_acc5es": {epoch: draw() for epoch in by_epoch},
        "train_losses": {epoch: draw() for epoch in by_epoch},
        "train_times": OrderedDict((epoch, draw()) for epoch in by_epoch),
        "arch_config": {"channel": 16, "num_cells": 5, "arch_str": text, "class_num": 10},
        "params": 0.129306,
        "flop": 15.64737,
        "seed": seed,
        "epochs": epochs,
        "latency": [draw(), draw()],
        "eval_names": list(EVALUATIONS[dataset]),
        "eval_acc1es": {},
        "eval_times": {},
        "eval_losses": {},
    }
    for name in EVALUATIONS[dataset]:
        for epoch in by_epoch:
            for table in ("eval_acc1es", "eval_times", "eval_losses"):
                state[table][f"{name}@{epoch}"] = draw()
    return state


def results_state(index: int, text: str, epochs: int, draw: Callable[[], float]) -> dict[str, Any]:
    """What ``ArchResults.state_dict`` saves: a seed more for each architecture and budget."""
    seeds = [777, 888, 999][: 1 + (index + epochs) % 3]
    return {
        "arch_index": index,
        "arch_str": text,
        "all_results": {
            (dataset, seed): run_state(dataset, seed, epochs, draw, text) for dataset in EVALUATIONS for seed in seeds
        },
        "dataset_seed": {dataset: list(seeds) for dataset in EVALUATIONS},
        "clear_net_done": True,
    }


Folder = dict[int, dict[str, dict[str, Any]]]


def contents(texts: list[str], budgets: tuple[str, ...]) -> Folder:
    draw = distinct(0.0025)
    return {
        index: {budget: results_state(index, text, int(budget), draw) for budget in budgets}
        for index, text in enumerate(texts)
    }


def save(path: Path, value: object) -> None:
    with bz2.BZ2File(path, "wb") as file:
        pickle.dump(value, file, protocol=4)


def write_folder(folder: Path, texts: list[str], data: Folder) -> Path:
    folder.mkdir(exist_ok=True)
    save(folder / "meta.pickle.pbz2", {"meta_archs": texts, "evaluated_indexes": {0, 1}})
    for index, value in data.items():
        save(folder / f"{index:06d}.pickle.pbz2", value)
    return folder
