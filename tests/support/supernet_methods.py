"""The one-shot methods that train a supernet. Needs torch."""

from __future__ import annotations

from typing import Any

from nasbed.oneshot import METHODS, SEARCHED_SPACES
from nasbed.oneshot.methods.base import SupernetMethod

SUPERNET_METHODS = [name for name in METHODS if issubclass(METHODS.get(name), SupernetMethod)]


def supernet_method(name: str, space: str = "darts", **options: Any) -> SupernetMethod:
    """A method with its first parameters."""
    kind = METHODS.get(name)
    assert issubclass(kind, SupernetMethod)
    return kind.create(SEARCHED_SPACES.get(space), seed=0, options=options)
