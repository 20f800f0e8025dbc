"""The noise of a table's repeats against noise that is known, and the same in every surrogate of a release."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nasbed
from nasbed.benchmarks import SurrogateBenchmark
from nasbed.benchmarks.places import surrogate_paths, table_path
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.experiments.campaign import Campaign, FunctionTrainer, Repeats, collect
from nasbed.experiments.release import ReleasePlan, TablePlan, release
from nasbed.results import Results, Rows, TableInfo, write_results
from nasbed.surrogates.archive import unpack
from nasbed.surrogates.artefact import NOISE
from nasbed.surrogates.examples import examples
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.noise import Curve, NoiseModel
from nasbed.surrogates.noise.repeats import FEWEST_ARCHITECTURES, RepeatNoise, learn_repeat_noise

Floats = NDArray[np.float64]
STD = 1.5
SURROGATES = ("snb-nb201-digits-8-lgb-v0.1", "snb-nb201-digits-8-lgb-rand-v0.1")


def repeated(std: Callable[[Floats], Floats], count: int = 400, seeds: int = 4) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    mean = rng.normal(66, 1.5, count)
    y = mean[:, None] + std(mean)[:, None] * rng.normal(size=(count, seeds))
    return y.ravel(), np.repeat(np.arange(count), seeds)


def learned(y: Floats, architecture: NDArray[np.int64]) -> RepeatNoise:
    noise = learn_repeat_noise(y, architecture)
    assert noise is not None
    return noise


def test_noise_that_is_the_same_everywhere_is_one_number() -> None:
    noise = learned(*repeated(lambda mean: np.full(len(mean), 0.7)))
    assert noise.shape == "constant" and noise.architectures == 400 and noise.evaluations == 1600
    assert noise.curve.std[0] == pytest.approx(0.7, rel=4 / np.sqrt(2 * 1200))  # four standard errors


def test_noise_that_falls_with_the_accuracy_is_followed_between_the_ends_of_the_evidence() -> None:
    noise = learned(*repeated(lambda mean: 0.8 * np.exp(-0.2 * (mean - 66))))
    assert noise.shape == "exponential"
    at = np.array([64.0, 66.0, 68.0])
    assert noise.curve(at) == pytest.approx(0.8 * np.exp(-0.2 * (at - 66)), rel=0.08)
    assert noise.curve(np.array([0.0]))[0] == noise.curve.std[0] == max(noise.curve.std)


def test_noise_in_the_middle_needs_the_broken_line() -> None:
    noise = learned(*repeated(lambda mean: np.where(np.abs(mean - 66) < 1, 1.5, 0.3)))
    assert noise.shape == "broken line"
    middle, outside = noise.curve(np.array([66.0]))[0], noise.curve(np.array([63.5]))[0]
    assert middle == pytest.approx(1.5, rel=0.2) and outside < 0.5


def test_trainings_that_collapsed_are_not_noise() -> None:
    y, architecture = repeated(lambda mean: np.full(len(mean), 0.7))
    y[::160] = 10.0  # ten of 1 600
    assert learned(y, architecture).curve(np.array([66.0]))[0] == pytest.approx(0.7, rel=0.1)


def test_few_repeats_give_no_noise_and_equal_ones_a_width() -> None:
    y, architecture = repeated(np.ones_like, FEWEST_ARCHITECTURES - 1)
    assert learn_repeat_noise(y, architecture) is None
    same = learned(np.repeat(np.arange(30.0), 2), np.repeat(np.arange(30), 2))
    assert 0 < same.curve.std[0] < 1e-6


@pytest.mark.parametrize(
    ("table", "shape"), [("darts-cifar10-16", "exponential"), ("fbnet-cifar10-16-v1.0", "constant")]
)
def test_embedded_tables_have_the_noise_of_their_repeats(table: str, shape: str) -> None:
    """Within a third of the accuracies, the curve is the root of the mean variance of its architectures."""
    results = Results.open(table_path(table))
    rows = examples(results)
    noise = learned(rows.y, rows.architecture)
    names, owner, count = np.unique(rows.architecture, return_inverse=True, return_counts=True)
    mean = np.bincount(owner, rows.y) / count
    variance = np.array([rows.y[owner == place].var(ddof=1) for place in np.flatnonzero(count > 1)])
    mean = mean[count > 1]
    assert noise.shape == shape and noise.architectures == len(variance) < len(names)
    for third in np.array_split(np.argsort(mean), 3):
        sampled = np.sqrt((noise.curve(mean[third]) ** 2).mean())
        freedom = len(third) * (count.max() - 1)
        assert sampled == pytest.approx(np.sqrt(variance[third].mean()), rel=3 / np.sqrt(2 * freedom))


def test_noise_model_is_stored_with_one_kind_of_repeats() -> None:
    own = NoiseModel(Curve((1.0,), (0.1,)), Curve((1.5,), (1 / 3,)), 0.7)
    shared = NoiseModel(Curve((1.0,), (0.1,)), scale=0.7, table_repeats=Curve((1.5, 2.0), (3.0, 1 / 3)))
    assert list(own.to_json()) == ["error", "repeats", "scale"], "as it was before tables had a noise"
    assert list(shared.to_json()) == ["error", "scale", "table_repeats"]
    for model in (own, shared):
        assert NoiseModel.from_json(json.loads(json.dumps(model.to_json()))) == model
    means, spreads = np.array([1.2, 1.9]), np.zeros(2)
    wide = shared.noise(means, shared.total(means, spreads))
    assert wide.tolist() == [3.0, shared.noise_of_one(1.9, 0.0)] and wide[1] > shared.total(means, spreads)[1]
    with pytest.raises(BadFile, match="one without"):
        NoiseModel.from_json({"error": own.to_json()["error"], "scale": 1.0})


def test_embedded_surrogates_sample_one_noise_of_the_repeats_or_keep_their_own() -> None:
    embedded = [path for path in surrogate_paths().values() if path.is_relative_to(Path(nasbed.__file__).parent)]
    shared = []
    for path in embedded:
        content = unpack(path.read_bytes(), str(path)).get(NOISE)
        assert (content is None) == ("-mf-" in path.name), "those of all fidelities have a noise for each"
        if content is not None:
            model = NoiseModel.from_json(json.loads(content))
            assert (json.dumps(model.to_json(), indent=1) + "\n").encode() == content
            if model.table_repeats is not None:
                shared.append((path.name, model.table_repeats))
    assert all(name.startswith("snb-darts-") for name, _ in shared)
    of_one_table = [noise for name, noise in shared if "cifar10-16" in name]
    assert len(of_one_table) == 6 and len(shared) == 7 and all(noise == of_one_table[0] for noise in of_one_table)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with 60 architectures of five seeds each, and its surrogates."""
    folder = tmp_path_factory.mktemp("noise")

    def accuracy(arch: nasbed.Architecture, fidelity: int, seed: int) -> dict[str, float]:
        draw = np.random.default_rng([seed, *arch.code]).normal()
        return {"validation_accuracy": 50.0 + sum(arch.code) + STD * draw, "train_time_s": 1.0}

    metrics = (nasbed.Metric("accuracy", split="validation", bounds=(0, 100)),)
    trainer = FunctionTrainer(accuracy, "nb201", metrics=metrics, dataset="digits@8")
    campaign = Campaign("cells", trials=150, shares={"rs": 0.6, "re": 0.4}, repeats=Repeats(60, 5, None))
    collect(campaign, trainer, folder / "cells.sqlite")
    settings = {"rounds": 20, "num_leaves": 8, "features": "onehot"}
    plan = ReleasePlan("0.1", (TablePlan("cells", ("cells.sqlite",), {"lgb": settings}),), members=2)
    release(plan, folder, folder / "home")
    return folder / "home"


def test_a_release_samples_one_noise_from_all_and_from_random_search(released: Path) -> None:
    full, rand = (SurrogateBenchmark.open(released / "surrogates" / f"{name}.snb") for name in SURROGATES)
    curve = full.artefact.ensemble.noise.table_repeats
    assert curve is not None and curve == rand.artefact.ensemble.noise.table_repeats
    assert curve.std == pytest.approx((STD,), rel=4 / np.sqrt(2 * 40 * 4))
    facts = full.artefact.manifest.provenance
    assert facts["table_noise"] == rand.artefact.manifest.provenance["table_noise"]
    assert facts["table_noise"]["shape"] == "constant" and facts["methods"].keys() == {"rs", "re", "repeats"}
    arch = nasbed.space("nb201").sample(np.random.default_rng(0))
    for benchmark in (full, rand):
        drawn = [benchmark.query(arch, seed=seed).values[benchmark.objective] for seed in range(400)]
        assert np.std(drawn) == pytest.approx(curve.std[0], rel=4 / np.sqrt(800))


def test_ensemble_noise_is_of_each_fit_its_own_and_unknown_ones_are_refused(released: Path, tmp_path: Path) -> None:
    results = Results.open(released / "tables" / "cells")
    quick: dict[str, Any] = {"members": 2, "settings": {"rounds": 5, "features": "onehot"}, "runtime": None}
    full, rand = (make_surrogate(results, "lgb", methods=names, noise="ensemble", **quick) for names in (None, ["rs"]))
    assert full.ensemble.noise.table_repeats is rand.ensemble.noise.table_repeats is None
    assert full.ensemble.noise.repeats is not None and rand.ensemble.noise.repeats is None
    with pytest.raises(InvalidOption, match="did you mean repeats"):
        make_surrogate(results, "lgb", noise="repeat", **quick)
    # random search repeats nothing by itself: of its evaluations alone there is no such noise
    alone = results.space.codes(list(results.space.enumerate())[:60])
    metric = results.about.metrics[0]
    rows = Rows.of(alone, {metric.key: np.linspace(50, 70, 60)}, method="rs")
    about = TableInfo("once", "nb201", (metric,), dataset="digits@8")
    once = write_results(tmp_path / "once", about, [rows])
    with pytest.raises(InvalidOption, match="once has fewer; choose the noise ensemble"):
        make_surrogate(once, "lgb", noise="repeats", **quick)
