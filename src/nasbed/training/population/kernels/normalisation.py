"""Batch normalisation of single channels."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl

from nasbed.training.population.kernels.addresses import aligned, table_row


@triton.jit
def norm_forward(
    arena, weights, partials, table, scales, shifts, means, inverses, running_means, running_vars, M, epsilon, momentum,
    TRAINING: tl.constexpr, SUMMED: tl.constexpr, BM: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Scale and shift of the channels of a bundle: while training from their own values, otherwise from the running
    ones.

    Args:
        arena, weights, partials: All bundles, all parameters, and the sums that convolutions left.
        table: A row for each bundle.
        scales, shifts, means, inverses: Get the results of each channel, ``inverses`` one over its deviation.
        running_means, running_vars: The running statistics, which training changes.
        M, epsilon, momentum: The pixels of a bundle, and the settings of the normalisation.
        TRAINING, SUMMED: Whether this is training, and whether convolutions have summed up the values.
        BM, LANES: Pixels of a block, channels of a bundle.
    """
    row = table_row(table, 9)
    lane = tl.arange(0, LANES)
    valid = lane < tl.load(row + 6)
    norm = tl.load(row + 1) + lane
    if TRAINING:
        first = tl.zeros((BM, LANES), tl.float32)
        second = tl.zeros((BM, LANES), tl.float32)
        if SUMMED:
            tiles = tl.load(row + 8).to(tl.int32)
            sums = partials + tl.load(row) + lane * tiles
            apart = tl.load(row + 7)
            for start in range(0, tiles, BM):
                tile = start + tl.arange(0, BM)
                mask = (tile < tiles)[:, None] & valid[None, :]
                first += tl.load(sums[None, :] + tile[:, None], mask=mask, other=0.0)
                second += tl.load(sums[None, :] + tile[:, None] + apart, mask=mask, other=0.0)
        else:
            source = aligned(row)
            for start in range(0, M, BM):
                m = start + tl.arange(0, BM)
                x = tl.load(arena + source + m[:, None] * LANES + lane[None, :], mask=(m < M)[:, None], other=0.0).to(
                    tl.float32
                )
                first += x
                second += x * x
        mean = tl.sum(first, axis=0) / M
        var = tl.maximum(tl.sum(second, axis=0) / M - mean * mean, 0.0)
        old_mean = tl.load(running_means + norm, mask=valid, other=0.0)
        old_var = tl.load(running_vars + norm, mask=valid, other=0.0)
        tl.store(running_means + norm, (1 - momentum) * old_mean + momentum * mean, mask=valid)
        tl.store(running_vars + norm, (1 - momentum) * old_var + momentum * var * (M / (M - 1.0)), mask=valid)
    else:
        mean = tl.load(running_means + norm, mask=valid, other=0.0)
        var = tl.load(running_vars + norm, mask=valid, other=1.0)
    inverse = 1.0 / tl.sqrt(var + epsilon)
    scale = tl.load(weights + tl.load(row + 2) + lane, mask=valid, other=0.0) * inverse
    bias = tl.load(weights + tl.load(row + 3) + lane, mask=valid, other=0.0)
    tl.store(scales + norm, scale, mask=valid)
    tl.store(shifts + norm, bias - mean * scale, mask=valid)
    tl.store(means + norm, mean, mask=valid)
    tl.store(inverses + norm, inverse, mask=valid)


@triton.jit
def _gradient_of_parts(
    arena, parts, first_part, last_part, single_source, relu, x, scale, shift, place, inside, SINGLE: tl.constexpr
):
    """What comes back to the normalised values, from one part whose place is valid, or from several."""
    if SINGLE:
        g = tl.load(arena + single_source + place, mask=inside, other=0.0).to(tl.float32)
        if relu:
            g = tl.where(x * scale + shift <= 0, 0.0, g)
    else:
        g = tl.zeros_like(x)
        for part in range(first_part, last_part):
            cut = tl.load(parts + part * 2 + 1) != 0
            source = aligned(parts + part * 2)
            value = tl.load(arena + source + place, mask=inside, other=0.0).to(tl.float32)
            g += tl.where(cut & (x * scale + shift <= 0), 0.0, value)
    return g


@triton.jit
def _values(arena, source, start, lane, M, BM: tl.constexpr, LANES: tl.constexpr):
    """The next values of a bundle, their places in it, and which of these exist."""
    m = start + tl.arange(0, BM)
    place = m[:, None] * LANES + lane[None, :]
    inside = (m < M)[:, None]
    return tl.load(arena + source + place, mask=inside, other=0.0).to(tl.float32), place, inside


@triton.jit
def norm_backward(
    arena, sums, table, parts, scales, shifts, means, inverses, M, SINGLE: tl.constexpr, BM: tl.constexpr,
    LANES: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """The gradient of a bundle that is normalised; it often replaces the bundle itself.

    Args:
        arena, sums, table: All bundles, the gradients of all parameters, and a row for each bundle.
        parts: The gradients of what uses the bundle, each with whether its negative part was cut off.
        scales, shifts, means, inverses: As :func:`norm_forward` left them.
        M: The pixels of a bundle.
        SINGLE: Whether every bundle has one part.
        BM, LANES, STAGES: Pixels of a block, channels of a bundle, depth of the pipeline.
    """
    row = table_row(table, 9)
    source, target = aligned(row), aligned(row + 7)
    lane = tl.arange(0, LANES)
    valid = lane < tl.load(row + 6)
    norm = tl.load(row + 1) + lane
    first_part = tl.load(row + 4)
    last_part = tl.load(row + 5)
    single_source = tl.multiple_of(tl.load(parts + first_part * 2, mask=first_part < last_part, other=0), 16)
    relu = tl.load(parts + first_part * 2 + 1, mask=first_part < last_part, other=0) != 0
    scale = tl.load(scales + norm, mask=valid, other=0.0)[None, :]
    shift = tl.load(shifts + norm, mask=valid, other=0.0)[None, :]
    mean = tl.load(means + norm, mask=valid, other=0.0)[None, :]
    inverse = tl.load(inverses + norm, mask=valid, other=0.0)[None, :]
    plain = tl.zeros((BM, LANES), tl.float32)
    along = tl.zeros((BM, LANES), tl.float32)
    for start in tl.range(0, M, BM, num_stages=STAGES):
        x, place, inside = _values(arena, source, start, lane, M, BM, LANES)
        g = _gradient_of_parts(
            arena, parts, first_part, last_part, single_source, relu, x, scale, shift, place, inside, SINGLE
        )
        plain += g
        along += g * (x - mean)
    sum_plain = tl.sum(plain, axis=0)
    sum_along = tl.sum(along, axis=0)[None, :] * inverse
    tl.store(sums + tl.load(row + 3) + lane, sum_plain, mask=valid)
    tl.store(sums + tl.load(row + 2) + lane[None, :], sum_along, mask=valid[None, :])
    of_plain = scale * (sum_plain[None, :] / M)
    of_along = scale * inverse * (sum_along / M)
    for start in tl.range(0, M, BM, num_stages=STAGES):
        x, place, inside = _values(arena, source, start, lane, M, BM, LANES)
        g = _gradient_of_parts(
            arena, parts, first_part, last_part, single_source, relu, x, scale, shift, place, inside, SINGLE
        )
        g = scale * g - of_plain - (x - mean) * of_along
        tl.store(arena + target + place, g.to(arena.dtype.element_ty), mask=inside)
