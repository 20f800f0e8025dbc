"""Correlation of the input gradients within each class."""

from __future__ import annotations

import numpy as np
import torch

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.correlations import correlations
from nasbed.proxies.passes import Passes

_OFFSET = 1e-5
_MANY = 100
"""Above this many classes the paper compares the classes with each other."""


@defined("epe_nas", summary="how unlike the input gradients within a class are", needs=("input_gradients",))
def epe_nas(passes: Passes) -> float:
    """Σ_c |s_c| with s_c = Σ_ij log(|ρ_ij| + k), ρ being the correlations between the gradients of the summed logits of
    the images of class c, k = 10⁻⁵. With more than 100 classes, s_c is divided by the number of its images, and classes
    with a single image do not count. The score is then Σ_cd |s_c − s_d| divided by the number of classes that count.

    Lopes, Alirezazadeh and Alexandre, EPE-NAS: efficient performance estimation without training, ICANN 2021. That
    single images are left out above 100 classes, and add |log(1 + k)| below, is as in the authors' code and in NASLib.
    """
    gradients = passes.input_gradients()
    classes, counts = torch.unique(passes.labels, return_counts=True)
    if counts.max() < 2:
        raise InvalidMeasurement("correlations within a class need a class with two images, the batch has none")
    many_classes = passes.forward().logits.shape[-1] > _MANY
    if many_classes:
        classes = classes[counts > 1]
    sums = []
    for label in classes:
        matrix = correlations(gradients[passes.labels == label])
        sums.append(np.log(np.abs(matrix) + _OFFSET).sum() / (len(matrix) if many_classes else 1))
    if not many_classes:
        return float(np.abs(sums).sum())
    return float(np.abs(np.subtract.outer(sums, sums)).sum() / len(sums))
