"""Where a pixel is."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def pixel(m, SIDE: tl.constexpr):
    """Image, row and column of a place in a plane."""
    rest = m % (SIDE * SIDE)
    return m // (SIDE * SIDE), rest // SIDE, rest % SIDE
