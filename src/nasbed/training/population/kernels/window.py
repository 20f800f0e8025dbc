"""Depthwise convolutions and means of windows, as products with band matrices. ``PADDING`` is in steps of the
dilation.

A plane is a matrix whose rows hold some rows of its images, at least 16 pixels. So one row of every window is a product
of that matrix with a band matrix. Tensor cores do it, and nothing is read at odd places."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.addresses import aligned, table_row, window_operation


@triton.jit
def _band(
    weights, weight, i, dilation, rows_first: tl.constexpr, R: tl.constexpr, K: tl.constexpr, WI: tl.constexpr,
    WO: tl.constexpr, WIDE_IN: tl.constexpr, WIDE_OUT: tl.constexpr, STRIDE: tl.constexpr,
    PADDING: tl.constexpr, MEAN: tl.constexpr,
):  # fmt: skip
    """Row ``i`` of a window as a matrix from ``R`` rows of the input to ``R`` of the output; the other way round where
    not ``rows_first``. An entry is what a pixel of one gives to a pixel of the other. A mean has ones for weights."""
    if rows_first:
        a = tl.arange(0, R * WIDE_IN)[:, None]
        b = tl.arange(0, R * WIDE_OUT)[None, :]
    else:
        a = tl.arange(0, R * WIDE_IN)[None, :]
        b = tl.arange(0, R * WIDE_OUT)[:, None]
    valid = (a // WIDE_IN == b // WIDE_OUT) & (a % WIDE_IN < WI) & (b % WIDE_OUT < WO)
    apart = a % WIDE_IN - (b % WIDE_OUT) * STRIDE
    matrix = tl.where(valid & (apart == -PADDING * dilation), 1.0, 0.0)
    if not MEAN:
        matrix = matrix * tl.load(weights + weight + i * K)
    for j in tl.static_range(1, K):
        hit = valid & (apart == (j - PADDING) * dilation)
        value = 1.0 if MEAN else tl.load(weights + weight + i * K + j)
        matrix = tl.where(hit, value, matrix)
    return matrix


@triton.jit
def inverse_count(
    h, w, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
):  # fmt: skip
    """One over the pixels of a window that are inside the image; a finite number where none is, which counts nowhere.

    Args:
        h, w: Row and column of the window among the windows.
        K, HI, WI, STRIDE, PADDING: The shape of the windows.
    """
    top = h * STRIDE - PADDING
    left = w * STRIDE - PADDING
    rows = tl.minimum(top + K, HI) - tl.maximum(top, 0)
    columns = tl.minimum(left + K, WI) - tl.maximum(left, 0)
    return 1.0 / tl.maximum(rows * columns, 1).to(tl.float32)


@triton.jit
def window_forward(
    arena, weights, table, ROWS, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr,
    WO: tl.constexpr, WIDE_IN: tl.constexpr, WIDE_OUT: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
    MEAN: tl.constexpr, R: tl.constexpr, BM: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Depthwise convolutions and means of windows.

    Args:
        arena, weights: All planes, and all parameters.
        table: A row for each plane.
        ROWS: The rows of all images of the result.
        K to PADDING: The shape of the windows; ``WIDE_IN`` and ``WIDE_OUT`` are ``WI`` and ``WO`` as powers of two.
        MEAN: Whether it is a mean, without weights.
        R, BM, PRECISION: Rows of images in a row of the matrix, its rows in a block, how float32 is multiplied.
    """
    row = table_row(table, 8)
    source, target = aligned(row), aligned(row + 1)
    weight, dilation, relu = window_operation(row)
    groups = (tl.program_id(1) * BM + tl.arange(0, BM))[:, None]
    lane_in = tl.arange(0, R * WIDE_IN)[None, :]
    lane_out = tl.arange(0, R * WIDE_OUT)[None, :]
    line = groups * R + lane_in // WIDE_IN
    image = line // HO
    h = line % HO
    column = lane_in % WIDE_IN
    total = tl.zeros((BM, R * WIDE_OUT), tl.float32)
    for i in tl.static_range(K):
        ih = h * STRIDE + (i - PADDING) * dilation
        inside = (line < ROWS) & (ih >= 0) & (ih < HI) & (column < WI)
        x = tl.load(arena + source + (image * HI + ih) * WI + column, mask=inside, other=0.0)
        x = tl.where(relu & (x < 0), 0.0, x).to(arena.dtype.element_ty)
        band = _band(weights, weight, i, dilation, True, R, K, WI, WO, WIDE_IN, WIDE_OUT, STRIDE, PADDING, MEAN)
        total = tl.dot(x, band.to(arena.dtype.element_ty), total, input_precision=PRECISION)
    line_out = groups * R + lane_out // WIDE_OUT
    column_out = lane_out % WIDE_OUT
    if MEAN:
        total = total * inverse_count(line_out % HO, column_out, K, HI, WI, STRIDE, PADDING)
    tl.store(
        arena + target + line_out * WO + column_out,
        total.to(arena.dtype.element_ty),
        mask=(line_out < ROWS) & (column_out < WO),
    )


@triton.jit
def window_backward_inputs(
    arena, weights, table, ROWS, K: tl.constexpr, HI: tl.constexpr, WI: tl.constexpr, HO: tl.constexpr,
    WO: tl.constexpr, WIDE_IN: tl.constexpr, WIDE_OUT: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
    MEAN: tl.constexpr, R: tl.constexpr, BM: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradients of the planes that :func:`window_forward` reads.

    Args:
        arena, weights, table: As of :func:`window_forward`.
        ROWS: The rows of all images of the input.
        K to PRECISION: As of :func:`window_forward`.
    """
    row = table_row(table, 8)
    source = aligned(row)
    weight, dilation, relu = window_operation(row)
    gradient, target = aligned(row + 6), aligned(row + 7)
    groups = (tl.program_id(1) * BM + tl.arange(0, BM))[:, None]
    lane_in = tl.arange(0, R * WIDE_IN)[None, :]
    lane_out = tl.arange(0, R * WIDE_OUT)[None, :]
    line = groups * R + lane_out // WIDE_OUT
    image = line // HI
    h = line % HI
    column = lane_out % WIDE_OUT
    total = tl.zeros((BM, R * WIDE_IN), tl.float32)
    for i in tl.static_range(K):
        th = h - (i - PADDING) * dilation
        oh = th // STRIDE
        inside = (line < ROWS) & (th >= 0) & (oh < HO) & (oh * STRIDE == th) & (column < WO)
        g = tl.load(arena + gradient + (image * HO + oh) * WO + column, mask=inside, other=0.0)
        if MEAN:
            g = (g.to(tl.float32) * inverse_count(oh, column, K, HI, WI, STRIDE, PADDING)).to(arena.dtype.element_ty)
        band = _band(weights, weight, i, dilation, False, R, K, WI, WO, WIDE_IN, WIDE_OUT, STRIDE, PADDING, MEAN)
        total = tl.dot(g, band.to(arena.dtype.element_ty), total, input_precision=PRECISION)
    line_in = groups * R + lane_in // WIDE_IN
    column_in = lane_in % WIDE_IN
    valid = (line_in < ROWS) & (column_in < WI)
    place = line_in * WI + column_in
    x = tl.load(arena + source + place, mask=valid & relu, other=1.0)
    tl.store(arena + target + place, tl.where(x > 0, total, 0.0).to(arena.dtype.element_ty), mask=valid)
