"""Least eigenvalue of the correlations between channels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes


@defined("meco", summary="least eigenvalue of the correlations between the channels of each layer")
def meco(passes: Passes) -> float:
    """Σ_l λ_min(P_l), P_l being the correlations between the channels of the output of layer l for one standard normal
    image of the batch's shape, in training mode. Layers are the modules without modules inside whose output has places
    as well as channels. A constant channel correlates with nothing, itself included, so the least eigenvalue of its
    layer is 0. It is also 0 where a layer has no more places than channels.

    Jiang, Wang and Bie, MeCo: zero-shot NAS with one data and single forward pass via minimum eigenvalue of
    correlation, NeurIPS 2023. Their code draws an image of 64 pixels and counts modules that hold others again.
    """
    least: list[float] = []
    constant = 0

    def note(module: nn.Module, inputs: Any, output: Any) -> None:
        nonlocal constant
        if not isinstance(output, Tensor) or output.ndim < 3 or not output.is_floating_point():
            return
        channels = output[0].double().flatten(1)
        if not torch.isfinite(channels).all():
            raise InvalidMeasurement("the output of a layer is not finite")
        channels = channels - channels.mean(1, keepdim=True)
        lengths = channels.norm(dim=1, keepdim=True)
        flat = bool((lengths == 0).any())
        constant += flat
        if flat or channels.shape[1] <= len(channels):
            least.append(0.0)
            return
        channels = channels / lengths
        least.append(float(torch.linalg.eigvalsh(channels @ channels.T)[0].clamp(min=0)))

    leaves = [module for module in passes.network.modules() if not any(module.children())]
    hooks = [module.register_forward_hook(note) for module in leaves]
    try:
        with torch.no_grad():
            passes.run(passes.normal(1, *passes.images.shape[1:]))
    finally:
        for hook in hooks:
            hook.remove()
    if not least:
        raise InvalidMeasurement("no layer has an output with places as well as channels")
    if constant:
        passes.remark = f"{constant} of {len(least)} layers have a channel that does not vary and count as zero"
    return sum(least)
