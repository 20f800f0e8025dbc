"""Surrogate benchmarks behind the query that tables answer too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import nasbed
from nasbed import Architecture, space
from nasbed.benchmarks import NoiseFree, SurrogateBenchmark, cards
from nasbed.benchmarks.catalog import card
from nasbed.core.errors import InvalidArchitecture, InvalidOption, TooLarge, UnknownName
from nasbed.core.execution import SerialEngine
from nasbed.core.home import surrogates_folder
from nasbed.evaluation.judging import judge
from nasbed.experiments.compare import compare
from nasbed.surrogates.ensemble import Ensemble
from nasbed.surrogates.noise import Curve, NoiseModel
from support.examples import examples
from support.surrogates import small_surrogate

NB201 = space("nb201")
CELLS = st.tuples(*[st.integers(0, 4)] * 6).map(lambda code: Architecture("nb201", code))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("surrogate-benchmark")


@pytest.fixture(scope="module")
def benchmark(home: Path) -> SurrogateBenchmark:
    return SurrogateBenchmark(small_surrogate(home))


@pytest.fixture
def installed(benchmark: SurrogateBenchmark) -> Iterator[Path]:
    path = benchmark.artefact.save(surrogates_folder() / f"{benchmark.name}.snb")
    yield path
    path.unlink()


@examples(20)
@given(archs=st.lists(CELLS, min_size=1, max_size=8), seed=st.integers(0, 2**40))
def test_surrogate_answers_one_as_it_answers_many(
    benchmark: SurrogateBenchmark, archs: list[Architecture], seed: int
) -> None:
    for queried in (benchmark, NoiseFree(benchmark)):
        assert list(queried.query_many(archs, seed=seed)) == [queried.query(arch, seed=seed) for arch in archs]


def test_surrogate_answers_all_of_nb201_alike_in_any_batch(benchmark: SurrogateBenchmark) -> None:
    archs = list(NB201.enumerate())[::40]
    batch = benchmark.query_many(archs, seed=7)
    halves = [benchmark.query_many(part, seed=7) for part in (archs[:100], archs[100:])]
    assert batch.column("validation_accuracy").tolist() == [
        value for half in halves for value in half.column("validation_accuracy").tolist()
    ]


def test_surrogate_seeds_differ_and_repeat(benchmark: SurrogateBenchmark) -> None:
    arch = Architecture("nb201", (3, 0, 1, 2, 4, 3))
    values = [benchmark.query(arch, seed=seed)["validation_accuracy"] for seed in range(50)]
    assert len(set(values)) == 50
    assert values == [benchmark.query(arch, seed=seed)["validation_accuracy"] for seed in range(50)]


def test_surrogate_draws_have_the_predicted_distribution(benchmark: SurrogateBenchmark) -> None:
    arch = Architecture("nb201", (3, 0, 1, 2, 4, 3))
    prediction = benchmark.artefact.ensemble.predict(NB201.codes([arch]))
    drawn = [benchmark.query(arch, seed=seed)["validation_accuracy"] for seed in range(600)]
    assert stats.kstest(drawn, "norm", (float(prediction.mean[0]), float(prediction.noise[0]))).pvalue > 0.001
    codes = NB201.codes(list(NB201.enumerate())[::7])
    prediction = benchmark.artefact.ensemble.predict(codes)
    over_cells = (
        benchmark.query_many(codes, seed=1).column("validation_accuracy") - prediction.mean
    ) / prediction.noise
    assert stats.kstest(over_cells, "norm").pvalue > 0.001


def test_surrogate_has_exact_costs_and_a_time(benchmark: SurrogateBenchmark) -> None:
    arch = Architecture("nb201", (3, 0, 1, 2, 4, 3))
    observation = benchmark.query(arch)
    costs = NB201.properties([arch])
    assert observation["parameters"] == costs["parameters"][0]
    assert observation["multiply_adds"] == costs["multiply_adds"][0]
    assert observation.cost_s is not None
    assert 0 < observation.cost_s < 3
    assert observation.fidelity == 12
    assert [metric.key for metric in benchmark.metrics] == ["validation_accuracy", "parameters", "multiply_adds"]


def test_surrogate_noise_free_is_the_mean(benchmark: SurrogateBenchmark) -> None:
    arch = Architecture("nb201", (3, 0, 1, 2, 4, 3))
    mean = float(benchmark.artefact.ensemble.predict(NB201.codes([arch])).mean[0])
    quiet = NoiseFree(benchmark)
    assert quiet.query(arch, seed=1)["validation_accuracy"] == mean
    assert quiet.query(arch, seed=2) == quiet.query(arch, seed=3)
    assert quiet.query(arch).cost_s == benchmark.query(arch).cost_s


@pytest.mark.parametrize(
    "arch",
    [
        Architecture("nb101", (3, 0, 1, 2, 4, 3)),
        Architecture("nb201", (5, 0, 0, 0, 0, 0)),
        Architecture("nb201", (0, 0)),
        Architecture("transnas-micro", (0,) * 6),
    ],
)
def test_surrogate_refuses_foreign_architectures(benchmark: SurrogateBenchmark, arch: Architecture) -> None:
    for ask in (benchmark.query, NoiseFree(benchmark).query):
        with pytest.raises(InvalidArchitecture, match=r"nb201"):
            ask(arch)
    for ask_many in (benchmark.query_many, NoiseFree(benchmark).query_many):
        with pytest.raises(InvalidArchitecture, match=r"nb201"):
            ask_many([arch])


def test_surrogate_refuses_other_fidelities(benchmark: SurrogateBenchmark) -> None:
    for ask in (benchmark.query, benchmark.expected):
        with pytest.raises(InvalidOption, match="fidelities 12"):
            ask(Architecture("nb201", (0,) * 6), fidelity=200)


def test_surrogate_stays_within_bounds(benchmark: SurrogateBenchmark) -> None:
    """However wide the noise, and with nothing piled up at the bound."""
    artefact = benchmark.artefact
    wild = NoiseModel(Curve((0.0,), (60.0,)))
    noisy = SurrogateBenchmark(type(artefact)(artefact.manifest, Ensemble(artefact.ensemble.members, wild)))
    values = noisy.query_many(NB201.codes(list(NB201.enumerate())[::5]), seed=2).column("validation_accuracy")
    assert values.min() >= 0
    assert values.max() <= 100
    assert np.mean((values == 0) | (values == 100)) < 0.1
    assert noisy.query(Architecture("nb201", (0,) * 6)).cost_s is None  # made without a runtime


def test_surrogate_answers_isomorphic_cells_alike(home: Path) -> None:
    nb101 = space("nb101")
    surrogate = SurrogateBenchmark(small_surrogate(home, "nb101"))
    cell = nb101.parse("conv1x1:0/conv3x3:0/output:1,2")
    isomorphic = nb101.parse("conv3x3:0/conv1x1:0/output:1,2")
    assert cell != isomorphic
    first, second = surrogate.query(cell, seed=4), surrogate.query(isomorphic, seed=4)
    assert first.values == second.values
    assert first.cost_s == second.cost_s
    assert surrogate.query_many([isomorphic], seed=4)[0].values == first.values


def test_surrogate_optimum_is_the_best_mean(benchmark: SurrogateBenchmark) -> None:
    best, value = benchmark.optimum()
    means = benchmark.expected_many(list(NB201.enumerate())).column("validation_accuracy")
    assert value == means.max()
    assert benchmark.expected(best)["validation_accuracy"] == value
    with pytest.raises(InvalidOption, match="no test metric"):
        benchmark.mean_test([best])


def test_surrogate_of_a_large_space_has_no_optimum_to_find(home: Path, tmp_path: Path) -> None:
    surrogate = SurrogateBenchmark(small_surrogate(home, "darts"))
    with pytest.raises(TooLarge, match="best that was found"):
        surrogate.optimum()
    path = str(surrogate.artefact.save(tmp_path / "darts"))
    runs = compare(path, ["rs"], seeds=2, budget="20ev", out=tmp_path / "runs", engine=SerialEngine())
    judged = judge(runs, surrogate)
    final = [trajectory.test_regret[-1] for trajectory in judged.trajectories]
    assert judged.judge == surrogate.objective
    assert min(min(trajectory.test_regret) for trajectory in judged.trajectories) == 0
    assert min(final) >= 0


def test_surrogate_runs_are_judged_without_noise(benchmark: SurrogateBenchmark, tmp_path: Path) -> None:
    path = str(benchmark.artefact.save(tmp_path / "nb201"))
    runs = compare(path, ["rs", "re"], seeds=2, budget="60ev", out=tmp_path / "runs", engine=SerialEngine())
    judged = judge(runs, benchmark)
    assert judged.test_best == benchmark.optimum()[1]
    for trajectory in judged.trajectories:
        assert (trajectory.test_regret >= 0).all()
    quiet = judge(runs, NoiseFree(benchmark))
    assert quiet.test_best == judged.test_best


def test_load_opens_surrogates(benchmark: SurrogateBenchmark, installed: Path, tmp_path: Path) -> None:
    folder = benchmark.artefact.save(tmp_path / "here")
    arch = Architecture("nb201", (3, 0, 1, 2, 4, 3))
    for name in (benchmark.name, installed, str(installed), folder, str(folder)):
        surrogate = nasbed.load(name)
        assert isinstance(surrogate, SurrogateBenchmark)
        assert surrogate.query(arch, seed=5) == benchmark.query(arch, seed=5)
    with pytest.raises(UnknownName, match=r"did you mean snb-nb201-cifar10-lgb-v1\.0"):
        nasbed.load("snb-nb201-cifar10-lgb-v1.1")


def test_cards_list_surrogates(benchmark: SurrogateBenchmark, installed: Path) -> None:
    entry = card(benchmark.name)
    assert entry in cards()
    assert entry.present
    assert entry.what == "surrogate: 3 × lgb on cifar10, fitted on 356 architectures"
    assert (entry.architectures, entry.fitted_on) == (15_625, 356)
    assert entry.metrics == ("validation_accuracy", "parameters", "multiply_adds")
    assert (entry.space, entry.fidelities, entry.licence) == ("nb201", (12,), "none")
