"""Three ways to predict a metric at several budgets, on a table that comes with the package.

Compared are a model for each budget, coefficients of curves (as ``nasbed fit --all-fidelities`` fits them), and one
model with the budget as a feature, by R² and Kendall's correlation on a tenth of the cells::

    python benchmarks/fidelity_models.py [--splits 4]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from time import process_time
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.places import table_path
from nasbed.results import Results
from nasbed.surrogates.features import Features
from nasbed.surrogates.scores import kendall, r2

Floats = NDArray[np.float64]

TABLE = "nb101-mini-cifar10-16-v1.0"
SETTINGS = {
    "objective": "regression",
    "metric": "rmse",
    "learning_rate": 0.05,
    "num_leaves": 16,
    "max_bin": 336,
    "feature_fraction": 0.3,
    "min_sum_hessian_in_leaf": 0.5822,
    "lambda_l2": 1.0,
    "verbosity": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "seed": 1,
}


def fit(x: Any, y: Floats, x_valid: Any, y_valid: Floats) -> lightgbm.Booster:
    """A model that stops early."""
    data = lightgbm.Dataset(x, label=y)
    held_out = lightgbm.Dataset(x_valid, label=y_valid, reference=data)
    stop = lightgbm.early_stopping(100, verbose=False)
    return lightgbm.train(SETTINGS, data, 5000, valid_sets=[held_out], callbacks=[stop])


def each_target(x: Any, y: Floats, x_valid: Any, y_valid: Floats) -> tuple[Callable[[Any], Floats], list[int]]:
    """A model for each column of the targets, and the number of trees of each."""
    models = [fit(x, y[:, place], x_valid, y_valid[:, place]) for place in range(y.shape[1])]
    return lambda rows: np.stack([model.predict(rows) for model in models], axis=1), [
        model.best_iteration for model in models
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=4, help="splits of the cells, one fit of each kind on each")
    splits = parser.parse_args().splits
    cache = Results.open(table_path(TABLE)).cache()
    x = Features(Results.open(table_path(TABLE)).space, "onehot+costs+structure")(np.asarray(cache.codes))
    accuracies = np.asarray(cache.values["validation_accuracy"]).astype(np.float64)  # [cell, budget, seed]
    budgets = np.log2(cache.fidelities)
    figures, trees, seconds = (defaultdict[str, list[Any]](list) for _ in range(3))
    for split in range(splits):
        cells = np.random.default_rng(split).permutation(len(x))
        test, valid, train = np.split(cells, [len(x) // 10, len(x) // 5])
        truth = accuracies[test].transpose(0, 2, 1).reshape(-1, len(budgets))
        (x_train, y_train), (x_valid, y_valid) = (
            (np.repeat(x[part], accuracies.shape[2], axis=0), accuracies[part].transpose(0, 2, 1).reshape(-1, 4))
            for part in (train, valid)
        )

        def note(name: str, predicted: Floats, tree_count: int, start: float, truth: Floats = truth) -> None:
            rows = np.repeat(predicted, accuracies.shape[2], axis=0)
            pairs = list(zip(truth.T, rows.T, strict=True))
            figures[name].append([[r2(*pair), kendall(*pair)] for pair in pairs])
            trees[name].append(tree_count)
            seconds[name].append(process_time() - start)

        start = process_time()
        predict, counts = each_target(x_train, y_train, x_valid, y_valid)
        note("a model for each budget", predict(x[test]), sum(counts), start)
        mean, std = y_train.mean(axis=0), y_train.std(axis=0)
        means = (accuracies[train].mean(axis=2) - mean) / std
        directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2]
        start = process_time()
        targets = [((y - mean) / std) @ directions.T for y in (y_train, y_valid)]
        predict, counts = each_target(x_train, targets[0], x_valid, targets[1])
        coefficients = predict(x[test])
        for kept in (2, 3, 4):
            curves = coefficients[:, :kept] @ directions[:kept] * std + mean
            note(f"{kept} coefficients", curves, sum(counts[:kept]), start)
        start = process_time()
        long = [
            (
                np.concatenate([np.column_stack([rows, np.full(len(rows), budget)]) for budget in budgets]),
                (y - mean).T.reshape(-1),
            )
            for rows, y in ((x_train, y_train), (x_valid, y_valid))
        ]
        model = fit(*long[0], *long[1])
        answers = [model.predict(np.column_stack([x[test], np.full(len(test), budget)])) for budget in budgets]
        note("the budget as a feature", np.stack(answers, axis=1) + mean, model.best_iteration, start)
    for name, rows in figures.items():
        cells_of_row = [", ".join(f"{value:.4f}" for value in pair) for pair in np.mean(rows, axis=0)]
        print(f"| {name} | {' | '.join(cells_of_row)} | {np.mean(trees[name]):.0f} | {np.mean(seconds[name]):.1f} |")


if __name__ == "__main__":
    main()
