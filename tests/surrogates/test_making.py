"""From a table to a surrogate in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed import Metric, space, space_from_configspace
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.results import Results, Rows, TableInfo, write_results
from nasbed.spaces.nb201 import NB201, NB201Skeleton
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.counted_costs import ExactCosts
from nasbed.surrogates.ensemble import fit_ensemble
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.scores import coverage
from support.surrogates import ACCURACY, PARAMETERS, QUICK, small_surrogate, write_evaluations

SMALL: dict[str, Any] = {"members": 2, "settings": {**QUICK, "rounds": 5}}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return write_evaluations(tmp_path_factory.mktemp("table"), count=200)


def test_making_says_where_the_surrogate_comes_from(tmp_path: Path) -> None:
    about = small_surrogate(tmp_path).manifest
    assert about.provenance["methods"].keys() == {"rs", "re"}
    assert about.provenance["rows"] + about.provenance["test_rows"] == 800
    assert about.provenance["seeds"] == [0, 1]
    assert len(about.provenance["table_manifest_sha256"]) == 64
    assert about.fidelity == 12
    assert about.exact == ("parameters", "multiply_adds")
    assert about.runtime is not None
    figures = {key for key, value in about.figures.items() if value is not None}
    assert figures >= {"r2", "kendall", "sparse_kendall", "mae", "mse", "coverage", "raw_coverage", "runtime_r2"}


def test_making_keeps_the_test_part_out_of_the_fit(results: Results) -> None:
    """Its architectures are a tenth, and the figures are the same whatever the test rows of the table are."""
    artefact = make_surrogate(results, "lgb", runtime=None, **SMALL)
    assert artefact.manifest.provenance["test_architectures"] == pytest.approx(20, abs=2)
    assert artefact.manifest.provenance["architectures"] == pytest.approx(180, abs=2)


def test_making_again_gives_the_same_files(results: Results) -> None:
    first, second = (make_surrogate(results, "lgb", seed=3, **SMALL).files() for _ in range(2))
    assert {name: first[name] for name in first if name != "manifest.json"} == {
        name: second[name] for name in second if name != "manifest.json"
    }


def test_making_from_some_methods_says_so(results: Results) -> None:
    about = make_surrogate(results, "lgb", methods=["rs"], variant="rand", runtime=None, **SMALL).manifest
    assert about.name == "snb-nb201-cifar10-lgb-rand-v1.0"
    assert about.provenance["methods"].keys() == {"rs"}
    assert about.runtime is None
    with pytest.raises(InvalidOption, match="did you mean rs"):
        make_surrogate(results, "lgb", methods=["rss"], **SMALL)


def test_making_fits_the_runtime_on_one_method(results: Results) -> None:
    all_methods, one_method = (
        make_surrogate(results, "lgb", runtime_method=name, **SMALL).runtime for name in (None, "re")
    )
    assert all_methods is not None
    assert one_method is not None
    assert all_methods.dump() != one_method.dump()


def test_runtime_of_trees_has_the_features_of_the_members_only_beside_trees() -> None:
    searched = space("nb201")
    settings = {"features": "onehot"}
    trees = SURROGATES.get("lgb")(searched, settings=settings)
    assert trees.joint_settings(SURROGATES.get("xgb")) == settings
    assert trees.joint_settings(SURROGATES.get("nusvr")) == {}
    assert SURROGATES.get("nusvr")(searched).joint_settings(SURROGATES.get("xgb")) == {}


def test_making_tells_its_progress(results: Results) -> None:
    shares: list[float] = []
    make_surrogate(results, "lgb", progress=shares.append, **SMALL)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_making_records_the_fidelity_that_it_was_fitted_at(tmp_path: Path) -> None:
    """Rows at 200 epochs diverged or lack the metric, so those at 10 are the highest that can be learned from."""
    codes = space("nb201").codes(list(space("nb201").enumerate())[:120])
    rng = np.random.default_rng(0)
    missing, accuracy = np.full(60, np.nan), rng.uniform(50, 90, 120)
    parameters = np.full(60, 1e6)
    rows = [
        Rows.of(codes, {ACCURACY.key: accuracy, PARAMETERS.key: np.full(120, 1e6)}, fidelity=10, seed=0),
        Rows.of(codes[:60], {ACCURACY.key: missing, PARAMETERS.key: parameters}, fidelity=200, seed=0),
        Rows.of(codes[60:], {ACCURACY.key: missing, PARAMETERS.key: missing}, fidelity=200, seed=0,
                status=np.ones(60, dtype=np.int8)),
    ]  # fmt: skip
    write_results(tmp_path / "table", TableInfo("gaps", "nb201", (ACCURACY, PARAMETERS), dataset="cifar10"), rows)
    artefact = make_surrogate(Results.open(tmp_path / "table"), "lgb", runtime=None, **SMALL)
    assert artefact.manifest.fidelity == 10
    benchmark = SurrogateBenchmark(artefact)
    assert benchmark.fidelities == (10,)
    assert benchmark.query(space("nb201").sample(rng)).fidelity == 10


def test_making_predicts_no_test_metric(results: Results) -> None:
    with pytest.raises(InvalidOption, match="validation metric"):
        make_surrogate(results, "lgb", metric=Metric("accuracy", split="test"))


def test_making_counts_only_what_the_table_confirms(tmp_path: Path) -> None:
    """Networks with other parameters than the space counts are not those that it counts for."""
    codes = space("nb201").codes([arch for arch, _ in zip(space("nb201").enumerate(), range(100), strict=False)])
    values = {ACCURACY.key: np.linspace(10, 90, 100), PARAMETERS.key: np.full(100, 7.0)}
    about = TableInfo("odd", "nb201", (ACCURACY, PARAMETERS), dataset="cifar10")
    results = write_results(tmp_path / "odd", about, [Rows.of(codes, values)])
    artefact = make_surrogate(results, "lgb", **SMALL)
    assert artefact.manifest.exact == ()
    assert artefact.manifest.runtime is None  # no time was recorded
    assert artefact.manifest.fidelity == -1


@pytest.mark.parametrize(
    ("dataset", "skeleton"),
    [
        ("cifar10", NB201Skeleton()),
        ("cifar100", NB201Skeleton(classes=100)),
        ("imagenet16-120", NB201Skeleton(classes=120, image=16)),
        ("something else", NB201Skeleton()),
    ],
)
def test_exact_costs_of_nb201_are_those_of_the_dataset(dataset: str, skeleton: NB201Skeleton) -> None:
    nb201 = NB201()
    codes = nb201.codes(list(nb201.enumerate()))
    counted = [nb201.parameters(codes, skeleton), nb201.multiply_adds(codes, skeleton)]
    assert ExactCosts(nb201, dataset)(codes).T.tolist() == [column.tolist() for column in counted]


def test_making_carries_a_space_of_ones_own(tmp_path: Path) -> None:
    from ConfigSpace import Categorical, ConfigurationSpace, Integer

    config = ConfigurationSpace()
    config.add(Categorical("op", ["a", "b", "c"]), Integer("depth", (1, 40)))
    own = space_from_configspace(config, "own")
    rng = np.random.default_rng(0)
    codes = own.codes([own.sample(rng) for _ in range(300)])
    values = {ACCURACY.key: 50 + codes[:, 0] + rng.normal(size=300)}
    results = write_results(
        tmp_path / "own", TableInfo("own", "own", (ACCURACY,)), [Rows.of(codes, values)], searched=own
    )
    saved = make_surrogate(results, "lgb", members=2, settings={**QUICK, "features": "config"}).save(tmp_path / "a.snb")
    loaded = Artefact.load(saved)
    assert loaded.manifest.name == "snb-own-own-lgb-v1.0"
    assert loaded.space.size == own.size
    assert np.isfinite(loaded.ensemble.predict(codes).std).all()


def test_ensemble_covers_nb101_evaluations(published_data: object) -> None:
    """A sixth of the 20 000 published cells, and another sixth that is held out."""
    data = np.load(published_data("nb101_20k.npz"))  # type: ignore[operator]
    nb101 = space("nb101")
    names = {-1: "input", -2: "output", 0: "conv3x3-bn-relu", 1: "conv1x1-bn-relu", 2: "maxpool3x3"}
    cells = []
    chosen = np.flatnonzero(data["val108"] > 0.5)[:7000]
    for adjacency, ops, count in zip(data["adj"][chosen], data["ops"][chosen], data["nv"][chosen], strict=True):
        cells.append(nb101.from_native((adjacency[:count, :count].tolist(), [names[int(op)] for op in ops[:count]])))
    cell_examples = Examples.plain(nb101.codes(cells), data["val108"][chosen])
    settings = {"learning_rate": 0.1, "rounds": 150, "feature_fraction": 0.5, "lambda_l2": 1.0, "features": "onehot"}
    ensemble = fit_ensemble("lgb", nb101, cell_examples.take(np.arange(3500)), members=4, settings=settings)
    new = cell_examples.take(np.arange(3500, 7000))
    predicted = ensemble.predict(new.codes)
    assert 0.85 <= coverage(new.y, predicted.mean, predicted.std) <= 0.95
    assert coverage(new.y, predicted.mean, predicted.spread) < 0.7
    better = new.y > np.median(new.y)
    assert 0.85 <= coverage(new.y[better], predicted.mean[better], predicted.std[better]) <= 0.96
