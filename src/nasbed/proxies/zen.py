"""Expressivity with Gaussian weights."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from nasbed.core.errors import InvalidMeasurement
from nasbed.proxies.base import defined
from nasbed.proxies.passes import WEIGHTED, Passes

STEP = 0.01
_MOMENTUM = 0.1
_KEPT = 1 - _MOMENTUM
"""Of running averages, as usual in torch."""
_NORMALISING = nn.modules.batchnorm._BatchNorm
_POOLING = (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)


@defined("zen", summary="response of the features to a small change of the images, with Gaussian weights")
def zen(passes: Passes) -> float:
    """log mean_n ‖f(x_n) − f(x_n + 0.01 ε_n)‖₁ + Σ_b log √(mean_c σ²_bc), with x and ε standard normal and f the input
    of the last global average pooling (the output without one). σ²_bc is the running variance of channel c in batch
    normalisation b after both passes: 0.81 + 0.09 var(x) + 0.1 var(x + 0.01 ε). Weights of convolutions and linear
    layers are drawn from N(0, 1), biases are zero: of the network only its shape counts, of the batch too.

    Lin et al., Zen-NAS: a zero-shot NAS for high-performance image recognition, ICCV 2021. Their formula has the
    Euclidean norm and the variance of the batch itself; their code and the published suite are as here.
    """
    weights = _gaussian(passes)
    images = passes.normal(*passes.images.shape)
    shifted = images + STEP * passes.normal(*passes.images.shape)
    first, second = _RecordedPass(passes, images, weights), _RecordedPass(passes, shifted, weights)
    response = float((first.features - second.features).double().abs().flatten(1).sum(1).mean())
    if not response > 0 or math.isinf(response):
        raise InvalidMeasurement(f"the features change by {response}, which has no logarithm")
    w_first, w_second = _KEPT * _MOMENTUM, _MOMENTUM
    scales = [_KEPT**2 + w_first * x + w_second * y for x, y in zip(first.variances, second.variances, strict=True)]
    return math.log(response) + sum(math.log(scale) / 2 for scale in scales)


class _RecordedPass:
    """A pass with these weights: its features, and the mean variance of the channels before each normalisation."""

    def __init__(self, passes: Passes, images: Tensor, weights: dict[str, Tensor]) -> None:
        pooled: list[Tensor] = []
        self.variances: list[float] = []
        hooks = []
        for module in passes.network.modules():
            if isinstance(module, _POOLING):
                hooks.append(module.register_forward_pre_hook(lambda _, inputs: pooled.append(inputs[0])))
            if isinstance(module, _NORMALISING):
                hooks.append(module.register_forward_pre_hook(self._note_variance))
        passes.seed_torch()
        try:
            with torch.no_grad():
                output = passes.run(images, parameters=weights)
        finally:
            for hook in hooks:
                hook.remove()
        self.features = pooled[-1] if pooled else output

    def _note_variance(self, module: nn.Module, inputs: Any) -> None:
        self.variances.append(float(inputs[0].transpose(0, 1).flatten(1).var(dim=1).double().mean()))


def _gaussian(passes: Passes) -> dict[str, Tensor]:
    """Gaussian parameters by name; parameters of other layers stay."""
    weights = {name: tensor.detach() for name, tensor in passes.parameters.items()}
    for prefix, module in passes.network.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            full = f"{prefix}.{name}" if prefix else name
            if isinstance(module, WEIGHTED):
                weights[full] = passes.normal(*parameter.shape) if name == "weight" else torch.zeros_like(parameter)
            elif isinstance(module, _NORMALISING | nn.GroupNorm):
                weights[full] = torch.ones_like(parameter) if name == "weight" else torch.zeros_like(parameter)
    return weights
