"""How well each surrogate model fits real evaluations of NAS-Bench-101.

    python benchmarks/surrogate_models.py nb101_20k.npz [--models lgb,gin] [--preset table-6] [--ensembles lgb] [--processes 2]

The file holds cells as published: ``adj`` and ``ops`` (-1 input, -2 output, 0 conv3x3, 1 conv1x1, 2 maxpool, -9 none)
and ``val108``, one validation accuracy each. Diverged runs (at most 0.5) are left out; numpy's ``default_rng(0)``
permutes the rest, of which 80 % are to fit, 10 % to stop early and 10 % to test. sKT rounds predictions to 0.1 %.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nasbed
from nasbed.surrogates import SURROGATES, Examples
from nasbed.surrogates.ensemble import fit_ensemble
from nasbed.surrogates.presets import MODEL_PRESETS
from nasbed.surrogates.scores import coverage, kendall, mae, r2, sparse_kendall

OPERATIONS = {-1: "input", -2: "output", 0: "conv3x3-bn-relu", 1: "conv1x1-bn-relu", 2: "maxpool3x3"}


def read_cells(path: Path) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The codes of the cells, and their validation accuracies, from 0 to 1."""
    space = nasbed.space("nb101")
    with np.load(path) as file:
        matrices, operations, accuracy = file["adj"], file["ops"], file["val108"].astype(np.float64)
    codes = []
    for matrix, ops in zip(matrices, operations, strict=True):
        size = int((ops != -9).sum())
        cell = matrix[:size, :size], [OPERATIONS[int(op)] for op in ops[:size]]
        codes.append(space.from_native(cell).code)
    return np.array(codes), accuracy


def read(path: Path) -> tuple[Examples, Examples, Examples]:
    """The cells to fit on, to stop on and to test on."""
    cells, accuracy = read_cells(path)
    trained = np.flatnonzero(accuracy > 0.5)
    order = trained[np.random.default_rng(0).permutation(len(trained))]
    first, second = int(0.8 * len(order)), int(0.9 * len(order))
    train, valid, test = (Examples.plain(cells[part], accuracy[part]) for part in np.split(order, [first, second]))
    return train, valid, test


def settings_of(name: str, preset: str) -> dict[str, Any]:
    """The settings of the preset, if one is named."""
    return MODEL_PRESETS.get(preset).settings(name) if preset else {}


def row(name: str, truth: NDArray[np.float64], predicted: NDArray[np.float64], seconds: float, more: str = "") -> None:
    skt = sparse_kendall(truth, predicted, precision=0.001)
    figures = (
        f"{r2(truth, predicted):.4f}   {kendall(truth, predicted):.4f}   {skt:.4f}   {100 * mae(truth, predicted):.3f}"
    )
    print(f"{name:12s}  {figures}  {seconds:9.0f}  {more}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path)
    options.add_argument("--models", default="lgb,xgb,ngb,rf,svr,nusvr,gin,mlp")
    options.add_argument("--preset", default="", help="settings from the paper, see nasbed list presets")
    options.add_argument("--ensembles", default="lgb", help="models of which ten members are fitted; none: ''")
    options.add_argument("--processes", type=int, default=1)
    chosen = options.parse_args()
    train, valid, test = read(chosen.file)
    space = nasbed.space("nb101")
    print(f"{len(train)} cells to fit, {len(valid)} to stop, {len(test)} to test")
    print("model         R2       Kendall  sKT      MAE [%]  fit [CPU s]")
    for name in filter(None, chosen.models.split(",")):
        start = time.process_time()
        model = SURROGATES.get(name)(space, settings=settings_of(name, chosen.preset))
        model.fit(train, valid)
        seconds = time.process_time() - start
        row(name, test.y, model.predict(test.codes), seconds)
    examples = Examples.plain(np.concatenate([train.codes, valid.codes]), np.concatenate([train.y, valid.y]))
    for name in filter(None, chosen.ensembles.split(",")):
        start = time.perf_counter()
        settings = settings_of(name, chosen.preset)
        ensemble = fit_ensemble(name, space, examples, settings=settings, processes=chosen.processes)
        seconds = time.perf_counter() - start
        predictions = ensemble.predict(test.codes)
        covered = f"90 % intervals hold {100 * coverage(test.y, predictions.mean, predictions.std):.1f} %, "
        raw = f"{100 * coverage(test.y, predictions.mean, predictions.spread):.1f} % by the spread of members (fit time is wall time)"
        row(f"10 x {name}", test.y, predictions.mean, seconds, covered + raw)


if __name__ == "__main__":
    main()
