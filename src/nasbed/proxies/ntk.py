"""Condition of the neural tangent kernel."""

from __future__ import annotations

import numpy as np
import torch

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes

IMAGES = 16
"""How many images of the batch are used: each costs a backward pass."""


@defined("ntk", summary="minus the condition number of the neural tangent kernel")
def ntk(passes: Passes) -> float:
    """−λ_max/λ_min of the kernel Θ_ij = ⟨∂s_i/∂θ, ∂s_j/∂θ⟩, s_i being the summed logits of image i and θ every
    parameter. It uses the first 16 images of the batch, in training mode. The published figure is the condition number
    itself, where lower predicts better.

    Chen, Gong and Wang, Neural architecture search on ImageNet in four GPU hours, ICLR 2021 (TE-NAS).
    """
    images = passes.images[:IMAGES]
    if len(images) < 2:
        raise InvalidMeasurement("a condition number needs two images or more, the batch has 1")
    parameters = list(passes.parameters.values())
    sums = passes.run(images).flatten(1).sum(1)
    if not sums.requires_grad:
        raise InvalidMeasurement("the output does not depend on the weights")
    rows = []
    for total in sums:
        gradients = torch.autograd.grad(total, parameters, retain_graph=True, allow_unused=True)
        rows.append(torch.cat([gradient.flatten() for gradient in gradients if gradient is not None]))
    jacobian = torch.stack(rows).double()
    kernel = (jacobian @ jacobian.T).cpu().numpy()
    if not np.isfinite(kernel).all():
        raise InvalidMeasurement("a gradient is not finite")
    eigenvalues = np.linalg.eigvalsh(kernel)
    precision = len(kernel) * torch.finfo(rows[0].dtype).eps
    if eigenvalues[0] <= precision * eigenvalues[-1]:
        raise InvalidMeasurement("the kernel is singular to the precision of the gradients")
    return -float(eigenvalues[-1] / eigenvalues[0])
