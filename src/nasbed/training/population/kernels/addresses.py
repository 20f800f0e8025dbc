"""Where a program finds its work: rows of tables, places in the arena, pixels."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def table_row(table, COLUMNS: tl.constexpr):
    """The address of this program's row of a table."""
    return table + tl.program_id(0).to(tl.int64) * COLUMNS


@triton.jit
def aligned(address):
    """A place in the arena that a table holds: a multiple of 16."""
    return tl.multiple_of(tl.load(address), 16)


@triton.jit
def places(table, row, slot, COUNT: tl.constexpr):
    """The places of an operation's planes or bundles, from a table of ``COUNT`` columns."""
    return tl.multiple_of(tl.load(table + row * COUNT + slot, mask=slot < COUNT, other=0), [16])


@triton.jit
def window_operation(row):
    """What a table says of an operation on windows: the place of its weights, its dilation, whether it rectifies."""
    return tl.load(row + 2), tl.load(row + 3).to(tl.int32), tl.load(row + 5) != 0


@triton.jit
def bundle_tile(BM: tl.constexpr, LANES: tl.constexpr):
    """The pixels of this program, and the lanes of a bundle beside them."""
    return tl.program_id(1) * BM + tl.arange(0, BM), tl.arange(0, LANES)[None, :]


@triton.jit
def reading_window(valid, position, tap, SIZE: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr):
    """Along one axis: the window whose tap reads a position of the input, and whether it is one of ``SIZE`` windows.

    Args:
        valid: Which positions count.
        position, tap: The row or column of the input, and the row or column of the window that reads it.
        SIZE, STRIDE, PADDING: Of the windows along the axis.
    """
    start = position + PADDING - tap
    window = start // STRIDE
    return window, valid & (start >= 0) & (window < SIZE) & (window * STRIDE == start)
