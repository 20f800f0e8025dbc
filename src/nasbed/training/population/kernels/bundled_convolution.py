"""Convolutions from all input channels to all output channels, on bundles of ``LANES`` channels.

The channels of a bundle lie side by side for each pixel, so that a window is read at aligned places wherever it begins.
Weights come packed: ``[tap, input channel, output channel]`` in the precision of the planes, every bundle filled up
with zeros to all of its lanes.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.addresses import aligned, places
from nasbed.training.population.kernels.pixels import pixel, rectified


@triton.jit
def bundled_forward(
    arena, packed, operations, inputs, outputs, partials, M, NI: tl.constexpr, NO: tl.constexpr, K: tl.constexpr,
    HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr, STRIDE: tl.constexpr, SHIFT: tl.constexpr,
    BI: tl.constexpr, BO: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr, RELU: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Convolve rows of bundles, and sum up what normalisations need.

    Args:
        arena, packed: All bundles, and all weights, packed.
        operations, inputs, outputs: Tables of the operations, and of the bundles that are read and written.
        partials: Gets the sums of each channel over the pixels of a program, and of its squares: ``[2, channels,
            tiles]`` for each row.
        M: The pixels of an output bundle.
        NI to SHIFT: The shape of the convolution, from ``NI`` bundles to ``NO``.
        BI, BO, BM: Bundles and pixels of a block.
        LANES, RELU, PRECISION: Channels of a bundle, whether the input is rectified, how float32 is multiplied.
    """
    row = tl.program_id(0).to(tl.int64)
    weight = aligned(operations + row * 3)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    image, h, w = pixel(m, HO, WO)
    h = h * STRIDE + SHIFT
    w = w * STRIDE + SHIFT
    corner = (image * (HI * WI) + h * WI + w) * LANES
    lane = tl.arange(0, LANES)
    co = tl.program_id(2) * (BO * LANES) + tl.arange(0, BO * LANES)
    total = tl.zeros((BO * LANES, BM), tl.float32)
    for first in tl.range(0, NI, BI, num_stages=1):
        slot = first + tl.arange(0, BI)
        bundle = places(inputs, row, slot, NI)
        windows = arena + (bundle[None, :, None] + corner[:, None, None] + lane[None, None, :])
        ci = first * LANES + tl.arange(0, BI * LANES)
        for i in tl.static_range(K):
            for j in tl.static_range(K):
                inside = (m < M) & (h >= -i) & (h < HI - i) & (w >= -j) & (w < WI - j)
                x = tl.load(
                    windows + (i * WI + j) * LANES,
                    mask=inside[:, None, None] & (slot < NI)[None, :, None],
                    other=0.0,
                )
                x = tl.reshape(rectified(x, RELU), (BM, BI * LANES))
                address = weight + ((i * K + j) * (NI * LANES) + ci[:, None]) * (NO * LANES) + co[None, :]
                valid = (ci < NI * LANES)[:, None] & (co < NO * LANES)[None, :]
                kernel = tl.load(packed + address, mask=valid, other=0.0)
                total = tl.dot(tl.trans(kernel), tl.trans(x), total, input_precision=PRECISION)
    y = total.to(arena.dtype.element_ty)
    slot = tl.program_id(2) * BO + tl.arange(0, BO)
    bundle = places(outputs, row, slot, NO)
    tl.store(
        arena + (bundle[None, :, None] + (m * LANES)[:, None, None] + lane[None, None, :]),
        tl.reshape(tl.trans(y), (BM, BO, LANES)),
        mask=(m < M)[:, None, None] & (slot < NO)[None, :, None],
    )
    tiles = tl.num_programs(1)
    address = partials + tl.load(operations + row * 3 + 2) + co * tiles + tl.program_id(1)
    values = tl.where((m < M)[None, :], y.to(tl.float32), 0.0)
    tl.store(address, tl.sum(values, axis=1), mask=co < NO * LANES)
    tl.store(address + NO * LANES * tiles, tl.sum(values * values, axis=1), mask=co < NO * LANES)


@triton.jit
def bundled_backward_inputs(
    arena, packed, operations, inputs, gradients, results, M, NI: tl.constexpr, NO: tl.constexpr, K: tl.constexpr,
    HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr, STRIDE: tl.constexpr, SHIFT: tl.constexpr,
    BI: tl.constexpr, BO: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr, RELU: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradients of the bundles that convolutions read.

    A program computes squares of ``STRIDE`` by ``STRIDE`` pixels, since each pixel of a square has its own taps.

    Args:
        arena, packed: All bundles, and all weights, packed.
        operations, inputs, gradients, results: Tables of the operations, of the bundles that were read, of the
            gradients of those that were written, and of the bundles for the result.
        M: The number of squares that cover the input.
        NI to PRECISION: As of :func:`bundled_forward`.
    """
    row = tl.program_id(0).to(tl.int64)
    weight = aligned(operations + row * 3)
    slot = tl.program_id(2) * BI + tl.arange(0, BI)
    ci = tl.program_id(2) * (BI * LANES) + tl.arange(0, BI * LANES)
    source = places(inputs, row, slot, NI)
    target = places(results, row, slot, NI)
    lane = tl.arange(0, LANES)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    image, top, left = pixel(m, (HI + STRIDE - 1) // STRIDE, (WI + STRIDE - 1) // STRIDE)
    corner = (image * (HO * WO) + top * WO + left) * LANES
    for down in tl.static_range(STRIDE):
        for right in tl.static_range(STRIDE):
            h = top * STRIDE + down
            w = left * STRIDE + right
            valid = (m < M) & (h < HI) & (w < WI)
            total = tl.zeros((BI * LANES, BM), tl.float32)
            for first in tl.range(0, NO, BO, num_stages=1):
                slot_out = first + tl.arange(0, BO)
                bundle = places(gradients, row, slot_out, NO)
                windows = arena + (bundle[None, :, None] + corner[:, None, None] + lane[None, None, :])
                co = first * LANES + tl.arange(0, BO * LANES)
                for i in tl.static_range(K):
                    for j in tl.static_range(K):
                        if (down - SHIFT - i) % STRIDE == 0 and (right - SHIFT - j) % STRIDE == 0:
                            # the window whose tap this is begins so many rows and columns from the square
                            rows = (down - SHIFT - i) // STRIDE
                            columns = (right - SHIFT - j) // STRIDE
                            inside = valid & (top >= -rows) & (top < HO - rows)
                            inside = inside & (left >= -columns) & (left < WO - columns)
                            g = tl.load(
                                windows + (rows * WO + columns) * LANES,
                                mask=inside[:, None, None] & (slot_out < NO)[None, :, None],
                                other=0.0,
                            )
                            address = weight + ((i * K + j) * (NI * LANES) + ci[:, None]) * (NO * LANES) + co[None, :]
                            stored = (ci < NI * LANES)[:, None] & (co < NO * LANES)[None, :]
                            kernel = tl.load(packed + address, mask=stored, other=0.0)
                            g = tl.trans(tl.reshape(g, (BM, BO * LANES)))
                            total = tl.dot(kernel, g, total, input_precision=PRECISION)
            offset = (((image * HI + h) * WI + w) * LANES)[:, None, None] + lane[None, None, :]
            mask = valid[:, None, None] & (slot < NI)[None, :, None]
            result = tl.reshape(tl.trans(total), (BM, BI, LANES))
            if RELU:
                x = tl.load(arena + (source[None, :, None] + offset), mask=mask, other=0.0)
                result = tl.where(x > 0, result, 0.0)
            tl.store(arena + (target[None, :, None] + offset), result.to(arena.dtype.element_ty), mask=mask)


@triton.jit
def bundled_backward_weights(
    arena, sums, operations, inputs, gradients, counts, M, size, NI: tl.constexpr, NO: tl.constexpr, K: tl.constexpr,
    HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr, STRIDE: tl.constexpr, SHIFT: tl.constexpr,
    BI: tl.constexpr, BO: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr, RELU: tl.constexpr, CHUNKS: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradients of the weights of convolutions with windows of one and of three rows, in parts.

    A program computes one row of the window over one of ``CHUNKS`` parts of the pixels.

    Args:
        arena, sums: All bundles, and the parts of all gradients.
        operations, inputs, gradients: Tables of the operations, of the bundles that were read, and of the gradients.
        counts: How many channels of each input bundle are read.
        M, size: The pixels of an output bundle, and the number of all parameters.
        NI to PRECISION: As of :func:`bundled_forward`.
    """
    blocks_in: tl.constexpr = (NI + BI - 1) // BI
    blocks_out: tl.constexpr = (NO + BO - 1) // BO
    # programs that read the same pixels follow each other, so that all but the first find them in the cache
    number = tl.program_id(0)
    i = number % K
    block_in = number // K % blocks_in
    block_out = number // (K * blocks_in) % blocks_out
    chunk = number // (K * blocks_in * blocks_out) % CHUNKS
    row = (number // (K * blocks_in * blocks_out * CHUNKS)).to(tl.int64)
    weight = tl.load(operations + row * 3)
    slot = block_in * BI + tl.arange(0, BI)
    slot_out = block_out * BO + tl.arange(0, BO)
    bundle = places(inputs, row, slot, NI)
    bundle_out = places(gradients, row, slot_out, NO)
    lane = tl.arange(0, LANES)
    share = (M + CHUNKS - 1) // CHUNKS
    share = (share + BM - 1) // BM * BM
    t0 = tl.zeros((BO * LANES, BI * LANES), tl.float32)
    t1, t2 = t0, t0
    for start in range(chunk * share, min((chunk + 1) * share, M), BM):
        m = start + tl.arange(0, BM)
        image, h, w = pixel(m, HO, WO)
        h = h * STRIDE + (SHIFT + i)
        w = w * STRIDE + SHIFT
        corner = (image * (HI * WI) + h * WI + w) * LANES
        windows = arena + (bundle[None, :, None] + corner[:, None, None] + lane[None, None, :])
        g = tl.load(
            arena + (bundle_out[None, :, None] + (m * LANES)[:, None, None] + lane[None, None, :]),
            mask=(m < M)[:, None, None] & (slot_out < NO)[None, :, None],
            other=0.0,
        )
        g = tl.trans(tl.reshape(g, (BM, BO * LANES)))
        for j in tl.static_range(K):
            inside = (m < M) & (h >= 0) & (h < HI) & (w >= -j) & (w < WI - j)
            x = tl.load(windows + j * LANES, mask=inside[:, None, None] & (slot < NI)[None, :, None], other=0.0)
            x = tl.reshape(rectified(x, RELU), (BM, BI * LANES))
            if j == 0:
                t0 = tl.dot(g, x, t0, input_precision=PRECISION)
            elif j == 1:
                t1 = tl.dot(g, x, t1, input_precision=PRECISION)
            else:
                t2 = tl.dot(g, x, t2, input_precision=PRECISION)
    ci = block_in * (BI * LANES) + tl.arange(0, BI * LANES)
    co = block_out * (BO * LANES) + tl.arange(0, BO * LANES)
    valid = (co < NO * LANES)[:, None] & (ci < NI * LANES)[None, :]
    read = ci % LANES < tl.load(counts + row * NI + ci // LANES, mask=ci < NI * LANES, other=0)
    sums += chunk.to(tl.int64) * size + weight
    for j in tl.static_range(K):
        offset = ((i * K + j) * (NI * LANES) + ci[None, :]) * (NO * LANES) + co[:, None]
        total = t0 if j == 0 else (t1 if j == 1 else t2)
        tl.store(sums + offset, tl.where(read[None, :], total, 0.0), mask=valid)
