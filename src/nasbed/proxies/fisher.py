"""Fisher information of the channels."""

from __future__ import annotations

from torch import nn

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("fisher", summary="Fisher information of the channels", needs=("output_gradients",))
def fisher(passes: Passes) -> float:
    """Σ_l m_l Σ_c ½ mean_n (Σ_p a_ncp ∂L/∂a_ncp)², where a is the output of layer l for image n, channel c and place p.
    m_l is how many weights make a channel, so that each weight counts with the information of its channel.

    Theis et al., Faster gaze prediction with dense networks and Fisher pruning, 2018; Turner et al., BlockSwap, ICLR
    2020; with the factor m_l in Abdelfattah et al., Zero-cost proxies for lightweight NAS, ICLR 2021, and in the
    published suite.
    """
    ran = passes.output_gradients()
    passes.remark_missing({name for name, _, _ in ran})
    weights = passes.weights
    total = 0.0
    for name, output, gradient in ran:
        channel = -1 if isinstance(passes.layers[name], nn.Linear) else 1
        product = (output * gradient).double().movedim(channel, 1)
        per_channel = product.reshape(*product.shape[:2], -1).sum(2)
        total += float(per_channel.square().mean(0).sum()) / 2 * weights[name][0].numel()
    if not total:
        raise InvalidMeasurement("every gradient or every output is zero")
    return total
