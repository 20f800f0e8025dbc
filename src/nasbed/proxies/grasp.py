"""Preservation of the gradient flow."""

from __future__ import annotations

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("grasp", summary="change of the gradient norm with each connection", needs=("loss_gradients",))
def grasp(passes: Passes) -> float:
    """−Σ w (H g) over the weights of convolutions and linear layers, with g the gradient of the loss and H its Hessian.
    It is the fall of the squared gradient norm as the connections are cut, to first order and up to a factor of two.

    Wang, Zhang and Grosse, Picking winning tickets before training by preserving gradient flow, ICLR 2020; with this
    sign in Abdelfattah et al., Zero-cost proxies for lightweight NAS, ICLR 2021, and in the published suite.
    """
    gradients = passes.loss_gradients()
    passes.remark_missing(gradients)
    weights = passes.weights
    again = passes.differentiable_gradients(passes.loss())
    product = sum((gradients[name].detach() * gradient).sum() for name, gradient in again.items())
    assert not isinstance(product, int)  # there is a gradient
    if not product.requires_grad:
        raise InvalidMeasurement("the gradient does not depend on the weights")
    curved = passes.gradients(product)
    return -sum(float((weights[name].detach().double() * gradient).sum()) for name, gradient in curved.items())
