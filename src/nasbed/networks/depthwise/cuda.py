"""Depthwise convolutions on a GPU, for maps whose channels are last in memory, by Triton kernels of our own.

A step of a supernet takes a seventh less time with them than with torch's (``python benchmarks/supernets.py``). They
need Triton, which comes with torch for CUDA, and the C compiler that Triton needs.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib.util import find_spec
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nasbed.core.errors import shorten

_LOG = logging.getLogger(__name__)
Pair = tuple[int, int]
VALUES = 2_048
"""The places times channels of a program."""
PROGRAMS = 1_056
"""About as many programs compute the gradient by the kernels: eight for each multiprocessor of an H200."""
LARGEST = 2**31
"""Places in memory are computed in 32 bits."""


@cache
def compiles_kernels(device: torch.device) -> bool:
    """Whether Triton compiles for a GPU. Where it is installed and does not, as without a C compiler, a warning says so
    once."""
    if find_spec("triton") is None:
        return False
    maps, kernels = torch.zeros(1, 1, 1, 1, device=device), torch.zeros(1, 1, 1, 1, device=device)
    try:
        cuda_depthwise_convolution(maps, kernels, stride=(1, 1), padding=(0, 0), dilation=(1, 1))
    except Exception as error:
        reason = shorten(str(error).partition("\n")[0], 200)
        _LOG.warning("Triton cannot compile for %s, so depthwise convolutions are torch's: %s", device, reason)
        return False
    return True


def suits_cuda_kernels(maps: Tensor, *, stride: Pair, dilation: Pair) -> bool:
    """Whether :func:`cuda_depthwise_convolution` takes maps: on a GPU, channels last, alike in both directions."""
    return (
        maps.is_cuda
        and maps.dtype == torch.float32
        and not torch.is_autocast_enabled("cuda")
        and maps.is_contiguous(memory_format=torch.channels_last)
        and stride[0] == stride[1]
        and dilation[0] == dilation[1]
        and maps.numel() < LARGEST
        and compiles_kernels(maps.device)
    )


class _ConvolutionShape(NamedTuple):
    """Sides of the maps, the results and the kernels, the borders, the stride and the dilation."""

    maps: Pair
    results: Pair
    kernel: Pair
    border: Pair
    stride: int
    dilation: int

    @classmethod
    def of(cls, maps: Tensor, kernels: Tensor, stride: Pair, padding: Pair, dilation: Pair) -> _ConvolutionShape:
        """That of a convolution.

        Args:
            maps, kernels, stride, padding, dilation: As of :func:`cuda_depthwise_convolution`.
        """
        sides = (maps.shape[2], maps.shape[3])
        kernel = (kernels.shape[2], kernels.shape[3])
        rows, columns = (
            (side + 2 * border - step * (length - 1) - 1) // apart + 1
            for side, border, step, length, apart in zip(sides, padding, dilation, kernel, stride, strict=True)
        )
        return cls(sides, (rows, columns), kernel, padding, stride[0], dilation[0])

    def gradients(self, slopes: Tensor, maps: Tensor, kernels: Tensor) -> tuple[Tensor, Tensor]:
        """torch's own gradients by the maps and the kernels, which have gradients themselves."""
        stride, dilation, groups = (self.stride,) * 2, (self.dilation,) * 2, len(kernels)
        by_maps, by_kernels, _ = torch.ops.aten.convolution_backward(
            slopes, maps, kernels, None, stride, self.border, dilation, False, (0, 0), groups, (True, True, False)
        )
        return by_maps, by_kernels

    @property
    def arguments(self) -> tuple[int, ...]:
        return (*self.maps, *self.results, *self.border)

    @property
    def constants(self) -> dict[str, int]:
        return {"KH": self.kernel[0], "KW": self.kernel[1], "STRIDE": self.stride, "DILATION": self.dilation}


def cuda_depthwise_convolution(maps: Tensor, kernels: Tensor, *, stride: Pair, padding: Pair, dilation: Pair) -> Tensor:
    """A kernel for each channel, on maps for which :func:`suits_cuda_kernels`.

    Args:
        maps, stride, padding, dilation: As of ``torch.nn.functional.conv2d``.
        kernels: One for each channel, ``[channels, 1, height, width]``.
    """
    shape = _ConvolutionShape.of(maps, kernels, stride, padding, dilation)
    result: Tensor = _CudaDepthwise.apply(maps, kernels, shape)  # type: ignore[no-untyped-call]
    return result


class _CudaDepthwise(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, kernels: Tensor, shape: _ConvolutionShape) -> Tensor:
        from nasbed.networks.depthwise.triton_kernels import forward

        kernels = kernels.contiguous()
        ctx.save_for_backward(maps, kernels)
        ctx.shape = shape
        return _by_places(forward, maps, kernels, shape, shape.results)

    @staticmethod
    def backward(ctx: Any, *slopes_of_outputs: Tensor) -> tuple[Tensor | None, ...]:
        from nasbed.networks.depthwise.triton_kernels import backward_maps

        (slopes,), (maps, kernels), shape = slopes_of_outputs, ctx.saved_tensors, ctx.shape
        if torch.is_grad_enabled():  # which asks for a gradient of this gradient
            return *shape.gradients(slopes, maps, kernels), None
        slopes = slopes.contiguous(memory_format=torch.channels_last)
        by_maps = _by_places(backward_maps, slopes, kernels, shape, shape.maps) if ctx.needs_input_grad[0] else None
        by_kernels = _by_kernels(slopes, maps, kernels, shape) if ctx.needs_input_grad[1] else None
        return by_maps, by_kernels, None


def _by_places(kernel: Any, source: Tensor, kernels: Tensor, shape: _ConvolutionShape, sides: Pair) -> Tensor:
    """What a Triton kernel computes for each place of an image with these sides."""
    import triton

    images, channels = source.shape[:2]
    result = source.new_empty((images, *sides, channels)).permute(0, 3, 1, 2)
    places, block = images * prod(sides), min(64, triton.next_power_of_2(channels))
    grid = (triton.cdiv(places, VALUES // block), triton.cdiv(channels, block))
    with torch.cuda.device_of(source):  # type: ignore[no-untyped-call]
        kernel[grid](
            source, kernels, result, places, channels, *shape.arguments, **shape.constants, BM=VALUES // block, BC=block
        )
    return result


def _by_kernels(slopes: Tensor, maps: Tensor, kernels: Tensor, shape: _ConvolutionShape) -> Tensor:
    """In chunks that are added up in a fixed order, so that results do not depend on which ends first."""
    import triton

    from nasbed.networks.depthwise.triton_kernels import backward_kernels

    images, channels = slopes.shape[:2]
    wide, block = triton.next_power_of_2(shape.kernel[1]), min(32, triton.next_power_of_2(channels))
    places, together = images * prod(shape.results), max(1, 2 * VALUES // (wide * block))
    rows = triton.cdiv(channels, block) * shape.kernel[0]
    chunks = max(1, min(PROGRAMS // rows, triton.cdiv(places, 4 * together)))
    per_chunk = triton.cdiv(triton.cdiv(places, chunks), together) * together
    sums = slopes.new_empty((chunks, *kernels.shape), dtype=torch.float32)
    grid = (triton.cdiv(channels, block), shape.kernel[0], chunks)
    with torch.cuda.device_of(slopes):  # type: ignore[no-untyped-call]
        backward_kernels[grid](
            slopes, maps, sums, places, per_chunk, channels, *shape.arguments, **shape.constants,
            WIDE=wide, BM=together, BC=block,
        )  # fmt: skip
    return (sums[0] if chunks == 1 else sums.sum(0)).to(kernels.dtype)
