"""Every registered proxy passes the public conformance suite."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.proxies import PROXIES, Proxy
from nasbed.testing import ProxyConformance


@pytest.mark.parametrize("name", PROXIES.names())
class TestEveryProxy(ProxyConformance):
    @pytest.fixture(autouse=True)
    def _choose(self, name: str) -> None:
        self.name = name

    def make_proxy(self) -> Proxy:
        return PROXIES.get(self.name)
