"""Batch normalisation of single planes."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def norm_forward(
    arena, weights, table, scales, shifts, means, inverses, running_means, running_vars, M, epsilon, momentum,
    TRAINING: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """Scale and shift of a plane, from its own values while training, from the running ones otherwise."""
    row = table + tl.program_id(0).to(tl.int64) * 6
    source = tl.multiple_of(tl.load(row), 16)
    norm = tl.load(row + 1)
    if TRAINING:
        first = tl.zeros((BM,), tl.float32)
        second = tl.zeros((BM,), tl.float32)
        for start in range(0, M, BM):
            m = start + tl.arange(0, BM)
            x = tl.load(arena + source + m, mask=m < M, other=0.0).to(tl.float32)
            first += x
            second += x * x
        mean = tl.sum(first, axis=0) / M
        var = tl.maximum(tl.sum(second, axis=0) / M - mean * mean, 0.0)
        old_mean = tl.load(running_means + norm)
        old_var = tl.load(running_vars + norm)
        tl.store(running_means + norm, (1 - momentum) * old_mean + momentum * mean)
        tl.store(running_vars + norm, (1 - momentum) * old_var + momentum * var * (M / (M - 1.0)))
    else:
        mean = tl.load(running_means + norm)
        var = tl.load(running_vars + norm)
    inverse = 1.0 / tl.sqrt(var + epsilon)
    scale = tl.load(weights + tl.load(row + 2)) * inverse
    tl.store(scales + norm, scale)
    tl.store(shifts + norm, tl.load(weights + tl.load(row + 3)) - mean * scale)
    tl.store(means + norm, mean)
    tl.store(inverses + norm, inverse)


@triton.jit
def norm_backward(
    arena, weights, sums, table, parts, scales, shifts, means, inverses, M, BM: tl.constexpr,
):  # fmt: skip
    """Puts the gradient of a plane in the place of the plane. ``parts`` are the gradients of what was made of it, and
    whether its negative part was cut off."""
    row = table + tl.program_id(0).to(tl.int64) * 6
    source = tl.multiple_of(tl.load(row), 16)
    norm = tl.load(row + 1)
    weight = tl.load(row + 2)
    first_part = tl.load(row + 4)
    last_part = tl.load(row + 5)
    scale = tl.load(scales + norm)
    shift = tl.load(shifts + norm)
    mean = tl.load(means + norm)
    inverse = tl.load(inverses + norm)
    plain = tl.zeros((BM,), tl.float32)
    along = tl.zeros((BM,), tl.float32)
    for start in range(0, M, BM):
        m = start + tl.arange(0, BM)
        x = tl.load(arena + source + m, mask=m < M, other=0.0).to(tl.float32)
        g = tl.zeros((BM,), tl.float32)
        for part in range(first_part, last_part):
            relu = tl.load(parts + part * 2 + 1) != 0
            place = tl.multiple_of(tl.load(parts + part * 2), 16)
            each = tl.load(arena + place + m, mask=m < M, other=0.0).to(tl.float32)
            g += tl.where(relu & (x * scale + shift <= 0), 0.0, each)
        plain += g
        along += g * (x - mean) * inverse
    sum_plain = tl.sum(plain, axis=0)
    sum_along = tl.sum(along, axis=0)
    tl.store(sums + tl.load(row + 3), sum_plain)
    tl.store(sums + weight, sum_along)
    for start in range(0, M, BM):
        m = start + tl.arange(0, BM)
        x = tl.load(arena + source + m, mask=m < M, other=0.0).to(tl.float32)
        g = tl.zeros((BM,), tl.float32)
        for part in range(first_part, last_part):
            relu = tl.load(parts + part * 2 + 1) != 0
            place = tl.multiple_of(tl.load(parts + part * 2), 16)
            each = tl.load(arena + place + m, mask=m < M, other=0.0).to(tl.float32)
            g += tl.where(relu & (x * scale + shift <= 0), 0.0, each)
        g = scale * (g - sum_plain / M - (x - mean) * inverse * (sum_along / M))
        tl.store(arena + source + m, g.to(arena.dtype.element_ty), mask=m < M)
