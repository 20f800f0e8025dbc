"""How many examples hypothesis draws."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL, THOROUGH = 25, 200
"""Examples of a property by default and under ``--thorough``."""


def examples(count: int, **options: Any) -> settings:
    """Settings for a property that needs ``count`` examples by default, and in proportion more under ``--thorough``."""
    profile = settings.get_current_profile_name()
    return settings(max_examples=count * (THOROUGH // USUAL if profile == "thorough" else 1), **options)
