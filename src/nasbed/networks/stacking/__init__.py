"""Several networks of one kind side by side in the same kernels.

A small network leaves a large GPU waiting for launches. Networks that differ only in their weights can share them.
Their maps lie side by side as channels, and one launch computes a layer of all. Needs torch.
"""

from __future__ import annotations

from nasbed.networks.stacking.network import StackedNetwork, check_one_size

__all__ = ["StackedNetwork", "check_one_size"]
