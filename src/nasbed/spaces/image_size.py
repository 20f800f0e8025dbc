"""Height and width of the images that a network is for."""

from __future__ import annotations

from nasbed.core.errors import InvalidOption, shorten

Image = int | tuple[int, int]
"""Height and width in pixels, or the side of a square."""


def sides(image: Image) -> tuple[int, int]:
    """Height and width.

    >>> sides(32), sides((27, 18))
    ((32, 32), (27, 18))
    """
    pair = image if isinstance(image, tuple) else (image, image)
    if len(pair) != 2 or any(type(side) is not int or side < 1 for side in pair):
        raise InvalidOption(f"an image is a whole number of pixels, 1 or more, or a pair of them, got {shorten(image)}")
    return pair


def plain(image: Image) -> Image:
    """One number where the image is a square.

    >>> plain((32, 32)), plain((27, 18))
    (32, (27, 18))
    """
    height, width = sides(image)
    return height if height == width else (height, width)


def halved(image: tuple[int, int]) -> tuple[int, int]:
    """What a stride of 2 leaves, upwards."""
    return (image[0] + 1) // 2, (image[1] + 1) // 2
