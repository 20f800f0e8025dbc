"""The first-order change of the loss as the weights grow."""

from __future__ import annotations

from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("plain", summary="change of the loss as all weights grow", needs=("loss_gradients",))
def plain(passes: Passes) -> float:
    """Σ w ∂L/∂w over the weights of convolutions and linear layers: the derivative of the loss as all of them grow
    together. A layer before a batch normalisation adds nothing but rounding, for its scale has no effect.

    A baseline of Abdelfattah et al., Zero-cost proxies for lightweight NAS, ICLR 2021.
    """
    gradients = passes.loss_gradients()
    passes.remark_missing(gradients)
    weights = passes.weights
    return sum(float((weights[name].detach().double() * gradient).sum()) for name, gradient in gradients.items())
