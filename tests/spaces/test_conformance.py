"""Every registered space passes the public conformance suite, without being named here."""

import pytest

from nasbed.spaces import SearchSpace, list_spaces, space
from nasbed.testing import SpaceConformance


@pytest.mark.parametrize("name", list_spaces())
class TestEverySpace(SpaceConformance):
    @pytest.fixture(autouse=True)
    def _choose(self, name: str) -> None:
        self.name = name

    def make_space(self) -> SearchSpace:
        return space(self.name)
