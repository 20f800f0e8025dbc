"""How many pixels of a plane one program of a kernel computes."""

from __future__ import annotations

LARGEST_WIDE_TILE = 64
"""For values of four bytes: with larger tiles, kernels run out of registers."""


def conv_tile(shape: tuple[int, ...], *, batch: int, lanes: int, value_bytes: int) -> int:
    """Of a convolution forward, from ``(inputs, outputs, kernel, height and width of each, …)``, inputs and outputs
    counted in bundles."""
    inputs, outputs, kernel, _, _, height, width, *_ = shape
    if lanes == 1:
        small = min(power_of_two(inputs), 64) * min(power_of_two(outputs), 64) <= 1024
        most = 256 if kernel == 1 and small else 128
    else:
        most = 256 if inputs * outputs == 4 or inputs * outputs >= 64 else 128
        most = 64 if inputs * outputs == 16 else most
    if lanes > 1 and value_bytes > 2:
        most = min(most, LARGEST_WIDE_TILE)
    return max(min(power_of_two(batch * height * width), most), 16)


def power_of_two(value: int) -> int:
    """The smallest that is not below the value."""
    return 1 << (value - 1).bit_length()
