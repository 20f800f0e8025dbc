"""Gradients of the weights of depthwise convolutions: sums along the diagonals of matrix products."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.addresses import aligned, table_row, window_operation


@triton.jit
def _window_row(
    plane, g, line, column, ROWS, i: tl.constexpr, dilation, relu, total, K: tl.constexpr, HI: tl.constexpr,
    WI: tl.constexpr, HO: tl.constexpr, STRIDE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The products of every pixel in row ``i`` of the windows with every pixel of the gradient, added up."""
    ih = (line % HO) * STRIDE + (i - K // 2) * dilation
    inside = (line < ROWS) & (ih >= 0) & (ih < HI) & (column < WI)
    place = ((line // HO) * HI + ih) * WI + column
    x = tl.load(plane + place, mask=inside, other=0.0)
    x = tl.where(relu & (x < 0), 0.0, x).to(plane.dtype.element_ty)
    return tl.dot(tl.trans(x), g, total, input_precision=PRECISION)


@triton.jit
def _store_diagonals(
    sums, offset, total, i: tl.constexpr, dilation, R: tl.constexpr, K: tl.constexpr, WI: tl.constexpr,
    WO: tl.constexpr, WIDE_IN: tl.constexpr, WIDE_OUT: tl.constexpr, STRIDE: tl.constexpr,
):  # fmt: skip
    """A weight's gradient is the sum of one diagonal."""
    a = tl.arange(0, R * WIDE_IN)[:, None]
    b = tl.arange(0, R * WIDE_OUT)[None, :]
    same = (a // WIDE_IN == b // WIDE_OUT) & (a % WIDE_IN < WI) & (b % WIDE_OUT < WO)
    apart = a % WIDE_IN - (b % WIDE_OUT) * STRIDE
    for j in tl.static_range(K):
        along = tl.where(same & (apart == (j - K // 2) * dilation), total, 0.0)
        tl.store(sums + offset + i * K + j, tl.sum(tl.sum(along, axis=1), axis=0))


@triton.jit
def window_backward_weights(
    arena, sums, table, ROWS, size, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr,
    WO: tl.constexpr, WIDE_IN: tl.constexpr, WIDE_OUT: tl.constexpr, STRIDE: tl.constexpr, R: tl.constexpr,
    BM: tl.constexpr, CHUNKS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradients of the weights of windows of three and of five rows, in parts.

    Args:
        arena, sums, table: All planes, the parts of all gradients, and a row for each plane.
        ROWS, size: The rows of all images of the result, and the number of all parameters.
        K to PRECISION: As of :func:`window_forward`; ``CHUNKS`` is the number of parts.
    """
    row = table_row(table, 8)
    plane = arena + aligned(row)
    weight, dilation, relu = window_operation(row)
    gradient = aligned(row + 6)
    chunk = tl.program_id(1)
    lane_in = tl.arange(0, R * WIDE_IN)[None, :]
    lane_out = tl.arange(0, R * WIDE_OUT)[None, :]
    count = (ROWS + R - 1) // R
    share = (count + CHUNKS - 1) // CHUNKS
    share = (share + BM - 1) // BM * BM
    t0 = tl.zeros((R * WIDE_IN, R * WIDE_OUT), tl.float32)
    t1, t2, t3, t4 = t0, t0, t0, t0
    for start in range(chunk * share, min((chunk + 1) * share, count), BM):
        groups = (start + tl.arange(0, BM))[:, None]
        line = groups * R + lane_in // WIDE_IN
        column_in = lane_in % WIDE_IN
        out = groups * R + lane_out // WIDE_OUT
        column = lane_out % WIDE_OUT
        g = tl.load(arena + gradient + out * WO + column, mask=(out < ROWS) & (column < WO), other=0.0)
        t0 = _window_row(plane, g, line, column_in, ROWS, 0, dilation, relu, t0, K, HI, WI, HO, STRIDE, PRECISION)
        t1 = _window_row(plane, g, line, column_in, ROWS, 1, dilation, relu, t1, K, HI, WI, HO, STRIDE, PRECISION)
        t2 = _window_row(plane, g, line, column_in, ROWS, 2, dilation, relu, t2, K, HI, WI, HO, STRIDE, PRECISION)
        if K == 5:
            t3 = _window_row(plane, g, line, column_in, ROWS, 3, dilation, relu, t3, K, HI, WI, HO, STRIDE, PRECISION)
            t4 = _window_row(plane, g, line, column_in, ROWS, 4, dilation, relu, t4, K, HI, WI, HO, STRIDE, PRECISION)
    offset = chunk.to(tl.int64) * size + weight
    _store_diagonals(sums, offset, t0, 0, dilation, R, K, WI, WO, WIDE_IN, WIDE_OUT, STRIDE)
    _store_diagonals(sums, offset, t1, 1, dilation, R, K, WI, WO, WIDE_IN, WIDE_OUT, STRIDE)
    _store_diagonals(sums, offset, t2, 2, dilation, R, K, WI, WO, WIDE_IN, WIDE_OUT, STRIDE)
    if K == 5:
        _store_diagonals(sums, offset, t3, 3, dilation, R, K, WI, WO, WIDE_IN, WIDE_OUT, STRIDE)
        _store_diagonals(sums, offset, t4, 4, dilation, R, K, WI, WO, WIDE_IN, WIDE_OUT, STRIDE)
