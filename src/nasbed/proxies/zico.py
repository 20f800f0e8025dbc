"""Steadiness of the gradients."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes

PARTS = 2
"""Into how many batches the batch is divided: two in the paper's searches."""


@defined("zico", summary="how steady the gradients are from batch to batch")
def zico(passes: Passes) -> float:
    """Σ_l log Σ_w mean_b |g_wb| / std_b g_wb, g_wb being the gradient of the loss in weight w on part b of the batch.
    The batch is divided into two in its order. Weights with a constant gradient are left out, and layers that have no
    others.

    Li et al., ZiCo: zero-shot NAS via inverse coefficient of variation on gradients, ICLR 2023.
    """
    if len(passes.images) < PARTS:
        raise InvalidMeasurement(f"the batch is divided into {PARTS}, it has {len(passes.images)} image")
    parts: list[dict[str, Tensor]] = []
    for images, labels in zip(passes.images.tensor_split(PARTS), passes.labels.tensor_split(PARTS), strict=True):
        parts.append(passes.gradients(passes.loss_of(passes.run(images), labels)))
    total, layers = 0.0, []
    for name in [layer for layer in parts[0] if layer in parts[1]]:
        gradients = torch.stack([part[name] for part in parts]).double()
        spread = gradients.std(dim=0, correction=0)
        ratios = gradients.abs().mean(dim=0)[spread > 0] / spread[spread > 0]
        if len(ratios):
            total += math.log(float(ratios.sum()))
            layers.append(name)
    if not layers:
        raise InvalidMeasurement("no gradient varies between the parts of the batch")
    left_out = len(passes.layers) - len(layers)
    if left_out:
        passes.remark = f"{left_out} of {len(passes.layers)} layers have no gradient that varies and are left out"
    return total
