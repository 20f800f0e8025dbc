"""What skeletons check of their settings."""

from __future__ import annotations

from nasbed.core.errors import InvalidOption


def check_at_least_one(skeleton: object, *names: str) -> None:
    """Raise unless these settings of a skeleton are 1 or more."""
    for name in names:
        if getattr(skeleton, name) < 1:
            raise InvalidOption(f"the skeleton's {name} is at least 1, got {getattr(skeleton, name)}")
