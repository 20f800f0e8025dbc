"""The pages on NAS-Bench-Unseen have the numbers of the embedded tables; the head of the README is true of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.studies.nas_bench_unseen import NAS_BENCH_UNSEEN
from nasbed.studies.transfer.methods import method_order
from nasbed.studies.transfer.proxies import proxy_order, scores_of
from nasbed.studies.transfer.study import TransferStudy, transfer_study
from support.documentation import page_text

ROOT = Path(__file__).parents[2]
DATASHEET, TRANSFER, PROXIES = (page_text(name) for name in ("nas-bench-unseen", "transfer", "proxies-on-unseen-data"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def study() -> TransferStudy:
    return transfer_study([nasbed.load(name) for name in NAS_BENCH_UNSEEN], resamples=5)  # type: ignore[misc]


def line(name: str, values: Sequence[float] | np.ndarray) -> str:
    return f"| {name} | {' | '.join(f'{value:.2f}'.replace('-', '−') for value in values)} |"


def test_matrices_are_those_of_the_tables(study: TransferStudy) -> None:
    spearman = [*zip(study.datasets, study.ranks.spearman, strict=True), ("parameters", study.parameters)]
    for name, values in spearman:
        assert line(name, values) in TRANSFER
    for matrix in (study.ranks.corrected, study.regrets.regret, study.effects.mean(axis=1)):
        for name, values in zip(study.datasets, matrix, strict=True):
            assert line(name, values) in TRANSFER


def test_readme_names_three_worlds(study: TransferStudy) -> None:
    """Pictures and words agree, digits go their own way, and chess is nearly the reverse of the first world."""
    sentence = "photographs and words agree, digits go their own way, and chess is nearly the reverse."
    assert f"The same 4 954 networks, trained on six datasets, do not rank alike: {sentence}" in README
    assert len(study.columns[0].means) == 4_954
    assert study.datasets == ("cifar10@16", "language", "gutenberg", "addnist", "multnist", "chesseract")
    spearman = study.ranks.spearman
    assert spearman[:3, :3].min() > 0.75 and spearman[3, 4] > 0.6, (
        "within the world of photographs and words, of digits"
    )
    assert np.abs(spearman[3:5, :3]).max() < 0.25, "digits against photographs and words"
    assert spearman[5, :3].max() < -0.45, "chess against photographs and words"


def test_correlations_of_proxies_are_those_of_the_scores() -> None:
    tables = [nasbed.load(name) for name in NAS_BENCH_UNSEEN]
    order = proxy_order(tables, scores_of(tables), resamples=2)  # type: ignore[arg-type]
    assert order is not None and order.networks == 4_954 and len(order.proxies) == 18
    for name, values in zip(order.proxies, order.correlations, strict=True):
        assert line(f"`{name}`", values) in PROXIES
    values = order.correlations
    assert not (values > 0).all(axis=1).any(), "none has a positive correlation everywhere"
    best, worst = int(np.argmax(values[:, -1])), int(np.argmin(values[:, -1]))
    assert f"the best has {values[best, -1]:.2f} (`{order.proxies[best]}`)" in PROXIES
    fall = f"`{order.proxies[worst]}` falls to {values[worst, -1]:.2f}, from {values[worst].max():.2f} on Language"
    assert fall.replace("-", "−") in PROXIES
    assert {order.proxies[place] for place in np.argsort(values[:, 3])[-2:]} == {"snip", "grad_norm"}
    world = np.array([0, 0, 0, 1, 1, 2])
    pairs = np.triu(np.ones((6, 6), dtype=bool), 1)
    same = world[:, None] == world
    within, between = order.agreement[pairs & same], order.agreement[pairs & ~same]
    assert f"tau {within.min():.2f} to {within.max():.2f}" in PROXIES
    assert f"by −{-between.min():.2f} to {between.max():.2f}" in PROXIES
    assert f"over all six is {order.concordance:.2f} " in PROXIES


@pytest.mark.thorough
def test_regrets_of_quick_methods_are_those_of_runs(tmp_path: Path) -> None:
    tables = {name: nasbed.load(name) for name in NAS_BENCH_UNSEEN}
    order = method_order(tables, ["rs", "re", "ls"], seeds=20, budget="200ev", out=tmp_path)  # type: ignore[arg-type]
    for name, values in zip(order.methods, order.regrets.mean(axis=2), strict=True):
        assert line(f"`{name}`", values) in TRANSFER


def test_noise_is_that_of_the_tables(study: TransferStudy) -> None:
    for column, reliability in zip(study.columns, study.ranks.reliability, strict=True):
        means = column.means
        numbers = (means.mean(), means.std(), means.max(), column.noise, reliability)
        assert line(f"{column.dataset} | `{column.table}`", numbers) in DATASHEET


def test_sentences_are_true(study: TransferStudy) -> None:
    others = study.ranks.top[~np.eye(6, dtype=bool)]
    assert f"is {others.max():.2f} at most" in TRANSFER
    noisiest = study.datasets[int(np.argmin(study.ranks.reliability))]
    assert noisiest == "multnist" and f"two seeds agree by {study.ranks.reliability.min():.2f} alone" in DATASHEET
    convolution, pooling, skip = (
        study.effects.mean(axis=1)[:, study.operations.index(name)]
        for name in ("nor_conv_3x3", "avg_pool_3x3", "skip_connect")
    )
    best_of = {
        name: study.datasets[int(np.argmax(values))] for name, values in (("conv", convolution), ("pool", pooling))
    }
    assert best_of == {"conv": "addnist", "pool": "chesseract"} and study.datasets[int(np.argmin(skip))] == "addnist"
