"""The settings of surrogate models by paper. ``presets.toml`` has every number with its place."""

from __future__ import annotations

from nasbed.core.presets import preset_registry

MODEL_PRESETS = preset_registry("nasbed.surrogates", kind="preset of models", group="nasbed.model_presets")
