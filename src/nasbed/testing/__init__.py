"""Conformance suites: subclass one in your own tests, and your plug-in must satisfy the same rules as the package's own
parts.

::

    from nasbed.testing import SpaceConformance

    class TestMySpace(SpaceConformance):
        def make_space(self):
            return MySpace()
"""

from nasbed.testing.optimizers import OptimizerConformance
from nasbed.testing.proxies import ProxyConformance
from nasbed.testing.spaces import SpaceConformance

__all__ = ["OptimizerConformance", "ProxyConformance", "SpaceConformance"]
