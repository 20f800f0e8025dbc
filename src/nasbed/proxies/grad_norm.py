"""The size of the gradient."""

from __future__ import annotations

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("grad_norm", summary="sum of the norms of the loss gradients", needs=("loss_gradients",))
def grad_norm(passes: Passes) -> float:
    """Σ_l ‖∂L/∂w_l‖₂ over the weights of convolutions and linear layers.

    Abdelfattah et al., Zero-cost proxies for lightweight NAS, ICLR 2021.
    """
    gradients = passes.loss_gradients()
    passes.remark_missing(gradients)
    total = sum(float(gradient.double().norm()) for gradient in gradients.values())
    if not total:
        raise InvalidMeasurement("every gradient is zero")
    return total
