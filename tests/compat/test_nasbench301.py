"""NAS-Bench-301's interface over surrogates of the DARTS space."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from nasbed import space
from nasbed.benchmarks import SurrogateBenchmark
from nasbed.compat.nasbench301 import load_ensemble
from nasbed.core.errors import InvalidOption, NasbedError, UnknownName
from support.surrogates import small_surrogate

SCRIPT = """
import sys
from collections import namedtuple
import nasbench301 as nb

Genotype = namedtuple("Genotype", "normal normal_concat reduce reduce_concat")
genotype = Genotype(
    normal=[("sep_conv_3x3", 0), ("sep_conv_3x3", 1), ("sep_conv_3x3", 0), ("sep_conv_3x3", 1),
            ("sep_conv_3x3", 1), ("skip_connect", 0), ("skip_connect", 0), ("dil_conv_3x3", 2)],
    normal_concat=[2, 3, 4, 5],
    reduce=[("max_pool_3x3", 0), ("max_pool_3x3", 1), ("skip_connect", 2), ("max_pool_3x3", 1),
            ("max_pool_3x3", 0), ("skip_connect", 2), ("skip_connect", 2), ("max_pool_3x3", 1)],
    reduce_concat=[2, 3, 4, 5],
)
performance_model = nb.load_ensemble(sys.argv[1])
runtime_model = nb.load_ensemble(sys.argv[1] + "/runtime")
print(performance_model.predict(config=genotype, representation="genotype", with_noise=False))
print(performance_model.predict(config=genotype, representation="genotype", with_noise=True))
print(runtime_model.predict(config=genotype, representation="genotype"))
"""
Genotype = namedtuple("Genotype", "normal normal_concat reduce reduce_concat")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("nasbench301")
    return small_surrogate(place, "darts").save(place / "surrogate")


def test_nasbench301_predicts_genotypes_and_configurations(folder: Path) -> None:
    darts = space("darts")
    benchmark = SurrogateBenchmark.open(folder)
    ensemble, runtime = load_ensemble(str(folder)), load_ensemble(folder / "runtime")
    rng = np.random.default_rng(0)
    for _ in range(10):
        arch = darts.sample(rng)
        native, config = Genotype(*darts.to_native(arch)), darts.to_config(arch)
        expected = benchmark.expected(arch)
        assert ensemble.predict(native, "genotype", with_noise=False) == expected["validation_accuracy"]
        assert (
            ensemble.predict(config, representation="configspace", with_noise=False) == expected["validation_accuracy"]
        )
        assert ensemble.predict(dict(config), "configspace", with_noise=False) == expected["validation_accuracy"]
        assert runtime.predict(native, "genotype") == expected.cost_s


def test_nasbench301_draws_another_noise_each_time(folder: Path) -> None:
    config = Genotype(*space("darts").to_native(space("darts").sample(np.random.default_rng(1))))
    first, second, third = load_ensemble(folder, seed=1), load_ensemble(folder, seed=1), load_ensemble(folder, seed=2)
    draws = [first.predict(config, "genotype") for _ in range(20)]
    assert len(set(draws)) == 20
    assert draws == [second.predict(config, "genotype") for _ in range(20)]
    assert draws[0] != third.predict(config, "genotype")


def test_nasbench301_copied_continues_with_the_same_noise(folder: Path) -> None:
    config = Genotype(*space("darts").to_native(space("darts").sample(np.random.default_rng(1))))
    ensemble = load_ensemble(folder, seed=1)
    ensemble.predict(config, "genotype")
    copies = [pickle.loads(pickle.dumps(ensemble)), copy.deepcopy(ensemble)]
    expected = [ensemble.predict(config, "genotype") for _ in range(5)]
    for duplicate in copies:
        assert [duplicate.predict(config, "genotype") for _ in range(5)] == expected


def test_nasbench301_leaves_the_global_generators_alone(folder: Path) -> None:
    before = repr(np.random.get_state())
    config = Genotype(*space("darts").to_native(space("darts").sample(np.random.default_rng(1))))
    load_ensemble(folder).predict(config, "genotype")
    assert repr(np.random.get_state()) == before


def test_nasbench301_refuses_what_it_cannot_read(folder: Path, tmp_path: Path) -> None:
    ensemble = load_ensemble(folder)
    with pytest.raises(InvalidOption, match="genotype, configspace"):
        ensemble.predict({}, "graph")
    for wrong in ({}, None, "Genotype", {"edge_normal_0": "conv"}):
        for representation in ("genotype", "configspace"):
            with pytest.raises(NasbedError):
                ensemble.predict(wrong, representation)
    with pytest.raises(InvalidOption, match="space darts"):
        load_ensemble(small_surrogate(tmp_path).save(tmp_path / "nb201.snb"))
    with pytest.raises(UnknownName):
        load_ensemble(tmp_path / "nothing")


def test_nasbench301_script_runs_unchanged(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "nasbed.compat", "script.py", str(folder)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    quiet, noisy, seconds = map(float, run.stdout.split())
    assert quiet != noisy
    assert abs(quiet - noisy) < 10
    assert 0 < seconds < 3
