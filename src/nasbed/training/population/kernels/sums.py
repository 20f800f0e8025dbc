"""Sums of bundles, and means of their images."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def combine(arena, table, terms, scales, shifts, M, BM: tl.constexpr, LANES: tl.constexpr):
    """A bundle as the sum of terms ``(bundle, normalisation or -1, cut off)``."""
    row = table + tl.program_id(0).to(tl.int64) * 4
    target = tl.multiple_of(tl.load(row), 16)
    lane = tl.arange(0, LANES)
    valid = lane < tl.load(row + 3)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    place = m[:, None] * LANES + lane[None, :]
    total = tl.zeros((BM, LANES), tl.float32)
    for term in range(tl.load(row + 1), tl.load(row + 2)):
        norm = tl.load(terms + term * 3 + 1)
        relu = tl.load(terms + term * 3 + 2) != 0
        scale = tl.load(scales + norm + lane, mask=valid & (norm >= 0), other=1.0)
        shift = tl.load(shifts + norm + lane, mask=valid & (norm >= 0), other=0.0)
        source = tl.multiple_of(tl.load(terms + term * 3), 16)
        x = tl.load(arena + source + place, mask=(m < M)[:, None], other=0.0).to(tl.float32)
        x = x * scale[None, :] + shift[None, :]
        total += tl.where(relu & (x < 0), 0.0, x)
    total = tl.where(valid[None, :], total, 0.0)
    tl.store(arena + target + place, total.to(arena.dtype.element_ty), mask=(m < M)[:, None])


@triton.jit
def mean_forward(
    arena, table, features, BATCH, PIXELS: tl.constexpr, BP: tl.constexpr, BN: tl.constexpr, LANES: tl.constexpr
):
    """The mean of each image of each channel of a bundle."""
    row = table + tl.program_id(0).to(tl.int64) * 4
    image = tl.program_id(1) * BN + tl.arange(0, BN)
    pixel = tl.arange(0, BP)
    lane = tl.arange(0, LANES)
    place = (image[:, None, None] * PIXELS + pixel[None, :, None]) * LANES + lane[None, None, :]
    valid = (image < BATCH)[:, None, None] & (pixel < PIXELS)[None, :, None]
    source = tl.multiple_of(tl.load(row), 16)
    x = tl.load(arena + source + place, mask=valid, other=0.0).to(tl.float32)
    offset = (tl.load(row + 2) + lane[None, :]) * BATCH + image[:, None]
    mask = (image < BATCH)[:, None] & (lane < tl.load(row + 3))[None, :]
    tl.store(features + offset, tl.sum(x, axis=1) / PIXELS, mask=mask)


@triton.jit
def mean_backward(
    arena, table, gradients, BATCH, PIXELS: tl.constexpr, BP: tl.constexpr, BN: tl.constexpr, LANES: tl.constexpr
):
    row = table + tl.program_id(0).to(tl.int64) * 4
    image = tl.program_id(1) * BN + tl.arange(0, BN)
    pixel = tl.arange(0, BP)
    lane = tl.arange(0, LANES)
    place = (image[:, None, None] * PIXELS + pixel[None, :, None]) * LANES + lane[None, None, :]
    valid = (image < BATCH)[:, None, None] & (pixel < PIXELS)[None, :, None]
    offset = (tl.load(row + 2) + lane[None, :]) * BATCH + image[:, None]
    mask = (image < BATCH)[:, None] & (lane < tl.load(row + 3))[None, :]
    g = tl.load(gradients + offset, mask=mask, other=0.0) / PIXELS
    spread = tl.zeros((BN, BP, LANES), tl.float32) + g[:, None, :]
    target = tl.multiple_of(tl.load(row + 1), 16)
    tl.store(arena + target + place, spread.to(arena.dtype.element_ty), mask=valid)
