"""The number of parameters."""

from __future__ import annotations

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("params", summary="number of parameters")
def params(passes: Passes) -> float:
    """Every element of every parameter, each once, frozen or not. The published suite counts millions.

    A baseline of Abdelfattah et al., Zero-cost proxies for lightweight NAS, ICLR 2021; Ning et al., Evaluating
    efficient performance estimators of neural architectures, NeurIPS 2021.
    """
    if not passes.parameters:
        raise InvalidMeasurement("the network has no parameters")
    return sum(parameter.numel() for parameter in passes.parameters.values())
