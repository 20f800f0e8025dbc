"""The loop of :mod:`nasbed.networks.depthwise.cpu`, as a plain function that numba can compile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.arrays import numba_compiled

SIGNATURE = "void(float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], UniTuple(int64, 2), UniTuple(int64, 2))"

Rows = NDArray[np.float32]
"""Maps with channels last, the columns of a row and their channels in one dimension: ``[images, rows, numbers]``."""
Pair = tuple[int, int]


def add_weight_gradient(maps: Rows, slopes: Rows, gradient: Rows, stride: Pair, dilation: Pair) -> None:
    """Add the gradient of depthwise kernels whose border is half of them.

    For each place of the kernel a row of maps is multiplied by a row of slopes, number by number, into a row of sums.
    Those are long loops without a branch. The sums of a channel are added last.

    Args:
        maps: What the convolution saw.
        slopes: The gradient of its output.
        gradient: The result, ``[height, width, channels]``.
        stride, dilation: Of the convolution, downwards and to the right.
    """
    height, width, channels = gradient.shape
    rows, columns = maps.shape[1], maps.shape[2] // channels
    rows_out, columns_out = slopes.shape[1], slopes.shape[2] // channels
    sums = np.zeros((height, width, columns_out * channels), np.float32)
    for image in range(len(maps)):
        for i in range(height):
            below = (i - height // 2) * dilation[0]
            for j in range(width):
                beside = (j - width // 2) * dilation[1]
                first = max(0, -(beside // stride[1]))
                end = min(columns_out, (columns - 1 - beside) // stride[1] + 1)
                if first >= end:
                    continue
                run = sums[i, j, first * channels : end * channels]
                for row_out in range(max(0, -(below // stride[0])), min(rows_out, (rows - 1 - below) // stride[0] + 1)):
                    slope = slopes[image, row_out, first * channels : end * channels]
                    row = maps[image, row_out * stride[0] + below]
                    if stride[1] == 1:
                        seen = row[(first + beside) * channels : (end + beside) * channels]
                        for place in range(len(run)):
                            run[place] += slope[place] * seen[place]
                    else:
                        for column_out in range(end - first):
                            column = (first + column_out) * stride[1] + beside
                            for channel in range(channels):
                                place = column_out * channels + channel
                                run[place] += slope[place] * row[column * channels + channel]
    for i in range(height):
        for j in range(width):
            for column in range(columns_out):
                for channel in range(channels):
                    gradient[i, j, channel] += sums[i, j, column * channels + channel]


@cache
def compiled() -> Callable[..., Any] | None:
    """:func:`add_weight_gradient`, compiled; None without numba, as on a machine with a GPU and little else."""
    if find_spec("numba") is None:
        return None
    return numba_compiled(SIGNATURE, fastmath={"contract"})(add_weight_gradient)
