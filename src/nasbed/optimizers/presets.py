"""The settings of search methods by paper. ``presets.toml`` has every number with its place."""

from __future__ import annotations

from nasbed.core.presets import preset_registry

METHOD_PRESETS = preset_registry("nasbed.optimizers", kind="preset of methods", group="nasbed.method_presets")
