"""Spaces whose native form is the published text of an architecture."""

from __future__ import annotations

from typing import Any

from nasbed.core.architecture import Architecture
from nasbed.spaces.base import SearchSpace


class NativeTextSpace(SearchSpace):
    """Reads and writes native forms as texts."""

    def to_native(self, arch: Architecture) -> str:
        """The published architecture string."""
        return self.format(arch)

    def from_native(self, obj: Any) -> Architecture:
        return self.parse(obj)
