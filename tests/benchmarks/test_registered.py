"""Benchmarks that installed packages add, by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nasbed import Architecture, NasbedError, Observation, load
from nasbed.benchmarks import BENCHMARKS
from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import card, cards
from nasbed.core.errors import InvalidOption
from nasbed.experiments.provenance import benchmark_fingerprint
from support.commands import run_command
from support.plugins import install_plugin
from support.third_party import Measured, Modelled, ModelledInBatches, ModelledSingly


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch, {BENCHMARKS: "counted = support.third_party:Modelled"})


@pytest.mark.usefixtures("plugin")
def test_load_finds_the_benchmark_of_an_entry_point_with_part_and_mean() -> None:
    assert isinstance(load("counted"), Modelled)
    best = Architecture("nb201", (3,) * 6)
    assert load("counted:mean").query(best, seed=4)["validation_accuracy"] == 50 + 5 * 6
    part = load("counted:no-pooling")
    assert part.optimum() == (best, 80.0)
    with pytest.raises(NasbedError, match="outside third-party:no-pooling"):
        part.query(Architecture("nb201", (4,) * 6))
    with pytest.raises(NasbedError, match=r"no benchmark is called 'count'; did you mean counted"):
        load("count")


@pytest.mark.usefixtures("plugin")
def test_list_benchmarks_describes_a_registered_one() -> None:
    fields = json.loads(run_command("list", "benchmarks", "counted", "--json").stdout)
    assert (fields["space"], fields["architectures"], fields["present"]) == ("nb201", 15_625, True)
    assert (fields["what"], fields["fidelities"]) == ("convolutions of a cell, counted", [10])
    assert "counted" in [entry.name for entry in cards()]


def test_registered_benchmark_with_the_id_of_a_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BENCHMARKS, "_entries", {"nb101": Modelled})
    with pytest.raises(NasbedError, match="the benchmark id 'nb101' is that of a table"):
        load("nb101")
    (listed,) = (entry for entry in cards() if entry.name == "nb101")
    assert "is that of a table" in listed.what and not listed.present


def test_fingerprint_of_somebody_elses_benchmark_is_that_of_its_code() -> None:
    """Runs on it are out of date once its code has changed; nasbed's own benchmarks have versions instead."""
    assert benchmark_fingerprint(Modelled()) and not Modelled().fingerprint
    assert benchmark_fingerprint(Modelled()) == benchmark_fingerprint(Modelled())


@pytest.mark.parametrize("benchmark", [Modelled(), ModelledSingly(), ModelledInBatches()])
def test_means_are_known_where_one_of_both_methods_is_written(benchmark: Measured) -> None:
    codes = np.array([(3,) * 6, (3, 0, 0, 0, 0, 0), (1,) * 6])
    assert benchmark.knows_means and benchmark.judge == benchmark.objective
    assert benchmark.expected_many(codes).column(benchmark.objective).tolist() == [80.0, 55.0, 50.0]
    singly = [benchmark.expected(arch) for arch in benchmark.space.architectures(codes)]
    assert singly == list(benchmark.expected_many(codes))
    assert benchmark.mean_judgement(codes)[1].tolist() == [80.0, 55.0, 50.0]


def test_means_are_not_known_where_neither_is_written() -> None:
    assert not Measured().knows_means
    for ask in (lambda: Measured().expected(Architecture("nb201", (3,) * 6)), lambda: Measured().expected_many([])):
        with pytest.raises(InvalidOption, match="third-party does not know the means of its answers"):
            ask()


def test_batch_is_answered_one_by_one_where_only_single_queries_are_written() -> None:
    class Single(Measured):
        _query_many = Benchmark._query_many

        def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
            return Measured()._query(arch, fidelity, seed)

    codes = np.array([(3,) * 6, (1,) * 6])
    assert list(Single().query_many(codes, seed=2)) == list(Measured().query_many(codes, seed=2))


def test_published_tables_are_as_large_as_the_papers_say() -> None:
    sizes = {
        "nb101": 423_624,
        "nb101-mini": 64_542,
        "nb201/cifar10": 15_625,
        "nats-sss/cifar10": 32_768,
        "fcnet/protein": 62_208,
        "transnas-micro/jigsaw": 4_096,
        "transnas-macro/jigsaw": 3_256,
    }
    assert {name: card(name).architectures for name in sizes} == sizes
