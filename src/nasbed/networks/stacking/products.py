"""Products of several networks at once, each with its own weights, and convolutions as such products.

Maps of the members lie side by side: ``[images, height, width, members * channels]``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nasbed.networks.trimming import trimmed_kernel


def products(rows: Tensor, weights: Tensor) -> Tensor:
    """Each member's rows by its weights: ``[rows, members * outputs]`` from ``[rows, members * inputs]`` and
    ``[members, outputs, inputs]``."""
    result: Tensor = _Products.apply(rows, weights)  # type: ignore[no-untyped-call]
    return result


def same_convolution(maps: Tensor, weights: Tensor) -> Tensor:
    """Convolutions of stride 1 that keep height and width, with weights ``[members, outputs, rows, columns, inputs]``
    of odd sides."""
    border = (weights.shape[2] // 2, weights.shape[3] // 2)
    weights, _ = trimmed_kernel(weights, border, (maps.shape[1], maps.shape[2]), dims=(2, 3))
    if weights.shape[2] == weights.shape[3] == 1:
        flat = products(maps.flatten(0, 2), weights.flatten(2))
        return flat.view(*maps.shape[:3], -1)
    result: Tensor = _SameConvolution.apply(maps, weights)  # type: ignore[no-untyped-call]
    return result


def windows(maps: Tensor, members: int, rows: int, columns: int) -> Tensor:
    """What a kernel of odd sides sees at each place, zeros outside: ``[images * height * width, members * rows *
    columns * channels]``."""
    padded = functional.pad(maps, (0, 0, columns // 2, columns // 2, rows // 2, rows // 2))
    views = padded.view(*padded.shape[:3], members, -1).unfold(1, rows, 1).unfold(2, columns, 1)
    return views.permute(0, 1, 2, 3, 5, 6, 4).reshape(maps.shape[:3].numel(), -1)


def patches(maps: Tensor, members: int, rows: int, columns: int) -> Tensor:
    """:func:`windows` of a kernel whose stride is its size, without a border:
    ``[images, height, width, members * rows * columns * channels]`` with the new height and width."""
    height, width = maps.shape[1] // rows, maps.shape[2] // columns
    whole = maps[:, : height * rows, : width * columns]
    parts = whole.reshape(len(maps), height, rows, width, columns, members, -1)
    return parts.permute(0, 1, 3, 5, 2, 4, 6).reshape(len(maps), height, width, -1)


class _Products(torch.autograd.Function):
    """Without the copies that would put the members in front and back."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weights: Tensor) -> Tensor:
        ctx.save_for_backward(rows, weights)
        return _multiplied(rows, weights.transpose(1, 2))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        rows, weights = ctx.saved_tensors
        gradient = gradient.contiguous()
        by_rows = _multiplied(gradient, weights) if ctx.needs_input_grad[0] else None
        by_weights = _outer_products(gradient, rows, len(weights)) if ctx.needs_input_grad[1] else None
        return by_rows, by_weights


class _SameConvolution(torch.autograd.Function):
    """A convolution is a product of windows. So is its gradient by the maps, with the kernels turned round."""

    @staticmethod
    def forward(ctx: Any, maps: Tensor, weights: Tensor) -> Tensor:
        members, outputs, rows, columns, _ = weights.shape
        seen = windows(maps, members, rows, columns)
        ctx.save_for_backward(seen, weights)
        result = _multiplied(seen, weights.reshape(members, outputs, -1).transpose(1, 2))
        return result.view(*maps.shape[:3], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        seen, weights = ctx.saved_tensors
        members, outputs, rows, columns, inputs = weights.shape
        gradient = gradient.contiguous()
        by_maps = by_weights = None
        if ctx.needs_input_grad[0]:
            turned = weights.flip(2, 3).permute(0, 2, 3, 1, 4).reshape(members, rows * columns * outputs, inputs)
            by_maps = _multiplied(windows(gradient, members, rows, columns), turned).view(*gradient.shape[:3], -1)
        if ctx.needs_input_grad[1]:
            by_weights = _outer_products(gradient.flatten(0, 2), seen, members).view_as(weights)
        return by_maps, by_weights


def _multiplied(rows: Tensor, factors: Tensor) -> Tensor:
    """``[rows, members * outputs]`` from ``[rows, members * inputs]`` and ``[members, inputs, outputs]``."""
    members, _, outputs = factors.shape
    result = rows.new_empty(len(rows), members * outputs)
    torch.bmm(_by_member(rows, members), factors, out=_by_member(result, members))
    return result


def _outer_products(gradient: Tensor, rows: Tensor, members: int) -> Tensor:
    """``[members, outputs, inputs]``."""
    return torch.bmm(_by_member(gradient, members).transpose(1, 2), _by_member(rows, members))


def _by_member(rows: Tensor, members: int) -> Tensor:
    return rows.view(len(rows), members, -1).transpose(0, 1)
