"""What kernels do with single pixels."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

_COMPILED = tl.constexpr(not triton.knobs.runtime.interpret)


@triton.jit
def pixel(m, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    """Image, row and column of a place in a plane."""
    place = m % (HEIGHT * WIDTH)
    return m // (HEIGHT * WIDTH), place // WIDTH, place % WIDTH


@triton.jit
def rectified(x, RELU: tl.constexpr):
    """Without the negative part where ``RELU``; what is no number stays so. Compiled, one instruction does two values
    of bfloat16; Triton itself would take six."""
    if RELU:
        if _COMPILED and x.dtype == tl.bfloat16:
            x = tl.inline_asm_elementwise(
                "{ .reg .b32 zero; mov.b32 zero, 0; max.NaN.bf16x2 $0, $1, zero; }",
                "=r,r",
                [x],
                dtype=tl.bfloat16,
                is_pure=True,
                pack=2,
            )
        else:
            x = tl.where(x < 0, 0.0, x).to(x.dtype)
    return x
