"""How many examples hypothesis draws."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL, THOROUGH = 25, 200
"""Examples of a property by default and under ``--thorough``."""


def examples(count: int, *, thorough: int | None = None, **options: Any) -> settings:
    """Settings for a property that needs ``count`` examples by default, and ``thorough`` of them, or in proportion
    more, under ``--thorough``."""
    if settings.get_current_profile_name() == "thorough":
        count = thorough or count * (THOROUGH // USUAL)
    return settings(max_examples=count, **options)
