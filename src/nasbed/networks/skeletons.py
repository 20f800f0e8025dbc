"""Skeletons with the sizes that a network is built for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from nasbed.core.errors import InvalidOption, shorten
from nasbed.spaces.image_size import Image

S = TypeVar("S")


def resized(skeleton: Any, kind: type[S], **sizes: Image) -> S:
    """The skeleton, or the usual one of its kind, with these sizes.

    >>> from nasbed.spaces.nb201 import NB201Skeleton
    >>> resized(None, NB201Skeleton, image=16, classes=120)
    NB201Skeleton(channels=16, cells_per_stage=5, image=16, classes=120)
    """
    if skeleton is None:
        return kind(**sizes)
    if not isinstance(skeleton, kind):
        raise InvalidOption(f"the skeleton of this network is a {kind.__name__}, got {shorten(skeleton)}")
    return replace(skeleton, **sizes)  # type: ignore[type-var]
