"""Published NAS-Bench-301 ensembles: files in their layout, held to the libraries that wrote them."""

from __future__ import annotations

import copy
import io
import os
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lightgbm
import numpy as np
import pytest
import torch
import xgboost

from nasbed import space
from nasbed.compat.nasbench301 import load_ensemble
from nasbed.compat.nasbench301._boosters import XGBoostMembers
from nasbed.compat.nasbench301._encoding import published_rows
from nasbed.compat.nasbench301._gin import CellsGraph
from nasbed.compat.nasbench301._published import PublishedEnsemble
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.surrogates.trees.booster_buffer import forest_from_buffer
from support.published_ensembles import FORMER_PREDICTIONS, former_booster, former_rows, write_ensemble
from support.torch_gin import PublishedGIN

GENOTYPE = SimpleNamespace(
    normal=[
        *(("max_pool_3x3", 0), ("skip_connect", 1), ("sep_conv_3x3", 1), ("dil_conv_5x5", 2)),
        *(("skip_connect", 1), ("sep_conv_5x5", 2), ("skip_connect", 1), ("avg_pool_3x3", 4)),
    ],
    normal_concat=[2, 3, 4, 5],
    reduce=[
        *(("sep_conv_5x5", 0), ("dil_conv_3x3", 1), ("skip_connect", 0), ("max_pool_3x3", 2)),
        *(("skip_connect", 0), ("sep_conv_3x3", 2), ("skip_connect", 0), ("sep_conv_3x3", 4)),
    ],
    reduce_concat=[2, 3, 4, 5],
)
PUBLISHED_ROW = [
    *(0.5863451791322553, 0, 0, 0, 0.16666444442962952, 0.3099999239999697, 0, 0, 0, 0),
    *(0, 2, 4, 5, 0.003149999006299998, 2, 3, 6, 1, 1, 3, 0.000749999001499998, 0, 0),
    *(-3.6888794541139363, 0.8988764044943821, -8.111728083308073, 0.009949999019899998, 1e-12, 0, 0),
    *(0.7051278400653053, 2, -1, -1, 1, -1, 3, 6, -1, 2, 4, -1, -1, -1, -1, -1, 3, 2, -1, 0, 2, -1, 3, -1, 2),
]
"""What the package nasbench301 0.3 makes of that genotype, with ConfigSpace 0.6.1, and hands to its boosters."""

NODE_KINDS = [0, 1, 2, 2, 2, 2, 3] * 2
NORMAL_EDGES = [(0, 2, 1), (1, 2, 3), (1, 3, 4), (1, 4, 7), (1, 5, 3), (2, 3, 5), (2, 4, 3), (4, 5, 2)]
REDUCTION_EDGES = [(0, 2, 5), (0, 3, 6), (0, 4, 3), (0, 5, 1), (1, 2, 3), (2, 3, 4), (2, 4, 3), (4, 5, 4)]
"""The edges of that genotype by their source, with the operations by the node that they lead to, as published."""
EDGES = [
    *NORMAL_EDGES,
    *((node, 6, 0) for node in (2, 3, 4, 5)),
    *((source + 7, target + 7, kind) for source, target, kind in REDUCTION_EDGES),
    *((node, 13, 0) for node in (9, 10, 11, 12)),
    *((6, 6, 0), (6, 7, 0), (6, 8, 0), (13, 0, 0), (13, 1, 0)),
]
GIN_CONFIG: dict[str, Any] = {"num_gnn_layers": 3, "virtual_node": True, "graph_pooling": "mean"}


def sampled_codes(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return space("darts").codes([space("darts").sample(rng) for _ in range(count)])


def targets(rows: np.ndarray, kind: str) -> np.ndarray:
    weights = np.random.default_rng(1).normal(size=rows.shape[1])
    scores = (rows - rows.mean(0)) @ weights / 10
    labels: np.ndarray = np.exp(8 + scores) if kind.endswith("_time") else 94 + scores
    return labels


def fit(kind: str, seed: int) -> Any:
    rows = published_rows(sampled_codes(120, seed)).astype(np.float64)
    labels = targets(rows, kind)
    if kind.startswith("xgb"):
        settings = {"objective": "reg:squarederror", "eval_metric": "rmse", "seed": seed, "max_depth": 4}
        return xgboost.train(settings, xgboost.DMatrix(rows, label=labels), num_boost_round=12)
    settings = {"objective": "regression", "verbose": -1, "seed": seed, "num_leaves": 8, "num_threads": 1}
    return lightgbm.train(settings, lightgbm.Dataset(rows, label=labels), num_boost_round=12)


def library_predictions(models: list[Any], rows: np.ndarray) -> np.ndarray:
    return np.array(
        [
            model.predict(xgboost.DMatrix(rows)) if isinstance(model, xgboost.Booster) else model.predict(rows)
            for model in models
        ]
    )


def saved(network: torch.nn.Module, *, legacy: bool = False) -> bytes:
    file = io.BytesIO()
    torch.save(network.state_dict(), file, _use_new_zipfile_serialization=not legacy)
    return file.getvalue()


def test_published_rows_are_those_of_the_published_package() -> None:
    code = space("darts").from_native(GENOTYPE).code
    assert published_rows(np.array([code])).tolist() == [np.array(PUBLISHED_ROW, dtype=np.float32).tolist()]


@pytest.mark.parametrize("kind", ["xgb", "xgb_time", "lgb", "lgb_time"])
def test_published_ensemble_answers_as_its_library(kind: str, tmp_path: Path) -> None:
    models = [fit(kind, seed) for seed in range(3)]
    name = f"{kind.replace('_time', '_runtime')}_v1.0"
    ensemble = load_ensemble(write_ensemble(tmp_path / "nb_models_1.0" / name, kind, models))
    assert ensemble.is_runtime == kind.endswith("_time")
    codes = sampled_codes(10, seed=9)
    members = library_predictions(models, published_rows(codes).astype(np.float64))
    generator = np.random.RandomState(7 + 3 - 1)  # upstream seeds each member with the ensemble's seed and its number
    for arch, predictions in zip(space("darts").architectures(codes), members.T, strict=True):
        native, config = space("darts").to_native(arch), space("darts").to_config(arch)
        assert ensemble.predict(native, "genotype", with_noise=False) == np.mean(predictions)
        noise = generator.normal(0, np.std(predictions), 1)[0]
        assert ensemble.predict(config, "configspace", with_noise=True) == np.mean(predictions) + noise


@pytest.mark.parametrize("version", ["0.90", "1.0.2"])
def test_published_ensemble_opens_boosters_of_former_xgboost(version: str, tmp_path: Path) -> None:
    ensemble = load_ensemble(write_ensemble(tmp_path / "xgb_v0.9", "xgb", [former_booster(version)]))
    assert isinstance(ensemble, PublishedEnsemble) and isinstance(ensemble.members, XGBoostMembers)
    # those versions add the mean last, to the sum of the leaves: a rounding apart
    assert ensemble.members.forest.predict(former_rows())[:, 0] == pytest.approx(FORMER_PREDICTIONS, rel=2e-7)


def test_published_lightgbm_answers_up_to_its_best_iteration(tmp_path: Path) -> None:
    model = fit("lgb", 0)
    model.best_iteration = 5
    ensemble = load_ensemble(write_ensemble(tmp_path / "lgb_v1.0", "lgb", [model]))
    row = published_rows(np.array([space("darts").from_native(GENOTYPE).code])).astype(np.float64)
    assert ensemble.predict(GENOTYPE, "genotype") == model.predict(row)[0]
    assert model.predict(row)[0] != model.predict(row, num_iteration=12)[0]


@pytest.mark.parametrize("legacy", [True, False])
def test_published_gin_answers_as_torch(legacy: bool, tmp_path: Path) -> None:
    networks = [PublishedGIN(16, 3, seed=seed) for seed in range(2)]
    data = [saved(network, legacy=legacy) for network in networks]
    ensemble = load_ensemble(write_ensemble(tmp_path / "gnn_gin_v1.0", "gnn_gin", data, **GIN_CONFIG))
    expected = np.mean([network.percent(NODE_KINDS, EDGES) for network in networks])
    assert ensemble.predict(GENOTYPE, "genotype", with_noise=False) == pytest.approx(expected, rel=1e-5)
    other = [("skip_connect", 0), *GENOTYPE.normal[1:]]
    changed = SimpleNamespace(**{**vars(GENOTYPE), "normal": other})
    assert ensemble.predict(changed, "genotype", with_noise=False) != pytest.approx(expected, rel=1e-5)


def test_published_graph_may_have_loops_and_both_directions() -> None:
    arch = space("darts").from_native(GENOTYPE)
    plain, looped, both = (
        CellsGraph.of(arch, self_loops=loops, undirected=undirected)
        for loops, undirected in ((False, False), (True, False), (False, True))
    )
    assert sorted(zip(plain.sources, plain.targets, plain.kinds, strict=True)) == sorted(EDGES)
    assert len(looped.sources) == len(EDGES) - 1 + 14  # the published loop at node 6 stays one
    assert (looped.sources == looped.targets).sum() == 14
    assert sorted(zip(both.targets, both.sources, strict=True)) == sorted(zip(both.sources, both.targets, strict=True))
    assert len(both.sources) == 2 * len(EDGES)


def test_published_ensemble_named_runtime_never_answers_with_an_accuracy(tmp_path: Path) -> None:
    folder = write_ensemble(tmp_path / "lgb_runtime_v1.0", "lgb", [fit("lgb", 0)])
    with pytest.raises(InvalidOption, match="model of training times, but holds lgb, which predicts accuracies"):
        load_ensemble(folder)


def test_published_ensemble_copied_continues_with_the_same_noise(tmp_path: Path) -> None:
    ensemble = load_ensemble(write_ensemble(tmp_path / "xgb_v1.0", "xgb", [fit("xgb", seed) for seed in range(2)]))
    ensemble.predict(GENOTYPE, "genotype")
    copies = [pickle.loads(pickle.dumps(ensemble)), copy.deepcopy(ensemble)]
    expected = [ensemble.predict(GENOTYPE, "genotype") for _ in range(3)]
    assert len(set(expected)) == 3
    assert [[duplicate.predict(GENOTYPE, "genotype") for _ in range(3)] for duplicate in copies] == [expected] * 2


class RunsCode:
    def __reduce__(self) -> Any:
        return os.mkdir, ("ran",)


def test_published_models_run_nothing_and_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = former_booster("1.0.2")
    weights = saved(PublishedGIN(4, 2, seed=0), legacy=True)
    wrong = {
        "code": ("xgb", RunsCode(), "does not refer to"),
        "cut": ("xgb", whole[: len(whole) // 2], "not a whole pickle"),
        "list": ("lgb", [1, 2], "does not hold a lightgbm.basic.Booster"),
        "kind": ("svr", [1, 2], "of the published models nasbed reads xgb"),
        "text": ("lgb_time", whole, "does not refer to"),
        "wide": ("xgb", wide_booster(), "56 parameters"),
        "gin": ("gnn_gin", weights[:-8], "cut off"),
        "other": ("gnn_gin", saved(torch.nn.Linear(2, 2)), "not those of the published GIN"),
    }
    for name, (kind, model, reason) in wrong.items():
        folder = write_ensemble(tmp_path / name, kind, [model], **GIN_CONFIG)
        with pytest.raises(BadFile, match=reason) as caught:
            load_ensemble(folder)
        assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "ran").exists()
    folder = write_ensemble(tmp_path / "unseeded", "xgb", [whole])
    (folder / "ensemble_member_0" / "data_config.json").write_text("{}")
    with pytest.raises(BadFile, match="has no seed"):
        load_ensemble(folder)


def wide_booster() -> Any:
    rows = np.random.default_rng(0).normal(size=(50, 60))
    return xgboost.train({"max_depth": 1}, xgboost.DMatrix(rows, label=rows[:, 59]), num_boost_round=2)


def test_booster_buffer_whose_trees_lead_in_a_circle_is_refused() -> None:
    state = pickle.loads(former_booster("1.0.2").replace(b"xgboost.core\nBooster", b"types\nSimpleNamespace"))
    data = bytes(vars(state)["handle"])
    node = data.index(b"gbtree") + len("gbtree") + 160 + 148  # the root: parent, left, right
    circle = data[: node + 4] + bytes(4) + data[node + 8 :]
    with pytest.raises(BadFile, match="in a circle"):
        forest_from_buffer(circle)
    for end in range(20, node + 200, 7):
        with pytest.raises(BadFile):
            forest_from_buffer(data[:end])
