"""The size of the initial weights."""

from __future__ import annotations

import torch

from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("l2_norm", summary="sum of the norms of the layers' weights")
def l2_norm(passes: Passes) -> float:
    """Σ_l ‖w_l‖₂ over the weights of convolutions and linear layers.

    A baseline of Abdelfattah et al., Zero-cost proxies for lightweight NAS, ICLR 2021.
    """
    with torch.no_grad():
        return sum(float(weight.double().norm()) for weight in passes.weights.values())
