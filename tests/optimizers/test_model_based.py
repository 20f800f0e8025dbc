"""Methods that model what they have seen: Hyperband, kernel densities, BANANAS, and the two packages behind tpe and smac."""

from __future__ import annotations

import gc
import inspect
import math
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ConfigSpace import (
    CategoricalHyperparameter,
    ConfigurationSpace,
    EqualsCondition,
    UniformFloatHyperparameter,
    UniformIntegerHyperparameter,
)
from scipy.integrate import quad
from scipy.stats import norm, skew, wilcoxon

from nasbed import Architecture, Metric, Observation, Status, space
from nasbed.core.errors import InvalidOption
from nasbed.optimizers import OPTIMIZERS, Optimizer, Problem
from nasbed.optimizers.archive import ProposalArchive
from nasbed.optimizers.hebo import log_improvement, more_normal
from nasbed.optimizers.hyperband import budgets_of, schedules
from nasbed.optimizers.models.density import Density, fill_gaps
from nasbed.optimizers.models.perceptrons import Perceptrons
from nasbed.optimizers.smac import SMAC
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.from_configspace import space_from_configspace
from nasbed.testing.optimizers import measured, problem_on

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
METHODS = ("hb", "kde", "bohb", "bananas", "tpe", "smac", "hebo")
REPEATING = ("tpe",)
"""Methods that may propose an architecture again."""
QUICK: dict[str, dict[str, Any]] = {
    "bananas": {"initial": 10, "epochs": 20, "layers": 3, "width": 10},
    "hebo": {"trees": 5, "population_size": 20, "generations": 3},
    "smac": {"initial_per_parameter": 1, "challengers": 50, "local_search_iterations": 1},
}
BAD_DENSITIES: dict[str, Any] = {
    "good": 1.0,
    "samples": 0,
    "random_fraction": -0.1,
    "min_points": 0,
    "bandwidth_factor": 0,
    "min_bandwidth": 0.9,
}
SLOW = ("hebo", "smac", "tpe")
"""Methods whose models are slow whatever their settings."""
Score = Callable[[Architecture], float | None]


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    package = {"tpe": "optuna", "smac": "smac"}.get(request.param)
    if package:
        pytest.importorskip(package, reason=f"{request.param} is the package {package}, an extra")
    return str(request.param)


def make(method: str, where: SearchSpace, seed: int, *, fidelities: tuple[int, ...] = (200,)) -> Optimizer:
    problem = Problem(where, ACCURACY, fidelities)
    return OPTIMIZERS.get(method)(problem, np.random.default_rng(seed), **QUICK.get(method, {}))


def additive(seed: int) -> Score:
    """A landscape on nb201: every edge's operation adds its share to the accuracy."""
    gains = np.random.default_rng(seed).random((6, 5)) * 100 / 6
    return lambda arch: float(gains[range(6), arch.code].sum())


def count_of(method: str) -> int:
    """Evaluations that the model mostly proposes."""
    return 24 if method in SLOW else 40


def answer(arch: Architecture, fidelity: int | None, score: Score) -> Observation:
    value = score(arch)
    if value is None:
        return Observation(arch, fidelity=fidelity, status=Status.FAILED)
    return Observation(arch, {ACCURACY: value}, fidelity=fidelity)


def search(optimizer: Optimizer, score: Score, count: int, *, batch: int = 1) -> list[Observation]:
    """Ask in batches and tell the answers one by one, the last first."""
    history: list[Observation] = []
    while len(history) < count:
        proposals = optimizer.ask(min(batch, count - len(history)))
        for proposal in reversed(proposals):
            optimizer.space.validate(proposal.architecture)
            history.append(answer(proposal.architecture, proposal.fidelity, score))
            optimizer.tell(history[-1:])
    return history


# --- Hyperband -----------------------------------------------------------------------------------------------------------


def test_hyperband_has_the_published_brackets() -> None:
    """Li et al. (2018), table 1: R = 81, eta = 3."""
    assert schedules((1, 3, 9, 27, 81), 3) == (
        ((81, 1), (27, 3), (9, 9), (3, 27), (1, 81)),
        ((27, 3), (9, 9), (3, 27), (1, 81)),
        ((9, 9), (3, 27), (1, 81)),
        ((6, 27), (2, 81)),
        ((5, 81),),
    )


def test_hyperband_takes_the_budgets_of_nas_bench_101() -> None:
    assert budgets_of((4, 12, 36, 108), 3) == (4, 12, 36, 108)
    assert budgets_of((12, 200), 3) == (12, 200)


@pytest.mark.parametrize("method", ["hb", "bohb"])
@pytest.mark.parametrize(("lowest", "rungs"), [(None, {1}), (4, {4}), (37, {108}), (500, {108})])
def test_hyperband_starts_at_its_lowest_fidelity(method: str, lowest: int | None, rungs: set[int]) -> None:
    """The scripts of NAS-Bench-101 have min_budget 4; 37 and 108 are less than a factor of three apart."""
    problem = Problem(space("nb201"), ACCURACY, (1, 4, 12, 37, 108))
    settings: dict[str, Any] = {"lowest_fidelity": lowest}
    optimizer = OPTIMIZERS.get(method)(problem, np.random.default_rng(0), **settings)
    assert {proposal.fidelity for proposal in optimizer.ask(4)} == rungs


def test_hyperband_promotes_the_best_third() -> None:
    optimizer, score = make("hb", space("nb201"), 0, fidelities=(1, 3, 9)), additive(0)
    history = search(optimizer, score, 13)
    rungs = [[trial for trial in history if trial.fidelity == budget] for budget in (1, 3, 9)]
    assert [len(rung) for rung in rungs] == [9, 3, 1]
    for lower, upper in pairwise(rungs):
        best = sorted((trial["validation_accuracy"] for trial in lower), reverse=True)[: len(upper)]
        assert sorted((trial["validation_accuracy"] for trial in upper), reverse=True) == best


def test_hyperband_opens_the_next_bracket_rather_than_wait() -> None:
    proposals = make("hb", space("nb201"), 0, fidelities=(1, 3, 9)).ask(15)
    assert [proposal.fidelity for proposal in proposals] == [1] * 9 + [3] * 3 + [9] * 3


def test_hyperband_never_promotes_what_failed() -> None:
    history = search(make("hb", space("nb201"), 0, fidelities=(1, 3, 9)), lambda arch: None, 60)
    assert {trial.fidelity for trial in history[:9]} == {1}
    assert len({trial.architecture for trial in history}) == len(history)


# --- kernel densities -----------------------------------------------------------------------------------------------------


def test_density_is_the_mean_of_product_kernels() -> None:
    """Against the formula term by term: Gaussian for a number, Aitchison & Aitken (1976) for options."""
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.random(7), rng.integers(3, size=7), rng.integers(2, size=7)])
    points = np.column_stack([rng.random(5), rng.integers(3, size=5), rng.integers(2, size=5)])
    density = Density(data, np.array([0, 3, 2]), np.array([0.2, 0.4, 0.1]))
    for point, log_density in zip(points, density.log_density(points), strict=True):
        total = 0.0
        for row in data:
            kernel = norm.pdf(point[0], row[0], 0.2)
            kernel *= 0.6 if point[1] == row[1] else 0.4 / 2
            kernel *= 0.9 if point[2] == row[2] else 0.1 / 1
            total += kernel / len(data)
        assert log_density == pytest.approx(np.log(total))


def test_density_of_options_sums_to_one() -> None:
    data = np.random.default_rng(0).integers((3, 4), size=(20, 2)).astype(float)
    grid = np.array([(a, b) for a in range(3) for b in range(4)], dtype=float)
    density = Density.fit(data, np.array([3, 4]), min_bandwidth=1e-3)
    assert np.exp(density.log_density(grid)).sum() == pytest.approx(1)


def test_density_samples_options_by_its_own_kernel() -> None:
    """Around one point: kept, or with the bandwidth's probability any of the four."""
    density = Density(np.array([[2.0]]), np.array([4]), np.array([0.4]))
    drawn = density.sample(20_000, np.random.default_rng(0), factor=3)[:, 0]
    assert np.bincount(drawn.astype(int)) / len(drawn) == pytest.approx([0.1, 0.1, 0.7, 0.1], abs=0.01)


def test_density_does_not_depend_on_how_options_are_numbered() -> None:
    data = np.random.default_rng(0).integers(5, size=(30, 1)).astype(float)
    turned = (data + 2) % 5
    original, renumbered = (Density.fit(rows, np.array([5]), min_bandwidth=1e-3) for rows in (data, turned))
    assert original.bandwidth == pytest.approx(renumbered.bandwidth)


def test_density_has_the_bandwidths_of_the_normal_reference_rule() -> None:
    """1.06 σ n^(-1/(4+d)) for numbers and for two options, as in statsmodels; never flatter than flat."""
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.random(50), rng.integers(2, size=50), rng.integers(8, size=50)])
    density = Density.fit(data, np.array([0, 2, 8]), min_bandwidth=1e-3)
    assert density.bandwidth[:2] == pytest.approx(1.06 * data[:, :2].std(axis=0) * 50 ** (-1 / 7))
    narrow = Density.fit(data[:2], np.array([0, 2, 8]), min_bandwidth=1e-3)
    assert narrow.bandwidth[1] <= 1 / 2 and narrow.bandwidth[2] <= 7 / 8
    assert Density.fit(np.zeros((9, 2)), np.array([0, 3]), min_bandwidth=0.01).bandwidth.tolist() == [0.01, 0.01]


def test_gaps_are_filled_from_rows_that_have_the_parameter() -> None:
    """Columns two and three go together: what fills a row comes from one row. No row has the last."""
    gap, rng = math.nan, np.random.default_rng(0)
    rows = np.array([[0, 1, 1, gap], [1, 2, 2, gap], [2, gap, gap, gap], [3, gap, gap, gap], [4, gap, 5, gap]])
    for _ in range(50):
        full = fill_gaps(rows, np.array([5, 3, 6, 4]), rng)
        assert not np.isnan(full).any() and (full[~np.isnan(rows)] == rows[~np.isnan(rows)]).all()
        assert (full[:4, 1] == full[:4, 2]).all() and set(full[:, 1]) == {1, 2}
        assert set(full[:, 3]) <= {0, 1, 2, 3}


@pytest.mark.parametrize("method", ["kde", "bohb"])
@pytest.mark.parametrize(("min_points", "first"), [(None, 14), (3, 14), (20, 27)])
def test_model_is_used_from_the_evaluation_on_that_makes_both_densities(
    method: str, min_points: int | None, first: int
) -> None:
    """HpBandSter: max(d + 1, min_points) good ones and d + 1 others, here of d = 6 parameters."""
    problem = Problem(space("nb201"), ACCURACY, (200,))
    settings: dict[str, Any] = {"random_fraction": 0.0, "min_points": min_points}
    optimizer = OPTIMIZERS.get(method)(problem, np.random.default_rng(0), **settings)
    twin, start_rng = ProposalArchive(space("nb201")), np.random.default_rng(0)
    for index in range(first + 1):
        arch = optimizer.ask()[0].architecture
        assert (arch == twin.sample(start_rng)) == (index < first)
        optimizer.tell([answer(arch, 200, additive(0))])


def test_bohb_is_kde_where_there_is_one_fidelity() -> None:
    codes = [
        [trial.architecture for trial in search(make(method, space("nb201"), 3), additive(3), 60)]
        for method in ("kde", "bohb")
    ]
    assert codes[0] == codes[1]


# --- Optuna's TPE ---------------------------------------------------------------------------------------------------------


def test_tpe_is_optuna() -> None:
    """The same proposals, repetitions included, as a study over the six edges that is minimised by hand."""
    optuna = pytest.importorskip("optuna", reason="tpe is the package optuna, an extra")
    nb201, score = space("nb201"), additive(0)
    history = search(make("tpe", nb201, 0), score, 120)
    seed = int(np.random.default_rng(0).integers(2**31))
    source: Any = nb201.configspace()
    names = list(source)
    choices = [tuple(source[name].choices) for name in names]

    def objective(trial: Any) -> float:
        picked = [
            trial.suggest_categorical(name, range(len(options))) for name, options in zip(names, choices, strict=True)
        ]
        config = {name: options[index] for name, options, index in zip(names, choices, picked, strict=True)}
        return -float(score(nb201.from_config(config)) or 0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
        )
        study.optimize(objective, n_trials=120)
    assert [-trial.value for trial in study.trials] == [trial["validation_accuracy"] for trial in history]
    assert len({trial.architecture for trial in history}) < 120


# --- SMAC and HEBO -----------------------------------------------------------------------------------------------------------------


def test_smac_evaluates_incumbents_again_and_poor_challengers_once() -> None:
    """NAS-Bench-101, section 4.1: SMAC evaluates the same architecture several times, in its scripts up to four. Without
    noise, one that is worse than the incumbent at first is never evaluated again, and a final incumbent is four times."""
    pytest.importorskip("smac", reason="needs smac")
    settings = {**QUICK["smac"], "initial_per_parameter": 0, "max_evaluations": 4}
    smac = SMAC(problem_on(space("nb201")), np.random.default_rng(1), **settings)
    values: dict[Architecture, list[float]] = {}
    incumbents: list[Architecture] = []
    for _ in range(30):
        (proposal,) = smac.ask(1)
        arch, observation = proposal.architecture, measured(proposal)
        accuracy = observation["validation_accuracy"]
        if arch not in values and (not incumbents or accuracy > values[incumbents[-1]][0]):
            incumbents.append(arch)
        values.setdefault(arch, []).append(accuracy)
        smac.tell([observation])
    counts = {arch: len(evaluations) for arch, evaluations in values.items()}
    assert {arch for arch, count in counts.items() if count > 1} <= set(incumbents)
    assert max(counts.values()) == counts[incumbents[-1]] == 4
    assert len(counts) > 10


def test_smac_does_not_take_a_configuration_that_crashed_first_for_the_best() -> None:
    """Most configurations of nb101 are no cells. Were one that comes before any loss given a guess of 1, below every
    real loss, it would stay the incumbent, and nothing would be evaluated again."""
    pytest.importorskip("smac", reason="needs smac")
    nb101, first_crashed = space("nb101"), 0
    settings = {**QUICK["smac"], "initial_per_parameter": 0, "max_evaluations": 4}
    for seed in range(4):
        smac = SMAC(problem_on(nb101), np.random.default_rng(seed), **settings)
        first_crashed += bool(smac.ask(1) and smac._crashed)
        smac = SMAC(problem_on(nb101), np.random.default_rng(seed), **settings)
        cells = []
        for _ in range(10):
            (proposal,) = smac.ask(1)
            cells.append(nb101.canonical(proposal.architecture))
            smac.tell([measured(proposal)])
        assert len(set(cells)) < 10, seed
    assert first_crashed


def smac_proposals() -> list[tuple[int, ...]]:
    smac = SMAC(problem_on(space("nb201")), np.random.default_rng(3), initial_per_parameter=1, challengers=50)
    codes = []
    for _ in range(12):
        (proposal,) = smac.ask(1)
        smac.tell([measured(proposal)])
        codes.append(proposal.architecture.code)
    return codes


@pytest.mark.thorough
def test_smac_repeats_itself_in_processes_that_hash_otherwise() -> None:
    """Its package takes starts from a set, whose order follows Python's hashes."""
    pytest.importorskip("smac", reason="needs smac")
    hashes = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    code = (
        "import numpy as np\nfrom nasbed import space\nfrom nasbed.optimizers.smac import SMAC\n"
        "from nasbed.testing.optimizers import measured, problem_on\n"
        f"{inspect.getsource(smac_proposals)}\nprint(smac_proposals())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hashes}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.strip() == str(smac_proposals())


def test_log_improvement_is_the_integral() -> None:
    """Of the expectation of max(0, z + x) for a standard normal x, by quadrature; within 1 % in the far tail."""
    for z in (3.0, 0.5, 0.0, -1.0, -4.0, -5.9, -6.1, -8.0, -15.0):
        scaled, _ = quad(lambda t, z=z: t * math.exp(-0.5 * t**2 + z * t), 0, math.inf)
        exact = math.log(scaled) - 0.5 * z**2 - 0.5 * math.log(2 * math.pi)
        assert float(log_improvement(np.array([z]))[0]) == pytest.approx(exact, abs=1e-6 if z > -6 else 0.01)


def test_more_normal_is_standard_keeps_the_order_and_takes_anything() -> None:
    errors = np.exp(np.random.default_rng(0).normal(size=200))
    for losses in (errors, errors - 1):
        changed = more_normal(losses)
        assert (np.argsort(changed) == np.argsort(losses)).all()
        assert changed.mean() == pytest.approx(0, abs=1e-9) and changed.std() == pytest.approx(1)
    assert abs(skew(more_normal(errors))) < 0.1 < skew(errors)
    assert more_normal(np.full(5, 3.0)).tolist() == [3.0] * 5


def test_hebo_starts_with_one_random_architecture_more_than_there_are_parameters() -> None:
    """And takes from the forest from then on: on a landscape of one edge, what it proposes has the best operation."""
    optimizer = make("hebo", space("nb201"), 0)
    history = search(optimizer, lambda arch: 10.0 * arch.code[0], 30)
    archive, start_rng = ProposalArchive(space("nb201")), np.random.default_rng(0)
    assert [trial.architecture for trial in history[:7]] == [archive.sample(start_rng) for _ in range(7)]
    assert np.mean([trial.architecture.code[0] == 4 for trial in history[20:]]) > 0.8


# --- networks -------------------------------------------------------------------------------------------------------------


def test_perceptrons_learn_a_sum() -> None:
    rng = np.random.default_rng(0)
    features = rng.integers(2, size=(400, 8)).astype(np.float32)
    targets = 5 + features @ np.arange(8.0)
    networks = Perceptrons(members=3, layers=2, width=20, epochs=150, patience=30, batch=32, learning_rate=0.01)
    guesses = networks.fit(features[:300], targets[:300], rng).predict(features[300:])
    assert guesses.shape == (3, 100)
    assert np.abs(guesses.mean(axis=0) / targets[300:] - 1).mean() < 0.03


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {key: value}) for name in ("kde", "bohb") for key, value in BAD_DENSITIES.items()),
        ("bohb", {"eta": 1}),
        ("hb", {"eta": 0.5}),
        ("hebo", {"trees": 0}),
        ("hebo", {"initial": 1}),
        ("hebo", {"population_size": 1}),
        ("hebo", {"generations": 0}),
    ],
)
def test_settings_out_of_range_are_refused_in_one_line(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=next(iter(settings))) as error:
        OPTIMIZERS.get(name)(Problem(space("nb201"), ACCURACY, (200,)), np.random.default_rng(0), **settings)
    assert "\n" not in str(error.value)


# --- all of them ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["kde", "bananas"])
def test_model_beats_random_search_on_additive_landscapes(model: str) -> None:
    """60 evaluations, 14 landscapes."""

    def bests(method: str) -> list[float]:
        return [
            max(
                trial["validation_accuracy"] for trial in search(make(method, space("nb201"), seed), additive(seed), 60)
            )
            for seed in range(14)
        ]

    assert wilcoxon(bests(model), bests("rs"), alternative="greater").pvalue < 0.01


def test_method_repeats_itself_and_leaves_global_randomness_alone(method: str) -> None:
    make(method, space("nb201"), 5)  # the packages that it imports may draw as they load
    np_state, state = np.random.get_state()[1].copy(), random.getstate()  # type: ignore[index]
    first, second = (search(make(method, space("nb201"), 5), additive(5), count_of(method), batch=4) for _ in range(2))
    assert [trial.architecture for trial in first] == [trial.architecture for trial in second]
    assert np.array_equal(np.random.get_state()[1], np_state)  # type: ignore[index]
    assert random.getstate() == state


@pytest.mark.parametrize("failing", [0.5, 1.0])
def test_method_survives_failures(method: str, failing: float) -> None:
    rng, score = np.random.default_rng(0), additive(0)
    count = count_of(method)
    history = search(
        make(method, space("nb201"), 1), lambda arch: None if rng.random() < failing else score(arch), count, batch=3
    )
    assert method in REPEATING or len({trial.architecture for trial in history}) == count


@pytest.mark.parametrize(
    ("method", "name"),
    [
        pytest.param(method, name, marks=pytest.mark.thorough if (method, name) == ("smac", "nb101") else ())
        for method in METHODS
        for name in ("nb101", "darts")
    ],
    indirect=["method"],
)
def test_method_proposes_valid_architectures_of_harder_spaces(method: str, name: str) -> None:
    rng = np.random.default_rng(0)
    start = len(space(name).configspace())
    search(
        make(method, space(name), 2), lambda arch: float(rng.random()), start + (7 if method in SLOW else 35), batch=7
    )


def test_method_takes_numbers_and_conditions(method: str) -> None:
    source = ConfigurationSpace(name="mixed")
    kind = CategoricalHyperparameter("kind", ["a", "b"])
    rate = UniformFloatHyperparameter("rate", 1e-4, 1, log=True)
    depth = UniformIntegerHyperparameter("depth", 1, 9)
    source.add(kind, rate, depth, EqualsCondition(depth, kind, "b"))
    mixed = space_from_configspace(source, "made_up")
    count = count_of(method)
    history = search(make(method, mixed, 0), lambda arch: 50 + 10 * (dict(mixed.to_config(arch))["kind"] == "b"), count)
    assert method in REPEATING or len({trial.architecture for trial in history}) == count


def test_method_survives_a_space_smaller_than_the_run(method: str) -> None:
    source = ConfigurationSpace(name="tiny")
    source.add(CategoricalHyperparameter("one", ["a", "b"]), CategoricalHyperparameter("two", ["c", "d"]))
    tiny = space_from_configspace(source, "made_up")
    history = search(make(method, tiny, 0), lambda arch: float(arch.code[0]), 25, batch=2)
    assert len({trial.architecture for trial in history}) == 4


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    gc.collect(1)  # what the test made is young


def test_method_leaves_no_file_and_no_word(method: str, empty_folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    search(make(method, space("nb201"), 0), additive(0), 14)
    assert list(empty_folder.iterdir()) == []
    assert capfd.readouterr() == ("", "")
