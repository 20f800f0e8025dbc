"""Sums of planes, and means of their images."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def combine(arena, table, terms, scales, shifts, M, BM: tl.constexpr):
    """A plane as the sum of terms ``(plane, normalisation or -1, cut off)``."""
    row = table + tl.program_id(0).to(tl.int64) * 3
    target = tl.multiple_of(tl.load(row), 16)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    total = tl.zeros((BM,), tl.float32)
    for term in range(tl.load(row + 1), tl.load(row + 2)):
        norm = tl.load(terms + term * 3 + 1)
        relu = tl.load(terms + term * 3 + 2) != 0
        scale = tl.load(scales + norm, mask=norm >= 0, other=1.0)
        shift = tl.load(shifts + norm, mask=norm >= 0, other=0.0)
        source = tl.multiple_of(tl.load(terms + term * 3), 16)
        x = tl.load(arena + source + m, mask=m < M, other=0.0).to(tl.float32) * scale + shift
        total += tl.where(relu & (x < 0), 0.0, x)
    tl.store(arena + target + m, total.to(arena.dtype.element_ty), mask=m < M)


@triton.jit
def mean_forward(arena, table, features, BATCH, PIXELS: tl.constexpr, BP: tl.constexpr, BN: tl.constexpr):
    """The mean of each image of a plane."""
    row = tl.program_id(0).to(tl.int64)
    image = tl.program_id(1) * BN + tl.arange(0, BN)
    pixel = tl.arange(0, BP)
    place = image[:, None] * PIXELS + pixel[None, :]
    known = (image < BATCH)[:, None] & (pixel < PIXELS)[None, :]
    x = tl.load(arena + tl.load(table + row * 2) + place, mask=known, other=0.0).to(tl.float32)
    tl.store(features + row * BATCH + image, tl.sum(x, axis=1) / PIXELS, mask=image < BATCH)


@triton.jit
def mean_backward(arena, table, gradients, BATCH, PIXELS: tl.constexpr, BP: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    image = tl.program_id(1) * BN + tl.arange(0, BN)
    pixel = tl.arange(0, BP)
    place = image[:, None] * PIXELS + pixel[None, :]
    known = (image < BATCH)[:, None] & (pixel < PIXELS)[None, :]
    g = tl.load(gradients + row * BATCH + image, mask=image < BATCH, other=0.0) / PIXELS
    spread = tl.zeros((BN, BP), tl.float32) + g[:, None]
    tl.store(arena + tl.load(table + row * 2 + 1) + place, spread.to(arena.dtype.element_ty), mask=known)
