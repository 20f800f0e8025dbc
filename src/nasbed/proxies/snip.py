"""Connection sensitivity."""

from __future__ import annotations

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("snip", summary="sensitivity of the loss to each connection", needs=("loss_gradients",))
def snip(passes: Passes) -> float:
    """Σ |w ∂L/∂w| over the weights of convolutions and linear layers: by how much the loss changes as each connection
    is cut, to first order.

    Lee, Ajanthan and Torr, SNIP: single-shot network pruning based on connection sensitivity, ICLR 2019; summed up over
    a network by Abdelfattah et al., Zero-cost proxies for lightweight NAS, ICLR 2021.
    """
    gradients = passes.loss_gradients()
    passes.remark_missing(gradients)
    weights = passes.weights
    total = sum(float((weights[name].detach() * gradient).double().abs().sum()) for name, gradient in gradients.items())
    if not total:
        raise InvalidMeasurement("every gradient or every weight is zero")
    return total
