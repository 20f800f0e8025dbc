"""Layers of several networks as one: maps lie side by side as channels, ``[images, members * channels, ...]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.networks.stacking.products import patches, products, same_convolution
from nasbed.networks.trimming import trimmed_convolution


@dataclass(frozen=True, slots=True)
class MemberLayout:
    """How a tensor of all members is made of one of each, and how it is viewed as these."""

    join: Callable[[Sequence[Tensor]], Tensor]
    split: Callable[[Tensor, int], Sequence[Tensor]]


BY_CHANNEL = MemberLayout(lambda tensors: torch.cat(list(tensors)), lambda tensor, members: tensor.chunk(members))
BY_MEMBER = MemberLayout(lambda tensors: torch.stack(list(tensors)), lambda tensor, members: tensor.unbind())
KERNELS = MemberLayout(
    lambda tensors: torch.stack([tensor.permute(0, 2, 3, 1) for tensor in tensors]),
    lambda tensor, members: [kernel.permute(0, 3, 1, 2) for kernel in tensor.unbind()],
)
"""By member, with the inputs last as in channels-last memory."""


@dataclass(frozen=True, slots=True)
class SharedTensor:
    """A tensor of all members whose parts are the members' own tensors: what changes one changes the other."""

    stacked: Tensor
    members: tuple[Tensor, ...]
    layout: MemberLayout

    @classmethod
    def of(cls, tensors: Sequence[Tensor], layout: MemberLayout) -> SharedTensor:
        """Move the members' tensors into a new one."""
        stacked = layout.join([tensor.detach() for tensor in tensors]).contiguous()
        if isinstance(tensors[0], nn.Parameter):
            stacked = nn.Parameter(stacked, requires_grad=tensors[0].requires_grad)
        for tensor, view in zip(tensors, layout.split(stacked.detach(), len(tensors)), strict=True):
            tensor.data = view
        return cls(stacked, tuple(tensors), layout)

    def share_gradient(self) -> None:
        """Give each member its part of the gradient, or none where there is none."""
        gradient, count = self.stacked.grad, len(self.members)
        parts = [None] * count if gradient is None else self.layout.split(gradient, count)
        for member, part in zip(self.members, parts, strict=True):
            member.grad = part


class StackedLayer(nn.Module):
    """A layer of all members. ``shared`` are its tensors."""

    def __init__(self, members: Sequence[nn.Module]) -> None:
        super().__init__()
        self.members = len(members)
        self.shared: list[SharedTensor] = []
        self._layers: tuple[Any, ...] = tuple(members)

    def share(self, name: str, layout: MemberLayout) -> None:
        """Make the tensor of this name from the members' tensors, or None where they have none."""
        tensors = [getattr(layer, name) for layer in self._layers]
        if tensors[0] is None:
            setattr(self, name, None)
            return
        tensor = SharedTensor.of(tensors, layout)
        self.shared.append(tensor)
        if isinstance(tensor.stacked, nn.Parameter):
            self.register_parameter(name, tensor.stacked)
        else:
            self.register_buffer(name, tensor.stacked)


class StackedLinear(StackedLayer):
    weight: Tensor
    bias: Tensor | None

    def __init__(self, members: Sequence[nn.Linear]) -> None:
        super().__init__(members)
        self.share("weight", BY_MEMBER)
        self.share("bias", BY_CHANNEL)

    def forward(self, inputs: Tensor) -> Tensor:
        rows = products(inputs.reshape(-1, inputs.shape[-1]), self.weight)
        rows = rows if self.bias is None else rows + self.bias
        return rows.view(*inputs.shape[:-1], -1)


class StackedProductConvolution(StackedLayer):
    """Convolutions without groups, of stride 1 and the same size, or with a stride as large as the kernel."""

    weight: Tensor
    bias: Tensor | None

    def __init__(self, members: Sequence[nn.Conv2d]) -> None:
        super().__init__(members)
        self.is_same = members[0].stride == (1, 1)
        self.share("weight", KERNELS)
        self.share("bias", BY_CHANNEL)

    @staticmethod
    def suits(layer: nn.Conv2d) -> bool:
        rows, columns = layer.kernel_size
        is_same = layer.stride == (1, 1) and layer.padding == (rows // 2, columns // 2) and rows % 2 == columns % 2 == 1
        is_patches = layer.stride == layer.kernel_size and layer.padding == (0, 0)
        return layer.groups == 1 and layer.dilation == (1, 1) and (is_same or is_patches)

    def forward(self, inputs: Tensor) -> Tensor:
        maps = inputs.permute(0, 2, 3, 1).contiguous()
        if self.is_same:
            maps = same_convolution(maps, self.weight)
        else:
            seen = patches(maps, self.members, *self.weight.shape[2:4])
            maps = products(seen.flatten(0, 2), self.weight.flatten(2)).view(*seen.shape[:3], -1)
        maps = maps if self.bias is None else maps + self.bias
        return maps.permute(0, 3, 1, 2)


class StackedGroupedConvolution(StackedLayer):
    """Any convolutions, the members as groups: that is the fast way for depthwise ones."""

    weight: Tensor
    bias: Tensor | None

    def __init__(self, members: Sequence[nn.Conv2d]) -> None:
        super().__init__(members)
        first = members[0]
        self.stride, self.padding, self.dilation = first.stride, first.padding, first.dilation
        self.groups = first.groups * len(members)
        self.share("weight", BY_CHANNEL)
        self.share("bias", BY_CHANNEL)

    def forward(self, inputs: Tensor) -> Tensor:
        options: Any = {"stride": self.stride, "padding": self.padding, "dilation": self.dilation}
        convolution = functional.conv2d if isinstance(self.padding, str) else trimmed_convolution
        return convolution(inputs, self.weight, self.bias, **options, groups=self.groups)


class StackedBatchNorm(StackedLayer):
    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, members: Sequence[nn.BatchNorm2d]) -> None:
        super().__init__(members)
        self.eps, self.momentum = members[0].eps, members[0].momentum
        for name in ("weight", "bias", "running_mean", "running_var"):
            self.share(name, BY_CHANNEL)

    @staticmethod
    def suits(layer: nn.BatchNorm2d) -> bool:
        return layer.affine and layer.track_running_stats and layer.momentum is not None

    def forward(self, inputs: Tensor) -> Tensor:
        return functional.batch_norm(
            inputs,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training,
            self.momentum or 0.0,
            self.eps,
        )


class StackedLayerNorm(StackedLayer):
    """Normalises the last dimension, or with ``channels_first`` the second."""

    weight: Tensor
    bias: Tensor

    def __init__(self, members: Sequence[nn.LayerNorm], *, channels_first: bool = False) -> None:
        super().__init__(members)
        self.eps, self.channels_first = members[0].eps, channels_first
        self.share("weight", BY_CHANNEL)
        self.share("bias", BY_CHANNEL)

    @staticmethod
    def suits(layer: nn.LayerNorm) -> bool:
        is_known = type(layer).__name__ in ("LayerNorm", "LayerNorm2d")
        return is_known and layer.elementwise_affine and len(layer.normalized_shape) == 1 and layer.bias is not None

    def forward(self, inputs: Tensor) -> Tensor:
        maps = inputs.permute(0, 2, 3, 1) if self.channels_first else inputs
        by_member = maps.reshape(*maps.shape[:-1], self.members, -1)
        normal = functional.layer_norm(by_member, by_member.shape[-1:], eps=self.eps).flatten(-2)
        result = torch.addcmul(self.bias, normal, self.weight)
        return result.permute(0, 3, 1, 2) if self.channels_first else result


class SeparateLayer(nn.Module):
    """The members' own layers, one after another: first convolutions and classifiers, whose shapes differ."""

    def __init__(self, members: Sequence[nn.Conv2d | nn.Linear]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(members)
        self.inputs = [layer.in_channels if isinstance(layer, nn.Conv2d) else layer.in_features for layer in members]

    def forward(self, inputs: Tensor) -> Tensor:
        parts = torch.split(inputs, self.inputs, dim=1)
        return torch.cat([layer(part) for layer, part in zip(self.layers, parts, strict=True)], 1)
