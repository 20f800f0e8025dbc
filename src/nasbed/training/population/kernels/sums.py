"""Sums of bundles, and means of their images."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.addresses import aligned, table_row


@triton.jit
def combine(arena, table, terms, scales, shifts, M, BM: tl.constexpr, LANES: tl.constexpr):
    """A bundle as a sum of terms.

    Args:
        arena, table: All bundles, and a row for each sum.
        terms: Rows of a bundle, its normalisation or -1, and whether its negative part is cut off.
        scales, shifts: Those of the normalisations.
        M: The pixels of a bundle.
        BM, LANES: Pixels of a block, channels of a bundle.
    """
    row = table_row(table, 4)
    target = aligned(row)
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
        source = aligned(terms + term * 3)
        x = tl.load(arena + source + place, mask=(m < M)[:, None], other=0.0).to(tl.float32)
        x = x * scale[None, :] + shift[None, :]
        total += tl.where(relu & (x < 0), 0.0, x)
    total = tl.where(valid[None, :], total, 0.0)
    tl.store(arena + target + place, total.to(arena.dtype.element_ty), mask=(m < M)[:, None])


@triton.jit
def _image_places(BATCH, PIXELS: tl.constexpr, BP: tl.constexpr, BN: tl.constexpr, LANES: tl.constexpr):
    """The images of this program, the lanes of a bundle, the places of all their pixels, and which of these exist."""
    image = tl.program_id(1) * BN + tl.arange(0, BN)
    pixel = tl.arange(0, BP)
    lane = tl.arange(0, LANES)
    place = (image[:, None, None] * PIXELS + pixel[None, :, None]) * LANES + lane[None, None, :]
    return image, lane, place, (image < BATCH)[:, None, None] & (pixel < PIXELS)[None, :, None]


@triton.jit
def _feature_places(row, image, lane, BATCH):
    """The places of the features of images, and which of these exist."""
    offset = (tl.load(row + 2) + lane[None, :]) * BATCH + image[:, None]
    return offset, (image < BATCH)[:, None] & (lane < tl.load(row + 3))[None, :]


@triton.jit
def mean_forward(
    arena, table, features, BATCH, PIXELS: tl.constexpr, BP: tl.constexpr, BN: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The mean of each image of each channel of a bundle.

    Args:
        arena, table: All bundles, and a row for each that is averaged.
        features: Gets the means, ``[networks, features, images]``.
        BATCH, PIXELS: Images, and pixels of each.
        BP, BN, LANES: ``PIXELS`` as a power of two, images of a block, channels of a bundle.
    """
    row = table_row(table, 4)
    image, lane, place, valid = _image_places(BATCH, PIXELS, BP, BN, LANES)
    x = tl.load(arena + aligned(row) + place, mask=valid, other=0.0).to(tl.float32)
    offset, mask = _feature_places(row, image, lane, BATCH)
    tl.store(features + offset, tl.sum(x, axis=1) / PIXELS, mask=mask)


@triton.jit
def mean_backward(
    arena, table, gradients, BATCH, PIXELS: tl.constexpr, BP: tl.constexpr, BN: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The gradient of :func:`mean_forward`, whose parameters it has.

    Args:
        arena, table, BATCH to LANES: As there.
        gradients: Those of the features.
    """
    row = table_row(table, 4)
    image, lane, place, valid = _image_places(BATCH, PIXELS, BP, BN, LANES)
    offset, mask = _feature_places(row, image, lane, BATCH)
    g = tl.load(gradients + offset, mask=mask, other=0.0) / PIXELS
    spread = tl.zeros((BN, BP, LANES), tl.float32) + g[:, None, :]
    tl.store(arena + aligned(row + 1) + place, spread.to(arena.dtype.element_ty), mask=valid)
