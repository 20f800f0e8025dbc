"""The settings of the methods of a comparison: the user's own, which win, and those of a preset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nasbed.core.presets import Preset
from nasbed.experiments.provenance import Method


def settings_by_name(
    settings: Mapping[str, Mapping[str, Any]], names: Mapping[Method, str]
) -> dict[str, dict[str, Any]]:
    """Settings by the names of runs; for a user's own method, the name of its class is accepted too."""
    by_class = {
        method.rpartition(":")[2] if isinstance(method, str) else method.__name__: name
        for method, name in names.items()
    }
    by_name: dict[str, dict[str, Any]] = {}
    for owner, values in settings.items():
        if values:
            by_name.setdefault(by_class.get(owner, owner), {}).update(values)
    return by_name


def with_preset(
    user_settings: Mapping[str, Mapping[str, Any]], preset: Preset | None, names: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """The settings of each method: those of the preset, where it has some, and the user's own, which win."""
    merged = {name: preset.settings(name) for name in names if preset is not None and preset.covers(name)}
    for name, values in user_settings.items():
        merged.setdefault(name, {}).update(values)
    return {name: values for name, values in merged.items() if values}


def preset_label(preset: Preset | None, name: str, user_settings: Mapping[str, Mapping[str, Any]]) -> str:
    """The preset of a method's runs, with the settings that the user has changed; empty where it has none."""
    if preset is None or not preset.covers(name):
        return ""
    changed = [key for key, value in user_settings.get(name, {}).items() if preset.settings(name).get(key) != value]
    return f"{preset.name} except {', '.join(changed)}" if changed else preset.name


def uncovered_note(preset: Preset | None, names: Iterable[str]) -> list[str]:
    uncovered = [name for name in names if preset is not None and not preset.covers(name)]
    if preset is None or not uncovered:
        return []
    return [f"{preset.paper} does not use {', '.join(uncovered)}: the preset {preset.name} leaves the defaults there"]
