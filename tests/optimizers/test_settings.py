"""Settings of search methods: declared as fields with ranges, checked by the base class."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import InvalidOption, MissingDependency
from nasbed.optimizers import OPTIMIZERS
from nasbed.optimizers.settings import defaults_of
from nasbed.spaces import space
from nasbed.testing.optimizers import problem_on

FLAGS = [("tpe", "multivariate"), ("ls", "first_improvement")]
NUMBERS = [
    (method, setting.name)
    for method in OPTIMIZERS
    for setting in fields(OPTIMIZERS.get(method))
    if setting.name in defaults_of(OPTIMIZERS.get(method))
    and setting.name != "second"
    and (method, setting.name) not in FLAGS
]


def make(method: str, **settings: Any) -> None:
    OPTIMIZERS.get(method)(problem_on(space("nb201")), np.random.default_rng(0), **settings)


@pytest.mark.parametrize(("method", "setting"), NUMBERS)
def test_setting_refuses_what_is_no_number_in_its_range(method: str, setting: str) -> None:
    for value in (-1, -(10**400), math.nan, math.inf, True, "3", [3]):
        with pytest.raises((InvalidOption, MissingDependency), match=f"^{setting} is a (whole )?number|needs"):
            make(method, **{setting: value})


@pytest.mark.parametrize(("method", "setting"), FLAGS)
def test_setting_that_is_on_or_off_refuses_all_else(method: str, setting: str) -> None:
    for value in ("no", "false", 0, 1, None):
        with pytest.raises((InvalidOption, MissingDependency), match=f"^{setting} is true or false, got|needs"):
            make(method, **{setting: value})


def test_setting_at_the_end_of_its_range_is_taken_or_refused_as_declared() -> None:
    make("re", population_size=1, mutation_rate=0)
    make("hebo", initial=2)
    for method, settings in (("hb", {"eta": 1}), ("hebo", {"initial": 1}), ("de", {"population_size": 3})):
        with pytest.raises(InvalidOption):
            make(method, **settings)
    with pytest.raises(InvalidOption, match=r"^keep is a number from 0 to 1, got 1\.5$"):
        make("combo", keep=1.5)


def test_setting_without_a_value_is_allowed_only_where_that_is_the_default() -> None:
    make("hebo", initial=None)
    with pytest.raises(InvalidOption, match="trees is a whole number of at least 1, got None"):
        make("hebo", trees=None)
