"""The settings of one-shot methods by paper. ``presets.toml`` has every number with its place.

A preset says how a method searches and how what it finds is trained. Crops, flips, cutout and the auxiliary classifier
are made for the images of CIFAR. On other datasets a preset leaves them out: a mirrored digit or board is another one,
and the classifier fits no other image size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nasbed.core.presets import Preset, preset_registry
from nasbed.oneshot import METHODS, OneShotSettings
from nasbed.oneshot.method_options import option_defaults
from nasbed.training.recipe import Recipe

SEARCH_PRESETS = preset_registry("nasbed.oneshot", kind="preset of one-shot methods", group="nasbed.oneshot_presets")
CIFAR = ("cifar10", "cifar100")
"""The datasets whose images the augmentation of presets is for."""
CIFAR_ONLY = frozenset({"crop_padding", "flip", "cutout", "auxiliary_weight"})
"""Settings that a preset leaves out on other datasets."""
TRAINING = "train."
"""What the names of a preset's settings of a training begin with."""
_NETWORK = ("channels", "cells", "classifier")


@dataclass(frozen=True, slots=True)
class MethodPreset:
    """A preset for one method on one dataset. ``search`` has the settings of the search, ``options`` those of the
    method that differ from its defaults. ``training`` has fields of a recipe, and ``network`` the settings of the
    network that is trained. ``published`` has every value as the preset has it, what is for CIFAR only too."""

    name: str
    method: str
    published: dict[str, Any]
    search: dict[str, Any]
    options: dict[str, Any]
    training: dict[str, Any]
    network: dict[str, Any]

    def recipe(self, epochs: int | None = None) -> Recipe:
        """The recipe of the training, with other epochs if they are given."""
        fields = self.training | ({} if epochs is None else {"epochs": epochs})
        source = f"the preset {self.name} of {self.method}: nasbed list presets {self.name}"
        budget = (fields.pop("epochs"),)
        return Recipe(name=f"{self.name}-{self.method}", epochs=budget, **fields, skeleton=self.network, source=source)

    def changed(self, settings: OneShotSettings | None, training: Mapping[str, Any] | None) -> dict[str, Any]:
        """What the preset has for each setting that has another value in the end.

        Args:
            settings: How is searched in the end, None where nothing is.
            training: The final values of a recipe and of its network by name, None where nothing is trained.
        """
        prefix = METHODS.get(self.method).settings_prefix
        final = {} if settings is None else {f"{prefix}{name}": value for name, value in settings.plain().items()}
        final |= {f"{TRAINING}{name}": value for name, value in (training or {}).items()}
        return {key: value for key, value in self.published.items() if key in final and final[key] != value}


def method_preset(preset: Preset, method: str, dataset: str) -> MethodPreset:
    """A preset as it applies to a method on a dataset, which is named as in ``nasbed data list``."""
    kind = METHODS.get(method)
    parts: dict[str, dict[str, Any]] = {"search": {}, "options": {}, "training": {}, "network": {}}
    published = preset.settings(method)
    for key, value in published.items():
        name = key.removeprefix(TRAINING)
        if name != key:
            part = "network" if name in _NETWORK else "training"
        elif key.startswith(kind.settings_prefix):
            part, name = "search", key.removeprefix(kind.settings_prefix)
        else:
            part = "options"
        if name not in CIFAR_ONLY or dataset in CIFAR:
            parts[part][name] = tuple(value) if isinstance(value, list) else value
    defaults = option_defaults(kind)
    parts["options"] = {name: value for name, value in parts["options"].items() if value != defaults.get(name)}
    return MethodPreset(preset.name, method, published, **parts)
