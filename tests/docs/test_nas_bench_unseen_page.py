"""The page on NAS-Bench-Unseen and the head of the README have the numbers of the embedded tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.studies.transfer.methods import method_order
from nasbed.studies.transfer.study import NAS_BENCH_UNSEEN, TransferStudy, transfer_study

ROOT = Path(__file__).parents[2]
PAGE, README = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/nas-bench-unseen.md", "README.md"))


@pytest.fixture(scope="module")
def study() -> TransferStudy:
    return transfer_study([nasbed.load(name) for name in NAS_BENCH_UNSEEN], resamples=5)  # type: ignore[misc]


def line(name: str, values: Sequence[float] | np.ndarray) -> str:
    return f"| {name} | {' | '.join(f'{value:.2f}'.replace('-', '−') for value in values)} |"


def test_matrices_are_those_of_the_tables(study: TransferStudy) -> None:
    spearman = [*zip(study.datasets, study.ranks.spearman, strict=True), ("parameters", study.parameters)]
    for name, values in spearman:
        assert line(name, values) in PAGE and line(name, values) in README
    for matrix in (study.ranks.corrected, study.regrets.regret, study.effects.mean(axis=1)):
        for name, values in zip(study.datasets, matrix, strict=True):
            assert line(name, values) in PAGE


@pytest.mark.thorough
def test_regrets_of_quick_methods_are_those_of_runs(tmp_path: Path) -> None:
    tables = {name: nasbed.load(name) for name in NAS_BENCH_UNSEEN}
    order = method_order(tables, ["rs", "re", "ls"], seeds=20, budget="200ev", out=tmp_path)  # type: ignore[arg-type]
    for name, values in zip(order.methods, order.regrets.mean(axis=2), strict=True):
        assert line(f"`{name}`", values) in PAGE


def test_noise_is_that_of_the_tables(study: TransferStudy) -> None:
    for column, reliability in zip(study.columns, study.ranks.reliability, strict=True):
        means = column.means
        numbers = (means.mean(), means.std(), means.max(), column.noise, reliability)
        assert line(f"{column.dataset} | `{column.table}`", numbers) in PAGE


def test_sentences_are_true(study: TransferStudy) -> None:
    others = study.ranks.top[~np.eye(6, dtype=bool)]
    assert f"is {others.max():.2f} at most" in PAGE and "The same 4 954 networks" in README
    noisiest = study.datasets[int(np.argmin(study.ranks.reliability))]
    assert noisiest == "multnist" and f"two seeds agree by {study.ranks.reliability.min():.2f} alone" in PAGE
    convolution, pooling, skip = (
        study.effects.mean(axis=1)[:, study.operations.index(name)]
        for name in ("nor_conv_3x3", "avg_pool_3x3", "skip_connect")
    )
    best_of = {
        name: study.datasets[int(np.argmax(values))] for name, values in (("conv", convolution), ("pool", pooling))
    }
    assert best_of == {"conv": "addnist", "pool": "chesseract"} and study.datasets[int(np.argmin(skip))] == "addnist"
