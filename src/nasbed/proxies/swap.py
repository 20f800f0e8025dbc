"""Sample-wise activation patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("swap", summary="number of different patterns that rectifiers show over the images", needs=("patterns",))
def swap(passes: Passes) -> float:
    """How many different patterns over the batch the rectifiers of the network show; the pattern of one says which of
    the images switch it on. Without the paper's factor that favours a chosen size.

    Peng et al., SWAP-NAS: sample-wise activation patterns for ultra-fast NAS, ICLR 2024.
    """
    patterns = passes.patterns()
    images = len(passes.images)
    if any(len(pattern) != images for pattern in patterns):
        raise InvalidMeasurement("a rectifier's input does not have one row for each image")
    packed = np.concatenate([_packed(pattern) for pattern in patterns])
    return len(np.unique(packed))


def _packed(pattern: Tensor) -> NDArray[Any]:
    """One value for each unit, its bits saying which images switch it on."""
    octets = np.packbits(pattern.cpu().numpy(), axis=0).T
    missing = -octets.shape[1] % 8
    padded = np.ascontiguousarray(np.pad(octets, ((0, 0), (0, missing))))
    words = padded.view(np.uint64)
    return words[:, 0] if words.shape[1] == 1 else words.view(f"V{8 * words.shape[1]}")[:, 0]
