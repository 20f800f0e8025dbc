"""Overlap of the activation patterns."""

from __future__ import annotations

import numpy as np
import torch

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("nwot", summary="how unlike the activation patterns of the images are", needs=("patterns",))
def nwot(passes: Passes) -> float:
    """log |det K|, K_ij being the number of rectifiers that images i and j either both switch on or both leave off.

    Mellor et al., Neural architecture search without training, ICML 2021 (NASWOT). Every rectifier that runs counts, as
    in NASLib, which made the published scores. The authors' own code leaves out those that no gradient of the output
    reaches, as on an edge that leads nowhere.
    """
    patterns = passes.patterns()
    images = len(passes.images)
    if images < 2:
        raise InvalidMeasurement("patterns are compared between two images or more, the batch has 1")
    alike = torch.zeros(images, images, dtype=torch.double, device=passes.images.device)
    for pattern in patterns:
        if len(pattern) != images:
            raise InvalidMeasurement("a rectifier's input does not have one row for each image")
        signs = pattern.float() * 2 - 1  # agreements minus disagreements are exact below 2²⁴ units
        alike += (signs @ signs.T + pattern.shape[1]) / 2
    sign, logarithm = np.linalg.slogdet(alike.cpu().numpy())
    if not sign:
        raise InvalidMeasurement("two images have the same pattern, so that the determinant is zero")
    return float(logarithm)
