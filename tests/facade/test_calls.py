"""``nasbed.collect``, ``nasbed.fit`` and ``nasbed.score``: from a function to a searched surrogate, in Python alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.experiments.campaign import Campaign, FunctionTrainer
from support.tables import VALIDATION, additive


def known_value(architecture: nasbed.Architecture, fidelity: int, seed: int) -> float:
    return float(additive(np.array([architecture.code]))[0])


def failing(architecture: nasbed.Architecture, fidelity: int, seed: int) -> float:
    raise RuntimeError("on purpose")


CAMPAIGN = Campaign("sums", trials=150, shares={"rs": 1.0})


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> nasbed.Results:
    trainer = FunctionTrainer(known_value, "nb201", metrics=[VALIDATION])
    return nasbed.collect(CAMPAIGN, trainer, out=str(tmp_path_factory.mktemp("sums") / "table"), progress=False)


def test_collect_writes_what_the_function_returns(results: nasbed.Results) -> None:
    assert results.manifest.rows == 150
    assert Path(f"{results.folder}.sqlite").is_file()
    for rows in results.batches():
        assert np.allclose(rows.values[VALIDATION.key], additive(rows.codes))


def test_collect_refuses_a_trainer_that_always_fails(tmp_path: Path) -> None:
    trainer = FunctionTrainer(failing, "nb201", metrics=[VALIDATION])
    with pytest.raises(InvalidOption, match=r"all 5 trials failed: .*on purpose"):
        nasbed.collect(Campaign("sums", trials=5, shares={"rs": 1.0}), trainer, out=tmp_path / "table")


def test_fit_predicts_a_sum_and_is_searched_by_its_path(results: nasbed.Results, tmp_path: Path) -> None:
    options: dict[str, Any] = {"members": 2, "runtime": False, "progress": False}
    kept = nasbed.fit(results, "lgb", **options)
    saved = nasbed.fit(str(results.folder), "lgb", **options, out=str(tmp_path / "sums.snb"))
    arch = nasbed.Architecture("nb201", (3,) * 6)
    assert saved.query(arch) == kept.query(arch)
    assert (kept.artefact.manifest.figures["kendall"] or 0) > 0.4, "an additive function is easy to rank"
    runs = nasbed.compare(tmp_path / "sums.snb", "re", seeds=1, budget="60ev", progress=False)
    first, best = runs.runs[0].value[0], np.nanmax(runs.runs[0].value)
    assert best > first
    with pytest.raises(InvalidOption, match="save it first"):
        nasbed.compare(kept, "rs")


def test_score_counts_parameters_as_the_space_does(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    archs = [nasbed.Architecture("nb201", (1,) * 6), nasbed.Architecture("nb201", (3,) * 6)]
    scores = nasbed.score(archs, proxies="params", out=tmp_path / "scores.parquet", progress=False)
    assert (tmp_path / "scores.parquet").is_file()
    less, more = scores.of("params")[:, 0].tolist()
    convolutions = 5 * 6 * sum(9 * width**2 + 2 * width for width in (16, 32, 64))  # with the weights of their norms
    assert scores.codes.tolist() == [[1] * 6, [3] * 6] and more - less == convolutions
