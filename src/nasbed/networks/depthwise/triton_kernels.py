"""Depthwise convolutions as Triton kernels, for maps whose channels are last in memory.

A program computes some places of some channels. It reads what each tap of a kernel sees, from the cache but for the
first time.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def forward(
    maps, kernels, results, places, channels, H, W, HO, WO, PH, PW,
    KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, DILATION: tl.constexpr,
    BM: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """``results[place, channel]``; a place is an image, row and column of the results.

    Args:
        maps, kernels: ``[images, H, W, channels]`` and ``[channels, KH, KW]``.
        results, places: What is computed, and how many places it has.
        channels, H, W, HO, WO, PH, PW: Channels, sides of maps and results, and borders.
        KH, KW, STRIDE, DILATION, BM, BC: The shape of the kernels, and the places and channels of a program.
    """
    place = tl.program_id(0) * BM + tl.arange(0, BM)
    channel = tl.program_id(1) * BC + tl.arange(0, BC)
    inside, real = place < places, channel < channels
    column, row, image = place % WO, (place // WO) % HO, place // (WO * HO)
    total = tl.zeros([BM, BC], tl.float32)
    for kh in range(KH):
        h = row * STRIDE - PH + kh * DILATION
        for kw in tl.static_range(KW):
            w = column * STRIDE - PW + kw * DILATION
            seen = inside & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            source = (image * H + h) * W + w
            value = tl.load(maps + source[:, None] * channels + channel[None, :], seen[:, None] & real[None, :], 0.0)
            weight = tl.load(kernels + channel * (KH * KW) + kh * KW + kw, real, 0.0)
            total += value.to(tl.float32) * weight.to(tl.float32)[None, :]
    to = results + place[:, None] * channels + channel[None, :]
    tl.store(to, total.to(results.dtype.element_ty), inside[:, None] & real[None, :])


@triton.jit
def backward_maps(
    slopes, kernels, results, places, channels, H, W, HO, WO, PH, PW,
    KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, DILATION: tl.constexpr,
    BM: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """The gradient by the maps from ``slopes[image, row, column, channel]``, that by the results of :func:`forward`.

    Args:
        slopes, kernels: As above.
        results, places: ``[images, H, W, channels]``, and how many places it has.
        channels, H, W, HO, WO, PH, PW, KH, KW, STRIDE, DILATION, BM, BC: As of :func:`forward`.
    """
    place = tl.program_id(0) * BM + tl.arange(0, BM)
    channel = tl.program_id(1) * BC + tl.arange(0, BC)
    inside, real = place < places, channel < channels
    column, row, image = place % W, (place // W) % H, place // (W * H)
    total = tl.zeros([BM, BC], tl.float32)
    for kh in range(KH):
        h = row + PH - kh * DILATION
        for kw in tl.static_range(KW):
            w = column + PW - kw * DILATION
            seen = inside & (h >= 0) & (h < HO * STRIDE) & (w >= 0) & (w < WO * STRIDE)
            if STRIDE > 1:
                seen = seen & (h % STRIDE == 0) & (w % STRIDE == 0)
            source = (image * HO + h // STRIDE) * WO + w // STRIDE
            slope = tl.load(slopes + source[:, None] * channels + channel[None, :], seen[:, None] & real[None, :], 0.0)
            weight = tl.load(kernels + channel * (KH * KW) + kh * KW + kw, real, 0.0)
            total += slope.to(tl.float32) * weight.to(tl.float32)[None, :]
    to = results + place[:, None] * channels + channel[None, :]
    tl.store(to, total.to(results.dtype.element_ty), inside[:, None] & real[None, :])


@triton.jit
def backward_kernels(
    slopes, maps, sums, places, per_chunk, channels, H, W, HO, WO, PH, PW,
    KH: tl.constexpr, KW: tl.constexpr, WIDE: tl.constexpr, STRIDE: tl.constexpr, DILATION: tl.constexpr,
    BM: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """``sums[chunk, channel, kh, kw]``: a row of the gradient by the kernels, over the places of one chunk.

    Args:
        slopes, maps, sums: As above.
        places, per_chunk: How many places the slopes have, and a chunk of them.
        channels, H, W, HO, WO, PH, PW, KH, KW, STRIDE, DILATION, BM, BC: As of :func:`forward`.
        WIDE: The power of two that is not below ``KW``.
    """
    channel = tl.program_id(0) * BC + tl.arange(0, BC)
    kh, chunk = tl.program_id(1), tl.program_id(2)
    kw, real = tl.arange(0, WIDE), channel < channels
    total = tl.zeros([BM, WIDE, BC], tl.float32)
    for start in range(0, per_chunk, BM):
        offset = start + tl.arange(0, BM)
        place = chunk * per_chunk + offset
        inside = (place < places) & (offset < per_chunk)
        column, row, image = place % WO, (place // WO) % HO, place // (WO * HO)
        slope = tl.load(slopes + place[:, None] * channels + channel[None, :], inside[:, None] & real[None, :], 0.0)
        h = row * STRIDE - PH + kh * DILATION
        w = column[:, None] * STRIDE - PW + kw[None, :] * DILATION
        seen = (inside & (h >= 0) & (h < H))[:, None] & (w >= 0) & (w < W) & (kw[None, :] < KW)
        source = (image * H + h)[:, None] * W + w
        value = tl.load(
            maps + source[:, :, None] * channels + channel[None, None, :], seen[:, :, None] & real[None, None, :], 0.0
        )
        total += slope.to(tl.float32)[:, None, :] * value.to(tl.float32)
    to = sums + (chunk * channels + channel[None, :]) * (KH * KW) + kh * KW + kw[:, None]
    tl.store(to, tl.sum(total, 0), (kw[:, None] < KW) & real[None, :])
