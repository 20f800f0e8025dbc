"""Packages that add to registries by entry points."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nasbed.core.registry import Registry


def install_plugin(folder: Path, patch: pytest.MonkeyPatch, lines: Mapping[Registry[Any], str]) -> None:
    """A distribution on the path of this process with one line for each registry, and nothing else."""
    info = folder / "site" / "toy_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-plugin\nVersion: 1.0\n")
    entries = [f"[{registry.group}]\n{line}\n" for registry, line in lines.items()]
    (info / "entry_points.txt").write_text("\n".join(entries))
    patch.setattr(sys, "path", [str(info.parent), *sys.path])
    for registry in lines:
        patch.setattr(registry, "_entries", dict(registry._entries))
        patch.setattr(registry, "_plugins_loaded", False)
