"""Height and width of the images that a network is for."""

from __future__ import annotations

import re

from nasbed.core.errors import InvalidOption, ParseError, shorten

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


def pixels(image: Image) -> int:
    """How many there are.

    >>> pixels(32), pixels((27, 18))
    (1024, 486)
    """
    height, width = sides(image)
    return height * width


def halved(image: tuple[int, int]) -> tuple[int, int]:
    """What a stride of 2 leaves, upwards."""
    return (image[0] + 1) // 2, (image[1] + 1) // 2


def strided(image: Image, stride: int) -> Image:
    """What a convolution of some stride leaves, upwards.

    >>> strided(224, 2), strided((27, 18), 2)
    (112, (14, 9))
    """
    height, width = (-(-side // stride) for side in sides(image))
    return plain((height, width))


def parsed(text: str) -> Image:
    """The size that a text names, height first.

    >>> parsed("32"), parsed("27x18")
    (32, (27, 18))
    """
    match = re.fullmatch("([1-9][0-9]{0,5})(?:[x×]([1-9][0-9]{0,5}))?", text.strip())
    if match is None:
        raise ParseError(f"an image size reads 32 or 27x18 (height and width in pixels), got {shorten(text)}")
    return plain((int(match[1]), int(match[2] or match[1])))
