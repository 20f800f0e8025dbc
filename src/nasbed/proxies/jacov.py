"""Covariance of the input gradients."""

from __future__ import annotations

import math

import numpy as np

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.correlations import correlations
from nasbed.proxies.passes import Passes

_OFFSET = 1e-5


@defined("jacov", summary="how unlike the input gradients of the images are", needs=("input_gradients",))
def jacov(passes: Passes) -> float:
    """−Σ_i (log(λ_i + k) + 1/(λ_i + k)), λ being the eigenvalues of the correlations between the images' gradients of
    the summed logits, k = 10⁻⁵. It is highest, minus the number of images, where none is like another.

    Mellor et al., Neural architecture search without training, first version, 2020 (arXiv 2006.04647v1).
    """
    gradients = passes.input_gradients()
    if len(gradients) < 2:
        raise InvalidMeasurement("correlations need two images or more, the batch has 1")
    shifted = np.linalg.eigvalsh(correlations(gradients)) + _OFFSET
    if shifted[0] <= 0:
        raise InvalidMeasurement(f"an eigenvalue of the correlations is {shifted[0] - _OFFSET:.1e}, below zero")
    return -math.fsum(np.log(shifted) + 1 / shifted)
