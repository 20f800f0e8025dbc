"""The scores that come with the package: of every architecture of the embedded table, by every proxy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks import TabularBenchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile
from nasbed.evaluation.proxies import task_of
from nasbed.proxies import PROXIES
from nasbed.proxies.table import embedded_scores, open_scores
from nasbed.studies.nas_bench_unseen import NAS_BENCH_UNSEEN
from nasbed.training.recipes import RECIPES

NAME = "darts-cifar10-16"


def test_every_network_of_the_table_is_scored_by_every_proxy() -> None:
    scores, table = open_scores(NAME), nasbed.load(NAME)
    assert isinstance(table, TabularBenchmark)
    assert set(PROXIES.names()) == {*scores.proxies, "ntk"}, "ntk of the weights alone was not scored"
    assert scores.about.recipe == table.results.about.recipe == "collect-darts"
    task = task_of(scores, table)
    assert len(task) == len(scores) == len(table) and task.left_out == 0
    assert scores.missing() == {}
    assert embedded_scores()[NAME].stat().st_size < 1 << 20


def test_scores_that_need_no_image_are_those_of_the_networks() -> None:
    """Weights come from the seed alone, so that nothing but the shape of the images is needed."""
    torch = pytest.importorskip("torch", reason="needs torch")

    from nasbed.networks import build
    from nasbed.proxies import score_all
    from nasbed.training.network_factory import recipe_skeleton
    from nasbed.training.random_streams import initial_weights
    from nasbed.training.recipe_files import load_recipe

    scores = open_scores(NAME)
    skeleton = recipe_skeleton("darts", load_recipe("collect-darts"))
    batch = torch.zeros(2, 3, 16, 16), torch.zeros(2, dtype=torch.int64)
    for row in (0, len(scores) // 2):
        arch = Architecture("darts", tuple(scores.codes[row].tolist()))
        network = build(arch, classes=10, channels_in=3, image=16, skeleton=skeleton)
        initial_weights(network, 0)
        computed = score_all(network, batch, proxies=["params", "flops", "l2_norm", "synflow"], seed=0)
        for name, score in computed.items():
            assert score.value == pytest.approx(scores.of(name)[row, 0], rel=1e-5)


@pytest.mark.parametrize("name", NAS_BENCH_UNSEEN)
def test_functions_of_unseen_data_are_scored_by_every_proxy(name: str) -> None:
    scores, table = open_scores(name), nasbed.load(name)
    assert isinstance(table, TabularBenchmark)
    assert set(PROXIES.names()) <= set(scores.proxies)
    assert set(scores.missing().values()) == {1}, "the cell without any operation cannot be scored by all"
    assert (scores.about.dataset, scores.about.recipe) == (table.dataset_name, "collect-nb201")
    assert scores.about.dataset_hash in table.results.about.notes, "the images that the networks were trained on"
    rows = table.cache.find_many(scores.codes)
    assert len(np.unique(table.space.function_codes(table.space.architectures(scores.codes)), axis=0)) == len(rows)
    assert len(rows) == 4_954, "all functions of nb201"
    skeleton = table.space.make_skeleton({"channels": 16, "cells_per_stage": 1})
    differences = scores.of("params")[:, 0] - table.space.costs(scores.codes, skeleton)[:, 0]
    assert np.ptp(differences) == 0, "only stem and classifier depend on the dataset"


@pytest.mark.parametrize(
    ("name", "recipe", "networks", "singular"),
    [
        ("nb101-mini-cifar10-16-v1.0", "collect-nb101", 2_532, 0),
        ("darts-chesseract-v1.0", "collect-darts-unseen", 1_076, 301),
        ("darts-language-v1.0", "collect-darts-unseen", 1_076, 64),
        ("darts-cifar10-16-v2.0", "collect-darts-12", 300, 48),
        ("fbnet-cifar10-16-v1.0", "collect-fbnet", 200, 0),
    ],
)
def test_other_tables_are_scored_by_every_proxy(name: str, recipe: str, networks: int, singular: int) -> None:
    """``ntk`` alone has no score for some: where every path ends in a normalisation, its kernel is singular."""
    scores, table = open_scores(name), nasbed.load(name)
    assert isinstance(table, TabularBenchmark)
    assert set(PROXIES.names()) == set(scores.proxies)
    assert scores.missing() == ({"ntk": singular} if singular else {})
    assert (scores.about.dataset, scores.about.recipe) == (table.dataset_name, recipe)
    assert scores.about.dataset_hash in table.results.about.notes, "the images that the networks were trained on"
    assert len(scores) == networks == len(table.cache.find_many(scores.codes))
    skeleton = table.space.make_skeleton(RECIPES.get(recipe).skeleton)
    differences = scores.of("params")[:, 0] - table.space.costs(scores.codes, skeleton)[:, 0]
    assert np.ptp(differences) == 0, "only stem and classifier depend on the dataset"


def test_other_names_are_reported(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=f"in the package, .*{NAME}, "):
        open_scores("darts")
    with pytest.raises(BadFile, match="is not a file; make one"):
        open_scores(tmp_path / "none.parquet")
    assert np.isfinite(open_scores(NAME).mean("synflow")).all()
