"""Samplers of Optuna and facades of SMAC as methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("optuna", reason="needs optuna")
pytest.importorskip("smac", reason="needs smac")

from ConfigSpace import ConfigurationSpace, Float
from optuna import create_study
from optuna.samplers import (
    BaseSampler,
    BruteForceSampler,
    CmaEsSampler,
    GPSampler,
    NSGAIISampler,
    QMCSampler,
    RandomSampler,
    TPESampler,
)
from smac import (
    AlgorithmConfigurationFacade,
    BlackBoxFacade,
    HyperparameterOptimizationFacade,
    MultiFidelityFacade,
    RandomFacade,
)
from smac.runhistory.encoder import RunHistoryLogEncoder

from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.core.execution import SerialEngine
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.experiments.compare import compare
from nasbed.optimizers import OPTIMIZERS, Optimizer, Problem, Proposal, from_optuna, from_smac, suggest_architecture
from nasbed.spaces import SearchSpace, space
from nasbed.spaces.from_configspace import space_from_configspace
from nasbed.testing import OptimizerConformance
from nasbed.testing.optimizers import ACCURACY, FIDELITIES, conditional_space, measured, problem_on

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental")
CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"


def cheap(facade: Any) -> Callable[[Any], Any]:
    """A facade whose model proposes after five configurations, from few candidates."""
    return lambda scenario: facade(
        scenario,
        initial_design=facade.get_initial_design(scenario, n_configs=5),
        acquisition_maximizer=facade.get_acquisition_maximizer(scenario, challengers=50, local_search_iterations=1),
        logging_level=False,
        overwrite=True,
    )


ADAPTED: dict[str, tuple[Callable[[], type[Optimizer]], int]] = {
    "NSGAIISampler": (lambda: from_optuna(lambda seed: NSGAIISampler(population_size=8, seed=seed)), 40),
    "a TPESampler": (lambda: from_optuna(TPESampler(n_startup_trials=5)), 16),
}
"""By what they are made from: methods, and how many evaluations get them past their random start."""

FURTHER: dict[str, tuple[Callable[[], type[Optimizer]], int]] = {
    "RandomSampler": (lambda: from_optuna(RandomSampler), 40),
    "QMCSampler": (lambda: from_optuna(QMCSampler), 40),
    "BruteForceSampler": (lambda: from_optuna(BruteForceSampler), 20),
    "CmaEsSampler": (lambda: from_optuna(CmaEsSampler), 40),
    "GPSampler": (lambda: from_optuna(lambda seed: GPSampler(n_startup_trials=5, seed=seed)), 8),
    "RandomFacade": (lambda: from_smac(RandomFacade), 12),
    "HyperparameterOptimizationFacade": (lambda: from_smac(cheap(HyperparameterOptimizationFacade)), 10),
    "AlgorithmConfigurationFacade": (lambda: from_smac(AlgorithmConfigurationFacade), 6),
    "BlackBoxFacade": (lambda: from_smac(cheap(BlackBoxFacade)), 7),
}
NEEDS = {"CmaEsSampler": "cmaes", "GPSampler": "torch"}


class AdaptedConformance(OptimizerConformance):
    @pytest.fixture(autouse=True)
    def _choose(self, name: str) -> None:
        if name in NEEDS:
            pytest.importorskip(NEEDS[name], reason=f"Optuna's {name} needs {NEEDS[name]}")
        make, self.evaluations = {**ADAPTED, **FURTHER}[name]
        self.kind = make()

    def make_optimizer(self, problem: Problem, rng: np.random.Generator) -> Optimizer:
        return self.kind(problem, rng)


@pytest.mark.parametrize("name", ADAPTED)
class TestAdaptedMethods(AdaptedConformance):
    pass


@pytest.mark.thorough
@pytest.mark.parametrize("name", FURTHER)
class TestFurtherAdaptedMethods(AdaptedConformance):
    pass


def run(
    kind: type[Optimizer], on: SearchSpace, seed: int, count: int, *, workers: int = 3, **settings: Any
) -> list[Proposal]:
    """The proposals of a run whose answers come in random order."""
    method = kind(problem_on(on), np.random.default_rng(seed), **settings)
    order = np.random.default_rng(4)
    proposed: list[Proposal] = []
    running: list[Proposal] = []
    while len(proposed) < count:
        while len(running) < workers:
            proposals = method.ask(workers - len(running))
            proposed += proposals
            running += proposals
        method.tell((measured(running.pop(int(order.integers(len(running))))),))
    return proposed


def pinned(package: str) -> str:
    """The version in the file of constraints."""
    lines = CONSTRAINTS.read_text().splitlines()
    return next(line.partition("==")[2] for line in lines if line.startswith(f"{package}=="))


CHEAP_SMAC = {"initial_per_parameter": 1, "challengers": 50, "local_search_iterations": 1}


@pytest.mark.parametrize(
    ("name", "on", "seed", "count", "settings", "checksum"),
    [
        ("tpe", "nb201", 0, 30, {}, "ea94406fa2bca863"),
        ("tpe", "nb201", 1, 30, {}, "9f8ab978a871c15e"),
        ("tpe", "conditional", 1, 30, {"multivariate": False}, "ef3c90a50d39d3b9"),
        ("smac", "conditional", 0, 12, CHEAP_SMAC, "6478008072f989ef"),
        ("smac", "conditional", 1, 12, {**CHEAP_SMAC, "initial_per_parameter": 0, "max_evaluations": 4}, "0d3eb11eb11cd8fe"),
        pytest.param("tpe", "darts", 0, 30, {}, "1941d3047a731133", marks=pytest.mark.thorough),
        pytest.param("tpe", "nb101", 0, 30, {"multivariate": False}, "6b61645687011aaf", marks=pytest.mark.thorough),
        pytest.param("smac", "nb201", 0, 12, CHEAP_SMAC, "534509e5afaaca1d", marks=pytest.mark.thorough),
        pytest.param("smac", "darts", 1, 12, CHEAP_SMAC, "6ebccb69c0478e6a", marks=pytest.mark.thorough),
    ],
)  # fmt: skip
def test_tpe_and_smac_propose_what_they_did_before_they_were_adapters(
    name: str, on: str, seed: int, count: int, settings: dict[str, Any], checksum: str
) -> None:
    """Checksums of proposals of version fdb804d. The third run draws from the space after 100 invalid configurations."""
    package = {"tpe": "optuna", "smac": "smac"}[name]
    for needed in (package, "numpy", "scikit-learn"):
        try:
            if version(needed) != pinned(needed):
                pytest.skip(f"the checksums are those of {needed} {pinned(needed)}")
        except PackageNotFoundError:
            pytest.skip(f"needs {needed}")
    search_space = conditional_space() if on == "conditional" else space(on)
    proposals = run(OPTIMIZERS.get(name), search_space, seed, count, **settings)
    assert sha256(repr([proposal.architecture.code for proposal in proposals]).encode()).hexdigest()[:16] == checksum


def test_from_optuna_with_random_sampler_draws_what_optuna_draws_by_itself() -> None:
    nb201 = space("nb201")
    operations = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
    edges = ("1<-0", "2<-0", "2<-1", "3<-0", "3<-1", "3<-2")
    seed = int(np.random.default_rng(5).integers(2**31))
    study = create_study(sampler=RandomSampler(seed=seed))
    drawn = []
    for _ in range(20):
        trial = study.ask()
        drawn.append(nb201.from_config({edge: trial.suggest_categorical(edge, operations) for edge in edges}))
        study.tell(trial, 0.0)
    assert [proposal.architecture for proposal in run(from_optuna(RandomSampler), nb201, 5, 20, workers=1)] == drawn


@pytest.mark.parametrize("kind", [RandomSampler, TPESampler, QMCSampler, NSGAIISampler])
def test_from_optuna_seeds_copies_of_a_sampler_as_the_sampler_seeds_itself(kind: type[BaseSampler]) -> None:
    numbers = conditional_space()
    copied, seeded = from_optuna(kind()), from_optuna(lambda seed: kind(seed=seed))  # type: ignore[call-arg]
    assert run(copied, numbers, 0, 15) == run(seeded, numbers, 0, 15)
    assert run(copied, numbers, 0, 15) != run(copied, numbers, 1, 15)


def bowl_distance(kind: type[Optimizer], seed: int) -> float:
    """How near 60 proposals come to the best of a bowl over four numbers."""
    source = ConfigurationSpace()
    source.add(*(Float(name, (0.0, 1.0)) for name in "abcd"))
    bowl = space_from_configspace(source, "bowl")
    method, distances = kind(problem_on(bowl), np.random.default_rng(seed)), []
    for _ in range(60):
        (proposal,) = method.ask()
        distances.append(math.dist(bowl.to_native(proposal.architecture).values(), [0.3] * 4))
        values = {ACCURACY: 100 - 40 * distances[-1]}
        method.tell([Observation(proposal.architecture, values, FIDELITIES[-1], seed=0, cost_s=1.0)])
    return min(distances)


def test_from_optuna_tpe_comes_nearer_to_a_known_optimum_than_random_search() -> None:
    random, parzen = from_optuna(RandomSampler), from_optuna(TPESampler)
    for seed in range(4):
        assert bowl_distance(parzen, seed) < bowl_distance(random, seed) / 1.5


def test_from_optuna_tells_a_sampler_of_ones_own_which_cells_were_invalid() -> None:
    trials: list[tuple[str, dict[str, Any]]] = []

    class Recording(RandomSampler):
        def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
            trials.append((state.name, dict(trial.params)))
            super().after_trial(study, trial, state, values)

    nb101 = space("nb101")
    proposals = run(from_optuna(Recording), nb101, 0, 20, workers=1)
    failed = [params for state, params in trials if state == "FAIL"]
    evaluated = [params for state, params in trials if state == "COMPLETE"]
    assert failed and [nb101.from_config(params) for params in evaluated] == [p.architecture for p in proposals]
    for params in failed:
        with pytest.raises(NasbedError, match="nb101 cell"):
            nb101.from_config(params)


def test_from_optuna_continues_after_a_sampler_has_tried_everything() -> None:
    tiny = conditional_space()
    codes = [proposal.architecture for proposal in run(from_optuna(BruteForceSampler), tiny, 0, 30, workers=1)]
    assert set(codes[:14]) == set(tiny.enumerate())


def test_from_smac_proposes_every_architecture_of_a_small_space_once() -> None:
    tiny = conditional_space()
    proposals = run(from_smac(RandomFacade), tiny, 0, 14, workers=2)
    assert {proposal.architecture for proposal in proposals} == set(tiny.enumerate())


def test_suggest_architecture_asks_for_active_parameters_only() -> None:
    darts = space("darts")
    study = create_study(sampler=RandomSampler(seed=0))
    for _ in range(5):
        trial = study.ask()
        arch = suggest_architecture(trial, darts)
        assert trial.params == dict(darts.to_config(arch)) and len(trial.params) < len(darts.configspace())


def test_adapted_method_of_a_file_is_compared_under_the_name_of_its_variable(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from optuna.samplers import RandomSampler\nfrom nasbed.optimizers import from_optuna\n"
        "Mine = from_optuna(lambda seed: RandomSampler(seed=seed))\n"
        "Named = from_optuna(RandomSampler, name='uniform')\n"
    )
    runs = compare(
        "nb201-cifar10-16-v1.0",
        [f"{file}:Mine", f"{file}:Named"],
        seeds=2,
        budget="6ev",
        out=tmp_path / "runs",
        workers=3,
        engine=SerialEngine(),
    )
    assert [(run.method, run.seed, run.error) for run in runs.runs] == [
        ("Mine", 0, ""), ("Mine", 1, ""), ("uniform", 0, ""), ("uniform", 1, "")
    ]  # fmt: skip
    assert len({run.codes.tobytes() for run in runs.runs}) == 4
    assert all(run.made_by is not None and run.made_by.source for run in runs.runs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_optuna(3), "takes a sampler, or a function from a seed to one, got 3; write"),  # type: ignore[arg-type]
        (lambda: from_optuna(lambda: RandomSampler(seed=1)), "takes no seed; write lambda seed"),  # type: ignore[arg-type, misc]
        (lambda: run(from_optuna(lambda seed: 3), space("nb201"), 0, 1), "BaseSampler, got 3; return one"),  # type: ignore[arg-type, return-value]
        (lambda: from_smac(3), "takes a facade class of SMAC, or a function from a scenario to a facade, got 3"),  # type: ignore[arg-type]
        (lambda: from_smac(dict), "takes a facade class"),  # type: ignore[arg-type]
        (lambda: run(from_smac(lambda scenario: None), space("nb201"), 0, 1), "AbstractFacade, got None; return"),  # type: ignore[arg-type, return-value]
        (lambda: from_optuna(RandomSampler, name=3), "name of a method is a text, got 3"),  # type: ignore[arg-type]
        (lambda: suggest_architecture(create_study().ask(), "nb201"), "got 'nb201'; pass nasbed.space"),  # type: ignore[arg-type]
        (lambda: from_smac(MultiFidelityFacade), "at one budget, got MultiFidelityFacade; the methods hb and bohb"),
    ],
)
def test_what_is_no_sampler_and_no_facade_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        call()


def test_from_smac_refuses_logarithms_of_an_objective_without_a_best_value() -> None:
    problem = Problem(space("nb201"), Metric("likelihood", split="validation"), (1,))
    logarithmic = from_smac(
        lambda scenario: BlackBoxFacade(scenario, runhistory_encoder=RunHistoryLogEncoder(scenario), overwrite=True)
    )
    with pytest.raises(InvalidOption, match="BlackBoxFacade models the logarithm of costs"):
        logarithmic(problem, np.random.default_rng(0))
    from_smac(BlackBoxFacade)(problem, np.random.default_rng(0))
