"""Batches cut from the images of a dataset, each network's own, straight to where its first convolution reads them."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.pixels import pixel


@triton.jit
def draw_pictures(
    arena, places, padded, order, top, left, mirrored, cut_row, cut_column, first, means, deviations, scale, epoch,
    CHANNELS: tl.constexpr, HEIGHT: tl.constexpr, WIDTH: tl.constexpr, PADDING: tl.constexpr, CUTOUT: tl.constexpr,
    M: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The pictures of a bundle of a network: cropped, mirrored, normalised and cut out as the draws of its epoch say.

    Args:
        arena, places: All bundles, and the place of each that gets pictures.
        padded: The images with their border.
        order, top, left, mirrored, cut_row, cut_column: The draws of an epoch, see ``EpochDraws``.
        first, epoch: The first draw of this batch, and the draws of an epoch.
        means, deviations, scale: What images are normalised by.
        CHANNELS, HEIGHT, WIDTH, PADDING, CUTOUT: The shape of an image, its border, the side of the cut-out.
        M, BM, LANES: Pixels of a bundle, pixels of a block, channels of a bundle.
    """
    bundles: tl.constexpr = (CHANNELS + LANES - 1) // LANES
    network = (tl.program_id(0) // bundles).to(tl.int64)
    channel = (tl.program_id(0) % bundles) * LANES + tl.arange(0, LANES)
    target = tl.multiple_of(tl.load(places + tl.program_id(0)), 16)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    valid = m < M
    image, h, w = pixel(m, HEIGHT, WIDTH)
    draw = network * epoch + tl.load(first) + image
    row = h + tl.load(top + draw, mask=valid, other=0)
    column = tl.where(tl.load(mirrored + draw, mask=valid, other=0) != 0, WIDTH - 1 - w, w)
    column += tl.load(left + draw, mask=valid, other=0)
    picture = tl.load(order + draw, mask=valid, other=0)
    wide: tl.constexpr = WIDTH + 2 * PADDING
    area: tl.constexpr = (HEIGHT + 2 * PADDING) * wide
    offset = picture[:, None] * (CHANNELS * area) + channel[None, :] * area + (row * wide + column)[:, None]
    inside = valid[:, None] & (channel < CHANNELS)[None, :]
    x = tl.load(padded + offset, mask=inside, other=0).to(tl.float32)
    mean = tl.load(means + channel, mask=channel < CHANNELS, other=0.0)[None, :]
    deviation = tl.load(deviations + channel, mask=channel < CHANNELS, other=1.0)[None, :]
    x = tl.div_rn(tl.div_rn(x, tl.zeros_like(x) + scale) - mean, tl.zeros_like(x) + deviation)
    if CUTOUT > 0:
        above = h - tl.load(cut_row + draw, mask=valid, other=0) + CUTOUT // 2
        before = w - tl.load(cut_column + draw, mask=valid, other=0) + CUTOUT // 2
        cut = (above >= 0) & (above < CUTOUT) & (before >= 0) & (before < CUTOUT)
        x = tl.where(cut[:, None], 0.0, x)
    x = tl.where(inside, x, 0.0)
    place = m[:, None] * LANES + tl.arange(0, LANES)[None, :]
    tl.store(arena + target + place, x.to(arena.dtype.element_ty), mask=valid[:, None])
