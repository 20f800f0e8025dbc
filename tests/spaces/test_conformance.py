"""Every registered space passes the public conformance suite, without being named here."""

import pytest
from ConfigSpace import ConfigurationSpace, EqualsCondition, ForbiddenEqualsClause

from nasbed import space_from_configspace
from nasbed.spaces import SearchSpace, list_spaces, space
from nasbed.testing import SpaceConformance


@pytest.mark.parametrize("name", list_spaces())
class TestEverySpace(SpaceConformance):
    @pytest.fixture(autouse=True)
    def _choose(self, name: str) -> None:
        self.name = name

    def make_space(self) -> SearchSpace:
        return space(self.name)


class TestASpaceFromAConfigSpace(SpaceConformance):
    def make_space(self) -> SearchSpace:
        source = ConfigurationSpace(
            {"depth": [1, 2, 3, 4], "block": ["conv", "attention"], "heads": [2, 4, 8], "act": ["relu", "tanh"]}
        )
        source.add(EqualsCondition(source["heads"], source["block"], "attention"))
        source.add(ForbiddenEqualsClause(source["depth"], 3))
        return space_from_configspace(source, "conditional")
