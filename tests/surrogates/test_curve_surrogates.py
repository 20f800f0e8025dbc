"""One surrogate over all fidelities, on trainings whose means, noise and correlations are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.benchmarks import SurrogateBenchmark
from nasbed.benchmarks.places import surrogate_paths, table_path
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.experiments.release import as_released
from nasbed.reports.fit.data import level_table
from nasbed.results import Results, Rows, TableInfo, write_results
from nasbed.results.curves import Curves
from nasbed.results.manifest import Manifest
from nasbed.surrogates.archive import pack, unpack
from nasbed.surrogates.artefact import Artefact, read_manifest
from nasbed.surrogates.artefact_manifest import FILE_NAME, ArtefactManifest
from nasbed.surrogates.curves.basis import CurveBasis
from nasbed.surrogates.curves.fit import fit_curves
from nasbed.surrogates.curves.model import CurveModel, time_shares
from nasbed.surrogates.ensemble import FitOptions
from nasbed.surrogates.examples import examples, examples_at_all_fidelities
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.random_streams import normals
from nasbed.surrogates.table_split import TableSplit
from support.surrogates import ACCURACY, QUICK, Ridge, true_mean

BUDGETS = (1, 3, 9)
SLOPES, STDS = np.array([0.5, 0.8, 1.0]), np.array([2.0, 1.0, 0.5])
CORRELATION = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.7], [0.2, 0.7, 1.0]])


def trainings(cells: int, *, seeds: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes, seeds, and accuracies at three budgets: linear in the operations, with normal noise."""
    rng = np.random.default_rng(4)
    codes = np.repeat(np.unique(rng.integers(5, size=(cells, 6)), axis=0), seeds, axis=0)
    noise = rng.normal(size=(len(codes), 3)) @ np.linalg.cholesky(CORRELATION).T * STDS
    return codes, np.tile(np.arange(seeds), len(codes) // seeds), true_mean(codes)[:, None] * SLOPES + noise


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Times are 1, 2 and 8 s, each off by up to the half: some longer trainings took less."""
    codes, seed, y = trainings(300)
    times = np.array([1.0, 2.0, 8.0]) * np.random.default_rng(1).uniform(0.5, 1.5, size=y.shape)
    batches = [
        Rows.of(
            codes,
            {ACCURACY.key: y[:, place]},
            fidelity=np.full(len(codes), budget),
            seed=seed,
            train_time_s=times[:, place],
        )
        for place, budget in enumerate(BUDGETS)
    ]
    return write_results(
        tmp_path_factory.mktemp("budgets") / "table", TableInfo("budgets", "nb201", (ACCURACY,)), batches
    )


@pytest.fixture(scope="module")
def artefact(table: Results) -> Artefact:
    return make_surrogate(TableSplit.of(table, all_fidelities=True), "lgb", members=2, settings=QUICK, variant="mf")


def test_basis_holds_curves_of_few_directions_exactly() -> None:
    rng = np.random.default_rng(0)
    curves = 60 + rng.normal(size=(50, 2)) @ rng.normal(size=(2, 12))
    basis = CurveBasis.of(curves, np.arange(50))
    assert len(basis) == 2
    np.testing.assert_allclose(np.array(basis.components) @ np.array(basis.components).T, np.eye(2), atol=1e-12)
    numbers = basis.coefficients(curves)
    for place in (0, 5, 11):
        values = basis.values(np.tile(numbers, 3), place)
        np.testing.assert_allclose(values, np.repeat(curves[:, place : place + 1], 3, axis=1), rtol=1e-10)
        assert basis.values_of_one(np.tile(numbers, 3)[7].tolist(), place) == values[7].tolist()
    assert CurveBasis.from_json(basis.to_json(), 12) == basis


def test_noise_and_correlation_are_those_of_the_trainings(table: Results) -> None:
    fitted = fit_curves(Ridge, table.space, examples_at_all_fidelities(table), FitOptions(members=3))
    codes = np.unique(trainings(300)[0], axis=0)
    for place, budget in enumerate(BUDGETS):
        prediction = fitted.curves.ensemble(fitted.models, budget).predict(codes)
        assert np.abs(prediction.mean - SLOPES[place] * true_mean(codes)).mean() < 0.5 * STDS[place]
        assert np.sqrt(np.mean(prediction.noise**2)) == pytest.approx(STDS[place], rel=0.1)
    np.testing.assert_allclose(np.array(fitted.curves.correlation), CORRELATION, atol=0.08)


def test_noisy_answers_of_one_seed_are_one_training(artefact: Artefact) -> None:
    benchmark = SurrogateBenchmark(artefact)
    assert artefact.curves is not None and benchmark.fidelities == BUDGETS
    codes = np.unique(np.random.default_rng(9).integers(5, size=(400, 6)), axis=0)
    archs = benchmark.space.architectures(codes)
    answers = np.array(
        [
            [benchmark.query_many(archs, fidelity=budget, seed=seed).column(ACCURACY) for budget in BUDGETS]
            for seed in range(12)
        ]
    )
    means = [benchmark.expected_many(archs, fidelity=budget).column(ACCURACY) for budget in BUDGETS]
    deviations = (answers - np.array(means)).transpose(1, 0, 2)
    for place, budget in enumerate(BUDGETS):
        noise = artefact.at(budget).predict(benchmark.space.canonical_codes(codes)).noise
        assert deviations[place].std() == pytest.approx(np.sqrt(np.mean(noise**2)), rel=0.05)
        single = [benchmark.query(arch, fidelity=budget, seed=5) for arch in archs[:20]]
        assert single == list(benchmark.query_many(archs[:20], fidelity=budget, seed=5))
        assert [answer.fidelity for answer in single] == [budget] * 20
    drawn = np.corrcoef(deviations.reshape(3, -1))
    np.testing.assert_allclose(drawn, np.array(artefact.curves.correlation), atol=0.06)
    np.testing.assert_allclose(drawn, CORRELATION, atol=0.12)


def test_streams_of_draws_are_independent() -> None:
    codes = np.unique(np.random.default_rng(0).integers(5, size=(4000, 6)), axis=0)
    draws = np.stack([normals(codes, seed, stream) for seed in (0, 1) for stream in range(4)])
    np.testing.assert_allclose(np.corrcoef(draws), np.eye(8), atol=4 / np.sqrt(len(codes)))


def test_longer_training_never_costs_less(artefact: Artefact) -> None:
    benchmark = SurrogateBenchmark(artefact)
    archs = [benchmark.space.sample(np.random.default_rng(seed)) for seed in range(50)]
    costs = np.array([benchmark.query_many(archs, fidelity=budget).cost_s for budget in BUDGETS])
    assert (np.diff(costs, axis=0) >= 0).all()
    np.testing.assert_allclose(costs[:2] / costs[2], np.array([[1 / 8], [2 / 8]]) * np.ones(50), rtol=0.15)
    assert time_shares(np.array([[5.0, 4.0, 9.0], [9.0, 8.0, 3.0]])) == (1.0, 1.0, 1.0)


def test_curve_surrogate_is_the_same_when_it_is_read_again(artefact: Artefact, tmp_path: Path) -> None:
    path = artefact.save(tmp_path / "all.snb")
    again = SurrogateBenchmark.open(path)
    archs = [again.space.sample(np.random.default_rng(seed)) for seed in range(5)]
    for budget in BUDGETS:
        answers = again.query_many(archs, fidelity=budget, seed=2)
        assert list(answers) == list(SurrogateBenchmark(artefact).query_many(archs, fidelity=budget, seed=2))
    levels = again.artefact.manifest.levels
    assert levels is not None and levels.fidelities == BUDGETS and again.artefact.manifest.member_count == 2
    assert levels.figures[-1]["r2"] == again.artefact.manifest.figures["r2"]
    assert "curves.json" in unpack(path.read_bytes(), "") and "noise.json" not in unpack(path.read_bytes(), "")
    assert path.read_bytes() == pack(again.artefact.files())


def test_report_has_a_row_for_each_fidelity(artefact: Artefact) -> None:
    lines = level_table(artefact.manifest)
    assert lines is not None and [row[0] for row in lines.rows] == ["1", "3", "9"]
    levels = artefact.manifest.levels
    assert levels is not None
    for std, figures in zip(STDS, levels.figures, strict=True):
        assert figures["noise_drawn"] == pytest.approx(std, rel=0.2)
        assert figures["noise_measured"] == pytest.approx(std, rel=0.2)
    (surrogate,) = [path for name, path in surrogate_paths().items() if name.startswith("snb-nb101-")]
    assert level_table(read_manifest(surrogate)) is not None
    assert level_table(read_manifest(surrogate_paths()["snb-darts-cifar10-16-lgb-v2.0"])) is None


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("time_shares", [0.5, 0.2, 1.0], "never fall"),
        ("correlation", [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "correlation matrix"),
        ("fidelities", [3, 1, 9], "rising fidelities"),
        ("basis", {"mean": [1.0], "std": [1.0], "components": [[1.0]]}, "3 finite numbers"),
    ],
)
def test_curves_that_no_fit_gives_are_refused(key: str, value: object, message: str, artefact: Artefact) -> None:
    assert artefact.curves is not None
    with pytest.raises(BadFile, match=message):
        CurveModel.from_json(artefact.curves.to_json() | {key: value})


def test_manifests_of_one_fidelity_keep_their_bytes() -> None:
    for name in ("snb-darts-cifar10-16-lgb-v2.0", "snb-fbnet-cifar10-16-xgb-rand-v1.0"):
        content = unpack(surrogate_paths()[name].read_bytes(), name)[FILE_NAME]
        assert ArtefactManifest.from_bytes(content, name).to_bytes() == content


def test_trainings_without_all_fidelities_are_left_out(tmp_path: Path) -> None:
    codes, seed, y = trainings(20, seeds=2)
    few = [np.flatnonzero(seed == 0), np.arange(len(codes))]
    batches = [
        Rows.of(codes[rows], {ACCURACY.key: y[rows, place]}, fidelity=np.full(len(rows), 1 + place), seed=seed[rows])
        for place, rows in enumerate(few)
    ]
    info = TableInfo("budgets", "nb201", (ACCURACY,))
    rows = examples_at_all_fidelities(write_results(tmp_path / "both", info, batches))
    assert rows.levels is not None and rows.levels.fidelities == (1, 2) and set(rows.seed.tolist()) == {0}
    np.testing.assert_array_equal(rows.levels.y, y[seed == 0][:, :2])
    apart = write_results(tmp_path / "apart", info, [batches[0], replace(batches[1], seed=seed + 7)])
    with pytest.raises(InvalidOption, match="no architecture of budgets has one seed at each of its fidelities 1, 2"):
        examples_at_all_fidelities(apart)
    with pytest.raises(InvalidOption, match="one fidelity or of all, got all and 2"):
        TableSplit.of(apart, fidelity=2, all_fidelities=True)
    with pytest.raises(InvalidOption, match="omit --all-fidelities"):
        examples_at_all_fidelities(write_results(tmp_path / "one", info, batches[:1]))


def curved(folder: Path, codes: np.ndarray, seed: np.ndarray, y: np.ndarray) -> Results:
    """A table of trainings of three epochs, 6 s each, with their learning curves."""
    rows = Rows.of(
        codes,
        {ACCURACY.key: y[:, 2]},
        fidelity=np.full(len(codes), 3),
        seed=seed,
        train_time_s=np.full(len(codes), 6.0),
    )
    curves = Curves.of(ACCURACY.key, codes, y.tolist(), fidelity=[3] * len(codes), seed=seed.tolist())
    return write_results(folder, TableInfo("curved", "nb201", (ACCURACY,)), [rows], curves=curves)


def test_surrogate_of_curves_knows_that_its_fidelities_are_one_training(artefact: Artefact, tmp_path: Path) -> None:
    split = TableSplit.of(curved(tmp_path / "table", *trainings(60, seeds=1)), all_fidelities=True)
    of_curves = make_surrogate(split, "lgb", members=2, settings=QUICK, variant="mf")
    assert SurrogateBenchmark(of_curves).is_one_training and not SurrogateBenchmark(artefact).is_one_training


def test_examples_have_the_epochs_of_learning_curves(tmp_path: Path) -> None:
    codes, seed, y = trainings(20)
    results = curved(tmp_path / "table", codes, seed, y)
    every = examples_at_all_fidelities(results)
    assert every.levels is not None and every.levels.fidelities == (1, 2, 3)
    np.testing.assert_array_equal(every.levels.y, y)
    np.testing.assert_array_equal(every.levels.cost_s, np.tile([2.0, 4.0, 6.0], (len(codes), 1)))
    second = examples(results, fidelity=2)
    np.testing.assert_array_equal(second.y, y[:, 1])
    assert examples(results).fidelity == 3


def test_released_table_keeps_its_manifest_when_only_notes_differ() -> None:
    released = Manifest.read(table_path("nb101-mini-cifar10-16-v1.0"))
    noted = replace(released, about=replace(released.about, notes="more is known now"))
    assert as_released(noted) == released
    other = replace(noted, about=replace(noted.about, citation="another"))
    assert as_released(other) == other
