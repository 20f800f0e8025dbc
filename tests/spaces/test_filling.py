"""Space-filling designs: their balance is a theorem, so it is checked to the point."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from ConfigSpace import ConfigurationSpace, EqualsCondition, ForbiddenEqualsClause

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.spaces.filling import UnitCube, space_filling, unit_points
from nasbed.spaces.from_configspace.space import FromConfigSpace
from nasbed.spaces.listed import ListedSpace


def points(design: str, dimensions: int, count: int) -> np.ndarray:
    return np.array(list(islice(unit_points(design, dimensions, np.random.default_rng(3), count=count), count)))


@pytest.mark.parametrize("count", [1, 7, 30, 101])
def test_latin_hypercube_has_one_point_in_each_stratum_of_every_side(count: int) -> None:
    strata = np.floor(points("lhs", 9, count) * count).astype(int)
    assert (np.sort(strata, axis=0) == np.arange(count)[:, None]).all()


@pytest.mark.parametrize("power", [0, 3, 6, 10])
def test_sobol_points_are_balanced_in_every_side_and_pair_of_halves(power: int) -> None:
    """The one-dimensional projections of a Sobol sequence are (0, k, 1)-nets, whatever the scrambling; beyond a block
    of our own too."""
    sobol = points("sobol", 5, 2**power)
    strata = np.floor(sobol * 2**power).astype(int)
    assert (np.sort(strata, axis=0) == np.arange(2**power)[:, None]).all()
    if power >= 3:
        quadrant = 2 * (sobol[:, 0] >= 0.5) + (sobol[:, 1] >= 0.5)
        assert (np.bincount(quadrant) == 2**power // 4).all()


def test_categories_are_equal_bins_and_so_equally_frequent() -> None:
    lhs = [
        arch.code
        for arch in islice(space_filling(nasbed.space("nb201"), "lhs", np.random.default_rng(0), count=25), 25)
    ]
    for column in np.array(lhs).T:
        assert np.bincount(column).tolist() == [5] * 5
    sobol = [
        arch.code for arch in islice(space_filling(nasbed.space("nats-sss"), "sobol", np.random.default_rng(0)), 64)
    ]
    for column in np.array(sobol).T:
        assert np.bincount(column).tolist() == [8] * 8


@pytest.mark.parametrize("name", nasbed.spaces.list_spaces())
@pytest.mark.parametrize("design", ["sobol", "lhs"])
def test_every_space_has_space_filling_designs(name: str, design: str) -> None:
    space = nasbed.space(name)
    drawn = [list(islice(space_filling(space, design, np.random.default_rng(1), count=8), 8)) for _ in range(2)]
    assert drawn[0] == drawn[1] and len(set(drawn[0])) > 1
    for arch in drawn[0]:
        space.validate(arch)


def test_points_follow_conditions_priors_and_forbidden_clauses() -> None:
    config = ConfigurationSpace("mine", space={"kind": ["plain", "deep"], "width": (1, 4)})
    layers = ConfigurationSpace(space={"layers": (1, 8)})["layers"]
    config.add(layers)
    config.add(EqualsCondition(layers, config["kind"], "deep"), ForbiddenEqualsClause(config["width"], 4))
    space = FromConfigSpace(config, "mine")
    drawn = [space.to_native(arch) for arch in islice(space_filling(space, "sobol", np.random.default_rng(0)), 192)]
    assert {values["width"] for values in drawn} == {1, 2, 3}, "the forbidden value is skipped"
    assert all(("layers" in values) == (values["kind"] == "deep") for values in drawn)
    cube, names = UnitCube(space), list(config)
    point = np.array([{"kind": 0.6, "width": 0.3, "layers": 0.99}[name] for name in names])
    arch = cube.architecture(point)
    assert arch is not None and space.to_native(arch) == {"kind": "deep", "width": 2, "layers": 8}


def test_a_list_has_no_unit_cube_and_an_unknown_design_is_named() -> None:
    nb201 = nasbed.space("nb201")
    listed = ListedSpace(nb201, "three", nb201.all_codes()[:3])
    with pytest.raises(InvalidOption, match="needs a ConfigSpace, nb201 is a list"):
        space_filling(listed, "sobol", np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="'sobl'; did you mean sobol"):
        next(unit_points("sobl", 2, np.random.default_rng(0)))
