"""Convolutions from all input planes to all output planes, as sums of matrix products."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.addresses import places
from nasbed.training.population.kernels.pixels import pixel


@triton.jit
def _operation(operations):
    """The row of this program's convolution, the place of its weights, and whether it rectifies its input."""
    row = tl.program_id(0).to(tl.int64)
    return row, tl.load(operations + row * 3), tl.load(operations + row * 3 + 1) != 0


@triton.jit
def _input_place(
    m, M, i, j, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr, K: tl.constexpr,
    STRIDE: tl.constexpr, SHIFT: tl.constexpr,
):  # fmt: skip
    """The pixels that tap ``i``, ``j`` of the windows of output pixels reads, and which of them are in the image."""
    if K == 1 and STRIDE == 1 and SHIFT == 0:
        place = m
        inside = m < M
    else:
        image, h, w = pixel(m, HO, WO)
        ih = h * STRIDE + SHIFT + i
        iw = w * STRIDE + SHIFT + j
        inside = (m < M) & (ih >= 0) & (ih < HI) & (iw >= 0) & (iw < WI)
        place = image * (HI * WI) + ih * WI + iw
    return place, inside


@triton.jit
def conv_forward(
    arena, weights, inputs, outputs, operations, partials, M, CI: tl.constexpr, CO: tl.constexpr, K: tl.constexpr,
    HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr, STRIDE: tl.constexpr, SHIFT: tl.constexpr,
    BCI: tl.constexpr, BCO: tl.constexpr, BM: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Convolve rows of planes, and sum up what normalisations need.

    Args:
        arena, weights: All planes, and all parameters.
        inputs, outputs, operations: Tables of the planes that are read and written, and of the operations.
        partials: Gets the sums of each channel over the pixels of a program, and of its squares: ``[2, channels,
            tiles]`` for each row.
        M: The pixels of an output plane.
        CI to SHIFT: The shape of the convolution.
        BCI, BCO, BM, PRECISION: Channels and pixels of a block, and how products of float32 are taken.
    """
    row, weight, relu = _operation(operations)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    co = tl.program_id(2) * BCO + tl.arange(0, BCO)
    total = tl.zeros((BCO, BM), tl.float32)
    for first in range(0, CI, BCI):
        ci = first + tl.arange(0, BCI)
        planes = places(inputs, row, ci, CI)
        for i in tl.static_range(K):
            for j in tl.static_range(K):
                place, inside = _input_place(m, M, i, j, HI, WI, HO, WO, K, STRIDE, SHIFT)
                x = tl.load(
                    arena + planes[:, None] + place[None, :], mask=(ci < CI)[:, None] & inside[None, :], other=0.0
                )
                x = tl.where(relu & (x < 0), 0.0, x).to(arena.dtype.element_ty)
                address = weight + (co[:, None] * CI + ci[None, :]) * (K * K) + i * K + j
                kernel = tl.load(weights + address, mask=(co < CO)[:, None] & (ci < CI)[None, :], other=0.0)
                total = tl.dot(kernel.to(arena.dtype.element_ty), x, total, input_precision=PRECISION)
    planes_out = places(outputs, row, co, CO)
    y = total.to(arena.dtype.element_ty)
    tl.store(arena + planes_out[:, None] + m[None, :], y, mask=(co < CO)[:, None] & (m < M)[None, :])
    tiles = tl.num_programs(1)
    address = partials + tl.load(operations + row * 3 + 2) + co * tiles + tl.program_id(1)
    values = tl.where((m < M)[None, :], y.to(tl.float32), 0.0)
    tl.store(address, tl.sum(values, axis=1), mask=co < CO)
    tl.store(address + CO * tiles, tl.sum(values * values, axis=1), mask=co < CO)


@triton.jit
def conv_backward_inputs(
    arena, weights, inputs, gradients, results, operations, M, CI: tl.constexpr, CO: tl.constexpr, K: tl.constexpr,
    HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr, STRIDE: tl.constexpr, SHIFT: tl.constexpr,
    BCI: tl.constexpr, BCO: tl.constexpr, BM: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradients of the planes that convolutions read.

    Args:
        arena, weights: All planes, and all parameters.
        inputs, gradients, results, operations: Tables of the planes that were read, of the gradients of those that were
            written, of the planes for the result, and of the operations.
        M: The pixels of an input plane.
        CI to PRECISION: As of :func:`conv_forward`.
    """
    row, weight, relu = _operation(operations)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    image, h, w = pixel(m, HI, WI)
    ci = tl.program_id(2) * BCI + tl.arange(0, BCI)
    total = tl.zeros((BCI, BM), tl.float32)
    for first in range(0, CO, BCO):
        co = first + tl.arange(0, BCO)
        planes = places(gradients, row, co, CO)
        for i in tl.static_range(K):
            for j in tl.static_range(K):
                if K == 1 and STRIDE == 1 and SHIFT == 0:
                    inside = m < M
                    place = m
                else:
                    th = h - SHIFT - i
                    tw = w - SHIFT - j
                    oh = th // STRIDE
                    ow = tw // STRIDE
                    inside = (m < M) & (th >= 0) & (tw >= 0) & (oh < HO) & (ow < WO)
                    inside = inside & (oh * STRIDE == th) & (ow * STRIDE == tw)
                    place = image * (HO * WO) + oh * WO + ow
                g = tl.load(
                    arena + planes[:, None] + place[None, :], mask=(co < CO)[:, None] & inside[None, :], other=0.0
                )
                address = weight + (co[None, :] * CI + ci[:, None]) * (K * K) + i * K + j
                kernel = tl.load(weights + address, mask=(co < CO)[None, :] & (ci < CI)[:, None], other=0.0)
                total = tl.dot(kernel.to(arena.dtype.element_ty), g, total, input_precision=PRECISION)
    valid = (ci < CI)[:, None] & (m < M)[None, :]
    read = places(inputs, row, ci, CI)
    x = tl.load(arena + read[:, None] + m[None, :], mask=valid & relu, other=1.0)
    total = tl.where(x > 0, total, 0.0)
    planes_to = places(results, row, ci, CI)
    tl.store(arena + planes_to[:, None] + m[None, :], total.to(arena.dtype.element_ty), mask=valid)


@triton.jit
def conv_backward_weights(
    arena, sums, inputs, gradients, operations, M, size, CI: tl.constexpr, CO: tl.constexpr, K: tl.constexpr,
    HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr, STRIDE: tl.constexpr, SHIFT: tl.constexpr,
    BCI: tl.constexpr, BCO: tl.constexpr, BM: tl.constexpr, CHUNKS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradients of the weights of convolutions, in parts.

    Args:
        arena, sums: All planes, and the parts of all gradients.
        inputs, gradients, operations: Tables of the planes that were read, of the gradients, and of the operations.
        M, size: The pixels of an output plane, and the number of all parameters.
        CI to PRECISION: As of :func:`conv_forward`; ``CHUNKS`` is the number of parts.
    """
    row, weight, relu = _operation(operations)
    chunk = tl.program_id(1)
    tap = tl.program_id(2) % (K * K)
    block = tl.program_id(2) // (K * K)
    blocks_in: tl.constexpr = (CI + BCI - 1) // BCI
    ci = (block % blocks_in) * BCI + tl.arange(0, BCI)
    co = (block // blocks_in) * BCO + tl.arange(0, BCO)
    planes = places(inputs, row, ci, CI)
    from_planes = places(gradients, row, co, CO)
    share = (M + CHUNKS - 1) // CHUNKS
    share = (share + BM - 1) // BM * BM
    total = tl.zeros((BCO, BCI), tl.float32)
    for start in range(chunk * share, min((chunk + 1) * share, M), BM):
        m = start + tl.arange(0, BM)
        place, inside = _input_place(m, M, tap // K, tap % K, HI, WI, HO, WO, K, STRIDE, SHIFT)
        x = tl.load(arena + planes[None, :] + place[:, None], mask=(ci < CI)[None, :] & inside[:, None], other=0.0)
        x = tl.where(relu & (x < 0), 0.0, x).to(arena.dtype.element_ty)
        g = tl.load(arena + from_planes[:, None] + m[None, :], mask=(co < CO)[:, None] & (m < M)[None, :], other=0.0)
        total = tl.dot(g, x, total, input_precision=PRECISION)
    offset = weight + (co[:, None] * CI + ci[None, :]) * (K * K) + tap
    tl.store(sums + chunk.to(tl.int64) * size + offset, total, mask=(co < CO)[:, None] & (ci < CI)[None, :])
