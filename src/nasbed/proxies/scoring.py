"""Scoring one network by several proxies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from nasbed.core.errors import InvalidMeasurement, InvalidOption, shorten
from nasbed.proxies.base import Proxy, Score
from nasbed.proxies.passes import Passes


def scores(
    network: nn.Module,
    batch: tuple[Tensor, Tensor],
    proxies: Iterable[Proxy],
    *,
    seed: int = 0,
    loss: Callable[[Tensor, Tensor], Tensor] | None = None,
) -> dict[str, Score]:
    """The scores behind :func:`nasbed.proxies.score_all`.

    Args:
        network: The network.
        batch: Images and labels on the network's device.
        proxies: The proxies.
        seed: The seed of everything that is drawn.
        loss: From logits and labels to the loss; cross-entropy by default.
    """
    selected = list(proxies)
    images, labels = _validate_inputs(network, batch, seed)
    needs = {need for proxy in selected for need in proxy.needs}
    devices = [images.device.index or 0] if images.is_cuda else []
    modes = [(module, module.training) for module in network.modules()]
    try:
        with torch.random.fork_rng(devices):
            passes = Passes(network, images, labels, needs=needs, seed=seed, loss=loss or nn.functional.cross_entropy)
            return {proxy.name: _score(proxy, passes) for proxy in selected}
    finally:
        for module, training in modes:
            module.training = training


def _score(proxy: Proxy, passes: Passes) -> Score:
    seconds = 0.0
    try:
        for need in proxy.needs:
            getattr(passes, need)()
        passes.reset()
        start = perf_counter()
        try:
            value = float(proxy.function(passes))
            remark = passes.remark
        finally:
            passes.wait()
            seconds = perf_counter() - start
    except InvalidMeasurement as problem:
        return Score(None, reason=str(problem), seconds=seconds, shared_seconds=passes.shared_seconds(proxy.needs))
    shared = passes.shared_seconds(proxy.needs)
    if not math.isfinite(value):
        return Score(None, reason=f"the value is {value}", seconds=seconds, shared_seconds=shared)
    return Score(value, remark=remark, seconds=seconds, shared_seconds=shared)


def _validate_inputs(network: Any, batch: Sequence[Any], seed: int) -> tuple[Tensor, Tensor]:
    if not isinstance(network, nn.Module):
        raise InvalidOption(
            f"a proxy scores a torch module, got {type(network).__name__} {shorten(network)}; make one with "
            "nasbed.networks.build"
        )
    if type(seed) is not int or seed < 0:
        raise InvalidOption(f"a seed is a whole number of 0 or more, got {shorten(seed)}")
    if len(batch) != 2 or not all(isinstance(part, Tensor) for part in batch):
        raise InvalidOption(
            f"a batch is a pair of tensors, images and labels, got {shorten([type(part).__name__ for part in batch])}"
        )
    images, labels = batch
    if images.ndim < 2 or not len(images) or not images.is_floating_point():
        raise InvalidOption(
            "images are a tensor of floats, the first dimension counting them, at least one; got "
            f"{images.dtype} of shape {tuple(images.shape)}"
        )
    if not labels.ndim or len(labels) != len(images):
        raise InvalidOption(
            f"a batch has a label for each image, got {len(images)} images and labels of shape {tuple(labels.shape)}"
        )
    if labels.device != images.device:
        raise InvalidOption(f"images and labels are on one device, got {images.device} and {labels.device}; move one")
    for parameter in network.parameters():
        if parameter.is_meta:
            raise InvalidOption(
                "a proxy scores a network with weights, got one on the meta device; build it on another"
            )
        if parameter.device != images.device:
            raise InvalidOption(
                f"batch and network are on one device, got images on {images.device} and weights on {parameter.device}"
            )
    return images.detach(), labels.detach()
