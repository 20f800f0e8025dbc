"""Condition of the neural tangent kernel."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import torch
from torch import Tensor

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("ntk", summary="minus the condition number of the neural tangent kernel of the weights", needs=("tangents",))
def ntk(passes: Passes) -> float:
    """−λ_max/λ_min of the kernel Θ_ij = ⟨∂s_i/∂θ, ∂s_j/∂θ⟩, s_i being the summed logits of image i and θ every
    parameter whose name says weight, those of normalisations too: no biases, as in the authors' code. It uses the first
    16 images of the batch, in training mode. The published figure is the condition number itself, where lower predicts
    better.

    Where every path ends in a batch normalisation, as in DARTS networks without pooling in the last cell, the outputs
    are centred over the batch whatever the weights are. The kernel is then singular, and there is no score; code that
    does not check this divides by an eigenvalue of rounding errors.

    Chen, Gong and Wang, Neural architecture search on ImageNet in four GPU hours, ICLR 2021 (TE-NAS).
    """
    return _negated_condition([rows for name, rows in passes.tangents().items() if "weight" in name])


@defined(
    "ntk_all", summary="minus the condition number of the neural tangent kernel of all parameters", needs=("tangents",)
)
def ntk_all(passes: Passes) -> float:
    """As ``ntk``, with θ every parameter, which is what the theory of tangent kernels has. Biases keep the kernel
    regular where that of the weights is singular; elsewhere the two rank networks of NAS-Bench-201 alike, by 0.99 or
    more.
    """
    return _negated_condition(passes.tangents().values())


def _negated_condition(tangents: Collection[Tensor]) -> float:
    """Minus the condition number of the kernel of tangents, each [images, values]."""
    if not tangents:
        raise InvalidMeasurement("the output does not depend on the weights")
    jacobian = torch.cat(list(tangents), dim=1)
    precision = len(jacobian) * torch.finfo(jacobian.dtype).eps
    kernel = (jacobian.double() @ jacobian.double().T).cpu().numpy()
    if not np.isfinite(kernel).all():
        raise InvalidMeasurement("a gradient is not finite")
    eigenvalues = np.linalg.eigvalsh(kernel)
    if eigenvalues[0] <= precision * eigenvalues[-1]:
        raise InvalidMeasurement("the kernel is singular to the precision of the gradients")
    return -float(eigenvalues[-1] / eigenvalues[0])
