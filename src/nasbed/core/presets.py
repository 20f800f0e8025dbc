"""Presets: named sets of settings from a paper, as data, each value with its source."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

from nasbed.core.errors import InvalidOption
from nasbed.core.registry import Registry

FILE = "presets.toml"


class SourcedValue(NamedTuple):
    """The value of a setting, and the place in the literature that has it."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class Preset:
    """The settings of a paper for several owners: methods, or models. ``owners`` has settings by owner and name; an
    owner that the paper uses without stating any has none."""

    name: str
    paper: str
    owners: Mapping[str, Mapping[str, SourcedValue]]

    def covers(self, owner: str) -> bool:
        """Whether the paper uses this method or model."""
        return owner in self.owners

    def settings(self, owner: str) -> dict[str, Any]:
        """The values by name for a method or model; raises where the paper does not use it."""
        if not self.covers(owner):
            raise InvalidOption(
                f"the preset {self.name} has settings for {', '.join(self.owners)}, got {owner}; omit the preset for it"
            )
        return {name: entry.value for name, entry in self.owners[owner].items()}


def preset_registry(package: str, *, kind: str, group: str) -> Registry[Preset]:
    """The presets in the file ``presets.toml`` of a package; ``kind`` names them in errors. Other packages can add
    more through the entry-point group."""
    text = resources.files(package).joinpath(FILE).read_text(encoding="utf-8")
    registry = Registry[Preset](kind, group=group)
    for name, table in tomllib.loads(text).items():
        owners = {
            owner: {setting: SourcedValue(**entry) for setting, entry in entries.items()}
            for owner, entries in table["settings"].items()
        }
        registry.add(name, Preset(name, table["paper"], owners))
    return registry
