"""Architectures from values chosen parameter by parameter."""

from __future__ import annotations

import numpy as np
import pytest
from ConfigSpace import ConfigurationSpace, Constant, Float, Integer

from nasbed import NasbedError, space_from_configspace
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
