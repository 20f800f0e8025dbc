"""Several networks as one, with the weights of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.core.errors import InvalidOption
from nasbed.networks.baselines.upscaling import Upscaled
from nasbed.networks.stacking.layers import (
    BY_CHANNEL,
    SeparateLayer,
    SharedTensor,
    StackedBatchNorm,
    StackedGroupedConvolution,
    StackedLayer,
    StackedLayerNorm,
    StackedLinear,
    StackedProductConvolution,
)
from nasbed.networks.trimming import TrimmedConvolution

ROUNDING = 0.02
"""How far outputs of the same weights may differ, as a share of the largest: TF32 keeps three digits."""


class StackedNetwork(nn.Module):
    """Networks of one kind side by side, with the outputs and gradients that each has alone.

    The members keep working. Their weights and averages become views of the stacked ones, so what trains one trains the
    other. They may differ in the channels of their images and in their classes. Where a network drops whole paths at
    random, all members drop them for the same places of a batch.
    """

    def __init__(self, networks: Sequence[nn.Module]) -> None:
        super().__init__()
        inner = [network.network if isinstance(network, Upscaled) else network for network in networks]
        kinds = {type(network) for network in inner}
        if len(kinds) != 1:
            names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "none"
            raise InvalidOption(f"networks that train side by side are of one kind, got {names}; train them alone")
        if any(_layers(network) != _layers(inner[0]) for network in inner):
            raise InvalidOption(
                f"networks that train side by side are of one kind, got a {kinds.pop().__name__} with other layers; "
                "train them alone"
            )
        self._sizes = [network.size if isinstance(network, Upscaled) else None for network in networks]
        self._scales: list[SharedTensor] = []
        first = inner[0]
        kept = {id(tensor): tensor for tensor in (*first.parameters(), *first.buffers())}
        self.network: nn.Module = self._stacked(inner, deepcopy(first, kept))
        self._classes = [last_linear(network).out_features for network in inner]

    def forward(self, images: Sequence[Tensor]) -> list[Tensor]:
        """The logits of each member for its own images."""
        seen = [
            batch if size is None else functional.interpolate(batch, size=size, mode="nearest")
            for batch, size in zip(images, self._sizes, strict=True)
        ]
        maps = torch.cat(seen, 1).contiguous(memory_format=torch.channels_last)
        logits: Tensor = self.network(maps)
        return list(torch.split(logits, self._classes, 1))

    def share_gradients(self) -> None:
        """Give each member the gradients of its weights."""
        for tensor in self._shared():
            tensor.share_gradient()

    def check(self, networks: Sequence[nn.Module], images: Sequence[Tensor]) -> None:
        """Raise if the members see images of several sizes, or if a member alone has other outputs. Then some layer
        mixes channels in a way that is unknown here. All are left in training mode."""
        check_one_size(
            size or (batch.shape[2], batch.shape[3]) for size, batch in zip(self._sizes, images, strict=True)
        )
        with torch.no_grad():
            for network in (self, *networks):
                network.eval()
            for own, network, batch in zip(self(images), networks, images, strict=True):
                alone = network(batch)
                if (own - alone).abs().max() > ROUNDING * alone.abs().max():  # never of NaN: that one will diverge
                    raise InvalidOption(
                        f"networks of the kind {type(networks[0]).__name__} cannot train side by side: together they "
                        "give other outputs than alone; train them alone"
                    )
        for network in (self, *networks):
            network.train()

    def _shared(self) -> Iterator[SharedTensor]:
        yield from self._scales
        for module in self.modules():
            if isinstance(module, StackedLayer):
                yield from module.shared

    def _stacked(self, members: Sequence[Any], copy: nn.Module) -> nn.Module:
        """The copy of the first member with the layers of all."""
        layer = _stacked_layer(members)
        if layer is not None:
            return layer
        for name, parameter in list(copy.named_parameters(recurse=False)):
            if parameter.shape[1:] != (1, 1):
                raise InvalidOption(
                    f"networks with a parameter {name} of a {type(copy).__name__} cannot train side by side; "
                    "train them alone"
                )
            scales = SharedTensor.of([getattr(member, name) for member in members], BY_CHANNEL)
            self._scales.append(scales)
            setattr(copy, name, scales.stacked)
        if hasattr(copy, "members"):
            copy.members = len(members)  # type: ignore[assignment]
        for name, child in list(copy.named_children()):
            stacked = self._stacked([member.get_submodule(name) for member in members], child)
            copy.add_module(name, stacked)
        return copy


def last_linear(network: nn.Module) -> nn.Linear:
    """The classifier of a network."""
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear)]
    if not layers:
        raise InvalidOption(f"{type(network).__name__} has no linear layer as its classifier; train it alone")
    return layers[-1]


def check_one_size(seen: Iterable[tuple[int, int]]) -> None:
    """Raise if members see images of several sizes, each a height and a width."""
    sizes = [f"{height} × {width}" for height, width in dict.fromkeys(seen)]
    if len(sizes) > 1:
        raise InvalidOption(
            f"networks that train side by side see images of one size, these see {', '.join(sizes)} pixels; train "
            "them alone, without --together"
        )


def _layers(network: nn.Module) -> list[tuple[Any, ...]]:
    """The names and kinds of all layers, and the shapes of their weights. Those of convolutions and linear layers may
    differ, and are left out."""
    return [
        (name, type(layer), *(() if isinstance(layer, nn.Conv2d | nn.Linear) else _shapes(layer)))
        for name, layer in network.named_modules()
    ]


def _shapes(layer: nn.Module) -> list[torch.Size]:
    return [tensor.shape for tensor in (*layer.parameters(recurse=False), *layer.buffers(recurse=False))]


def _stacked_layer(members: Sequence[Any]) -> nn.Module | None:
    """The layers of all members as one; None for a module of other modules, or one without weights."""
    first = members[0]
    kind = type(first)
    if kind in (nn.Conv2d, TrimmedConvolution, nn.Linear):
        if any(layer.weight.shape != first.weight.shape for layer in members):
            return SeparateLayer(members)
        if kind is nn.Linear:
            return StackedLinear(members)
        return (
            StackedProductConvolution(members)
            if StackedProductConvolution.suits(first)
            else StackedGroupedConvolution(members)
        )
    if kind is nn.BatchNorm2d and StackedBatchNorm.suits(first):
        return StackedBatchNorm(members)
    if isinstance(first, nn.LayerNorm) and StackedLayerNorm.suits(first):
        return StackedLayerNorm(members, channels_first=kind is not nn.LayerNorm)
    if isinstance(first, nn.BatchNorm2d | nn.LayerNorm):
        raise InvalidOption(f"networks with {first} cannot train side by side; train them alone")
    return None
