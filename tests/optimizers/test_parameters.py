"""Parameters as rows and as points of the unit cube."""

import numpy as np
import pytest
from ConfigSpace import ConfigurationSpace, Constant, Float, Integer

from nasbed import space_from_configspace
from nasbed.optimizers.parameters import Parameters
from nasbed.spaces import list_spaces, space
from nasbed.testing.optimizers import conditional_space


@pytest.mark.parametrize("name", list_spaces())
def test_rows_and_points_describe_the_architecture_they_come_from(name: str) -> None:
    parameters, rng = Parameters(space(name)), np.random.default_rng(0)
    for _ in range(50):
        arch = space(name).sample(rng)
        for numbers, back in ((parameters.row, parameters.architecture), (parameters.in_cube, parameters.nearest)):
            assert back(numbers(arch)) == arch


def test_row_has_option_numbers_and_gaps() -> None:
    tiny = conditional_space()
    parameters, names = Parameters(tiny), list(tiny.configspace())
    for arch in tiny.enumerate():
        values = tiny.to_native(arch)
        row = dict(zip(names, parameters.row(arch).tolist(), strict=True))
        assert ["conv", "pool", "skip"][int(row["block"])] == values["block"]
        assert np.isnan(row["kernel"]) == ("kernel" not in values)
    assert dict(zip(names, parameters.options.tolist(), strict=True)) == {"block": 3, "depth": 3, "kernel": 3}


def test_point_is_rounded_to_the_nearest_option_and_inactive_places_do_not_count() -> None:
    tiny = conditional_space()
    parameters, names = Parameters(tiny), list(tiny.configspace())
    for block, place in (("conv", 0.2), ("pool", 0.3), ("pool", 0.7), ("skip", 0.8)):
        points = {"block": place, "depth": 0.0, "kernel": 1.0}
        arch = parameters.nearest(np.array([points[name] for name in names]))
        assert arch is not None and tiny.to_native(arch)["block"] == block
        assert ("kernel" in tiny.to_native(arch)) == (block == "conv")


def test_ranges_keep_their_scale_and_have_at_most_ten_levels() -> None:
    source = ConfigurationSpace()
    source.add(Integer("width", (1, 1024), log=True), Float("rate", (1e-4, 1.0), log=True), Integer("few", (1, 3)))
    source.add(Constant("fixed", 7))
    parameters = Parameters(numbers := space_from_configspace(source, "numbers"))
    arch = parameters.nearest(np.full(4, 0.5))
    assert arch is not None
    assert numbers.to_native(arch) == {"few": 2, "rate": pytest.approx(0.01), "width": 32, "fixed": 7}
    levels = dict(zip(source, parameters.levels.tolist(), strict=True))
    assert levels == {"few": 3, "rate": 10, "width": 10, "fixed": 1}
    assert parameters.row(arch)[list(source).index("fixed")] == 0


def test_configuration_without_an_architecture_is_none() -> None:
    assert Parameters(space("nb101")).nearest(np.ones(26)) is None
