"""Grouped convolutions of one pixel on a GPU, for maps whose channels are last in memory, by Triton kernels of our own.

torch computes the groups one after another, in several kernels each. Supernets have hundreds of such convolutions in a
step: a gradient of PC-DARTS takes a fifth less time with these (``python benchmarks/supernets.py``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from nasbed.networks.depthwise.cuda import LARGEST, compiles_kernels

MOST_CHANNELS = 64
"""The most channels of a group; torch's kernels are made for more."""
VALUES = 4_096
"""The places of a program times the weights of a group, where these are multiplied without matrix units."""
PLACES = 64
"""The places of a program whose groups are wide enough for matrix units."""
PROGRAMS = 1_056
"""About as many programs compute the gradient by the weights: eight for each multiprocessor of an H200."""


def suits_pointwise_kernels(maps: Tensor, weight: Tensor, *, groups: int) -> bool:
    """Whether :func:`cuda_pointwise_convolution` takes maps: on a GPU, channels last, few channels in a group."""
    outputs, inputs = len(weight) // groups, weight.shape[1]
    return (
        maps.is_cuda
        and maps.dtype == torch.float32
        and not torch.is_autocast_enabled("cuda")
        and maps.is_contiguous(memory_format=torch.channels_last)
        and max(inputs, outputs) <= MOST_CHANNELS
        and max(maps.numel(), maps.numel() // inputs * outputs) < LARGEST
        and compiles_kernels(maps.device)
    )


def cuda_pointwise_convolution(maps: Tensor, weight: Tensor, *, groups: int) -> Tensor:
    """What ``torch.nn.functional.conv2d(maps, weight, groups=groups)`` computes with kernels of one pixel, on maps for
    which :func:`suits_pointwise_kernels`.

    Factors in groups of more than 8 channels are rounded as torch rounds those of convolutions, by
    ``torch.backends.cudnn.allow_tf32``.
    """
    result: Tensor = _CudaPointwise.apply(maps, weight, groups)  # type: ignore[no-untyped-call]
    return result


class _Block(NamedTuple):
    """Channels of a group, read and written, and what a program computes of it."""

    groups: int
    read: int
    written: int

    def constants(self) -> dict[str, Any]:
        """The constants of the kernels."""
        import triton

        read, written = triton.next_power_of_2(self.read), triton.next_power_of_2(self.written)
        has_units = min(read, written) >= 16
        return {
            "READ": self.read,
            "WRITTEN": self.written,
            "BM": PLACES if has_units else max(1, VALUES // (read * written)),
            "BR": read,
            "BW": written,
            "PRECISION": "tf32" if torch.backends.cudnn.allow_tf32 else "ieee",
        }


class _CudaPointwise(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, maps: Tensor, weight: Tensor, groups: int) -> Tensor:
        weight = weight.contiguous()
        ctx.save_for_backward(maps, weight)
        ctx.groups = groups
        outputs, inputs = len(weight) // groups, weight.shape[1]
        return _products(maps, weight, _Block(groups, inputs, outputs), strides=(1, inputs))

    @staticmethod
    def backward(ctx: Any, *slopes_of_outputs: Tensor) -> tuple[Tensor | None, ...]:
        (slopes,), (maps, weight), groups = slopes_of_outputs, ctx.saved_tensors, ctx.groups
        if torch.is_grad_enabled():  # which asks for a gradient of this gradient
            by_maps, by_weight, _ = torch.ops.aten.convolution_backward(
                slopes, maps, weight, None, (1, 1), (0, 0), (1, 1), False, (0, 0), groups, (True, True, False)
            )
            return by_maps, by_weight, None
        slopes = slopes.contiguous(memory_format=torch.channels_last)
        outputs, inputs = len(weight) // groups, weight.shape[1]
        own_maps = own_weight = None
        if ctx.needs_input_grad[0]:
            own_maps = _products(slopes, weight, _Block(groups, outputs, inputs), strides=(inputs, 1))
        if ctx.needs_input_grad[1]:
            own_weight = _weight_gradient(slopes, maps, _Block(groups, inputs, outputs)).view_as(weight)
        return own_maps, own_weight, None


def _products(source: Tensor, weight: Tensor, block: _Block, *, strides: tuple[int, int]) -> Tensor:
    """Each group of maps times its matrix; ``strides`` are between weights of channels read and written."""
    import triton

    from nasbed.networks.pointwise.triton_kernels import products

    images, _, height, width = source.shape
    places, constants = images * height * width, block.constants()
    result = source.new_empty((images, height, width, block.groups * block.written)).permute(0, 3, 1, 2)
    grid = (triton.cdiv(places, constants["BM"]), block.groups)
    with torch.cuda.device_of(source):  # type: ignore[no-untyped-call]
        products[grid](source, weight, result, places, block.groups, block.read * block.written, *strides, **constants)
    return result


def _weight_gradient(slopes: Tensor, maps: Tensor, block: _Block) -> Tensor:
    """In chunks that are added up in a fixed order, so that results do not depend on which ends first."""
    import triton

    from nasbed.networks.pointwise.triton_kernels import backward_weights

    images, _, height, width = maps.shape
    places, constants = images * height * width, block.constants()
    together = constants["BM"]
    chunks = max(1, min(triton.cdiv(PROGRAMS, block.groups), triton.cdiv(places, 4 * together)))
    per_chunk = triton.cdiv(triton.cdiv(places, chunks), together) * together
    sums = maps.new_empty((chunks, block.groups * block.written, block.read))
    with torch.cuda.device_of(maps):  # type: ignore[no-untyped-call]
        backward_weights[(block.groups, chunks)](slopes, maps, sums, places, block.groups, per_chunk, **constants)
    return sums[0] if chunks == 1 else sums.sum(0)
