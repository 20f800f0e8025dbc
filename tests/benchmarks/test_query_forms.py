"""A query takes an architecture in every form that people have it in."""

from __future__ import annotations

import numpy as np
import pytest

import nasbed


def test_query_takes_an_architecture_its_text_and_its_configuration() -> None:
    benchmark = nasbed.load("nb201-chesseract-v1.0")
    arch = benchmark.space.sample(np.random.default_rng(3))
    text, config = benchmark.space.format(arch), benchmark.space.to_config(arch)
    answer = benchmark.query(arch, seed=5)
    assert answer == benchmark.query(text, seed=5) == benchmark.query(config, seed=5)
    assert answer == benchmark.query(dict(config), seed=5)
    assert list(benchmark.query_many([arch, text, config], seed=5)) == [answer] * 3


@pytest.mark.parametrize("wrong", ["|nor_conv_9x9~0|", {"1<-0": "none"}, 5, None, (3,) * 6], ids=str)
def test_query_refuses_other_forms_in_one_line(wrong: object) -> None:
    with pytest.raises(nasbed.NasbedError) as refusal:
        nasbed.load("nb201-chesseract-v1.0").query(wrong)  # type: ignore[arg-type]
    assert "\n" not in str(refusal.value)


def test_query_many_refuses_a_single_text() -> None:
    with pytest.raises(nasbed.NasbedError, match="use query"):
        nasbed.load("nb201-chesseract-v1.0").query_many("|none~0|")


@pytest.mark.parametrize("name", ["nb201-chesseract-v1.0", "snb-nb101-cifar10-16-lgb-mf-v1.0"])
def test_query_takes_numbers_of_numpy_as_those_of_python(name: str) -> None:
    benchmark = nasbed.load(name)
    arch = benchmark.space.sample(np.random.default_rng(3))
    budget = benchmark.fidelities[0]
    answer = benchmark.query(arch, fidelity=budget, seed=5)
    assert benchmark.query(arch, fidelity=np.int64(budget), seed=np.int64(5)) == answer  # type: ignore[arg-type]
    assert list(benchmark.query_many([arch], fidelity=budget, seed=np.int32(5))) == [answer]  # type: ignore[arg-type]
    assert type(benchmark.query(arch, fidelity=float(budget)).fidelity) is int  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["x", 1.5, None], ids=str)
def test_query_refuses_a_seed_that_is_no_whole_number(wrong: object) -> None:
    benchmark = nasbed.load("snb-nb101-cifar10-16-lgb-mf-v1.0")
    arch = benchmark.space.sample(np.random.default_rng(3))
    with pytest.raises(nasbed.NasbedError, match="whole number"):
        benchmark.query(arch, seed=wrong)  # type: ignore[arg-type]
    with pytest.raises(nasbed.NasbedError, match="whole number"):
        benchmark.query_many([arch], seed=wrong)  # type: ignore[arg-type]
