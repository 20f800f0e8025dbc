"""The number of operations on one image."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from nasbed.core.errors import InvalidMeasurement
from nasbed.networks.shapes import shapes_only
from nasbed.proxies.base import defined
from nasbed.proxies.passes import Passes

_IMAGES = 2
"""Batch normalisation in training mode refuses a single pixel."""
_CONVOLVING = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_RECTIFYING = (nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.PReLU, nn.ELU)
_NORMALISING = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_POOLING = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d, nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)
_ADAPTING = (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)


@defined("flops", summary="operations on one image")
def flops(passes: Passes) -> float:
    """Counted as in the published suite, which gives millions. Convolutions and linear layers count their
    multiply-adds. An activation counts 1 for each element, a batch normalisation 2, and a pooling its window for each
    output. The window of an adaptive pooling is taken one wider and one higher than it is, as the published counts have
    it.

    Only modules count, in training mode and each time they run; functions such as ``torch.relu`` do not. A baseline of
    Ning et al., Evaluating efficient performance estimators of neural architectures, NeurIPS 2021.
    """
    counts: list[int] = []

    def count(module: nn.Module, inputs: Any, output: Any) -> None:
        counts.append(_operations(module, inputs[0], output))

    kinds = (*_CONVOLVING, nn.Linear, *_RECTIFYING, *_NORMALISING, *_POOLING, *_ADAPTING)
    hooks = [item.register_forward_hook(count) for item in passes.network.modules() if isinstance(item, kinds)]
    if not hooks:
        raise InvalidMeasurement("the network has no layer whose operations are counted")
    tensors = {**passes.parameters, **dict(passes.network.named_buffers())}
    weightless = {name: torch.empty_like(item, device="meta") for name, item in tensors.items()}
    images = torch.empty(_IMAGES, *passes.images.shape[1:], device="meta", dtype=passes.images.dtype)
    passes.network.train()
    try:
        with shapes_only(), torch.no_grad():
            functional_call(passes.network, weightless, (images,))
    except (RuntimeError, ValueError) as problem:
        raise InvalidMeasurement(f"the network cannot be run without weights: {str(problem).splitlines()[0]}") from None
    finally:
        for hook in hooks:
            hook.remove()
    return sum(counts) / _IMAGES


def _operations(module: nn.Module, inputs: Tensor, output: Tensor) -> int:
    """The operations on all images."""
    if isinstance(module, _CONVOLVING):
        return output.numel() * (module.in_channels // module.groups) * prod(module.kernel_size)
    if isinstance(module, nn.Linear):
        return output.numel() * module.in_features
    if isinstance(module, _RECTIFYING):
        return inputs.numel()
    if isinstance(module, _NORMALISING):
        return inputs.numel() * (2 if module.affine else 1)
    places = inputs.shape[2:]
    if isinstance(module, _POOLING):
        return output.numel() * prod(_sides(module.kernel_size, len(places)))
    return output.numel() * prod(-(-old // new) + 1 for old, new in zip(places, output.shape[2:], strict=True))


def _sides(size: int | tuple[int, ...], dimensions: int) -> tuple[int, ...]:
    return (size,) * dimensions if isinstance(size, int) else size
