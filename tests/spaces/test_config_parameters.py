"""Architectures from values chosen parameter by parameter."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from ConfigSpace import ConfigurationSpace, Constant, Float, Integer

from nasbed import Architecture, NasbedError, load, space_from_configspace
from nasbed.spaces import list_spaces, space
from nasbed.spaces.parameters import Parameter
from nasbed.testing.optimizers import conditional_space


@pytest.mark.parametrize("name", list_spaces())
def test_from_choices_inverts_to_config_and_asks_for_active_parameters_alone(name: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        arch = space(name).sample(rng)
        values, requested = dict(space(name).to_config(arch)), []

        def choose(parameter: Parameter) -> object:
            requested.append(parameter.name)  # noqa: B023
            return values[parameter.name]  # noqa: B023

        assert space(name).from_choices(choose) == arch
        assert sorted(requested) == sorted(values)


def test_from_choices_says_why_values_are_no_architecture() -> None:
    with pytest.raises(NasbedError, match="nb101 cell has no path from input to output"):
        space("nb101").from_choices(lambda parameter: parameter.options[0])
    with pytest.raises(NasbedError, match="has no option 'what'; known"):
        space("nb201").from_choices(lambda parameter: "what")


def test_sampled_configurations_of_nb101_are_cells_and_those_of_its_configspace_often_not() -> None:
    nb101, rng = space("nb101"), np.random.default_rng(0)
    assert all(nb101.is_valid(nb101.sample_config(rng)) for _ in range(50))
    source = copy.deepcopy(nb101.configspace())
    source.seed(0)
    invalid = [config for config in source.sample_configuration(200) if not nb101.is_valid(config)]
    assert 30 < len(invalid) < 80  # about one in four
    for config in invalid[:5]:
        with pytest.raises(NasbedError, match="nb101 cell"):
            nb101.from_config(config)


def test_configurations_of_darts_set_active_parameters_alone_and_nothing_is_repaired() -> None:
    benchmark = load("snb-darts-cifar10-16-lgb-v2.0")
    darts = benchmark.space
    arch = darts.sample(np.random.default_rng(0))
    config = darts.sample_config(np.random.default_rng(0))
    every = {parameter.name: parameter.options[0] for parameter in darts.config_parameters()} | config
    assert (len(config), len(every)) == (22, 34)
    assert darts.is_valid(config) and not darts.is_valid(every)
    assert benchmark.query(config).architecture == darts.from_choices(every) == arch
    with pytest.raises(NasbedError, match="sets only what its inputs choose"):
        benchmark.query(every)
    del every["NetworkSelectorDatasetInfo:darts:edge_normal_0"]
    with pytest.raises(NasbedError, match="got none for NetworkSelectorDatasetInfo:darts:edge_normal_0"):
        darts.from_choices(every)


def test_is_valid_takes_architectures_texts_and_junk() -> None:
    nb201 = space("nb201")
    arch = nb201.sample(np.random.default_rng(0))
    assert nb201.is_valid(arch) and nb201.is_valid(nb201.format(arch)) and nb201.is_valid(nb201.to_config(arch))
    assert not nb201.is_valid(space("darts").sample(np.random.default_rng(0)))
    junk: list[Any] = ["junk", {}, None, 7, [], Architecture("nb201", (9,) * 6)]
    assert not any(map(nb201.is_valid, junk))


def test_config_parameters_have_options_or_bounds() -> None:
    source = ConfigurationSpace({"block": ["conv", "pool"]})
    source.add(Integer("width", (1, 1024), log=True), Float("rate", (0.1, 1.0)), Constant("fixed", 7))
    parameters = {
        parameter.name: parameter for parameter in space_from_configspace(source, "kinds").config_parameters()
    }
    assert {name: parameter.options for name, parameter in parameters.items()} == {
        "block": ("conv", "pool"), "fixed": (7,), "rate": (), "width": ()
    }  # fmt: skip
    width, rate = parameters["width"], parameters["rate"]
    assert (width.is_integer, width.is_logarithmic, width.bounds) == (True, True, (1, 1024))
    assert (rate.is_integer, rate.is_logarithmic, rate.bounds) == (False, False, (0.1, 1.0))


def test_config_parameters_follow_those_that_their_conditions_name() -> None:
    names = [parameter.name for parameter in conditional_space().config_parameters()]
    assert names.index("block") < names.index("kernel")
