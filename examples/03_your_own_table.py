"""Measure something, keep it as a table, and ask the table: small networks on scikit-learn's digits, really trained.

The space is described with ConfigSpace, so the table carries it along and can be opened anywhere.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from ConfigSpace import ConfigurationSpace
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import nasbed
from nasbed.results import Rows, TableInfo, write_results

space = nasbed.space_from_configspace(
    ConfigurationSpace({"width": [8, 16, 32], "activation": ["relu", "tanh"]}), "digits-mlp"
)
accuracy = nasbed.Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
images, labels = load_digits(return_X_y=True)
train_x, valid_x, train_y, valid_y = train_test_split(images / 16, labels, test_size=0.3, random_state=0)


def evaluate(arch: nasbed.Architecture, seed: int) -> Rows:
    config = space.to_native(arch)
    start = time.perf_counter()
    network = MLPClassifier((config["width"],), activation=config["activation"], max_iter=20, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # twenty epochs are meant
        network.fit(train_x, train_y)
    return Rows.of(
        space.codes([arch]),
        {accuracy.key: np.array([100 * network.score(valid_x, valid_y)])},
        fidelity=20,
        seed=seed,
        train_time_s=time.perf_counter() - start,
        method="grid",
    )


rows = [evaluate(arch, seed) for arch in space.enumerate() for seed in range(2)]
folder = Path(tempfile.mkdtemp()) / "digits-mlp"
write_results(folder, TableInfo("digits-mlp", space.name, (accuracy,), dataset="digits"), rows, searched=space)

benchmark = nasbed.load(folder)
best, mean = benchmark.optimum()
print(f"best of {space.size}: {benchmark.space.format(best)} with {mean:.1f} %")
print(f"one training with seed 1: {benchmark.query(best, seed=1)['validation_accuracy']:.1f} %")
