"""NAS methods on unseen datasets in the configuration of their own papers, and what a user changes in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nasbed.experiments.unseen.budget import NasBudget, build_settings, is_random
from nasbed.oneshot import METHODS, OneShotSettings
from nasbed.oneshot.presets import SEARCH_PRESETS, MethodPreset, method_preset
from nasbed.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class PresetChoice:
    """A preset for all methods that it covers, and what a user changes in it: None changes nothing.

    ``settings`` are of searches, by owner, as ``--set`` has them. ``recipe`` is another training than the preset's.
    ``search_images`` is the number of images of an epoch of a search. ``search_cells`` are those of a supernet;
    ``channels`` and ``cells`` are of the network that is trained. ``precision`` is of both.
    """

    name: str
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    recipe: Recipe | None = None
    search_epochs: int | None = None
    search_images: int | None = None
    search_channels: int | None = None
    search_cells: int | None = None
    channels: int | None = None
    cells: int | None = None
    precision: Literal["float32", "bfloat16"] | None = None

    def covers(self, method: str) -> bool:
        """Whether the preset has the method, for a random search the one in whose space it draws."""
        return SEARCH_PRESETS.get(self.name).covers(NasBudget().searcher(method))

    def configuration(self, method: str, dataset: str, epochs: int | None) -> PresetConfiguration:
        """How a method searches on a dataset, and how what it finds is trained.

        A random architecture is trained as what PC-DARTS or Bonsai-Net finds in its space.
        """
        searcher = NasBudget().searcher(method)
        preset = method_preset(SEARCH_PRESETS.get(self.name), searcher, dataset)
        settings = self._settings(preset)
        channels, cells = self.channels or preset.network["channels"], self.cells or preset.network.get("cells", 8)
        budget = NasBudget((settings,), channels=channels, cells=cells, options={searcher: preset.options})
        recipe = self.recipe or preset.recipe(epochs)
        if self.precision is not None:
            recipe = replace(recipe, precision=self.precision)
        trained = budget.recipe(method, recipe)
        values = {**trained.settings(), **trained.skeleton, "epochs": trained.budget(epochs)}
        changed = preset.changed(None if is_random(method) else settings, values)
        return PresetConfiguration(recipe, budget, {"name": self.name, "changed": changed})

    def _settings(self, preset: MethodPreset) -> OneShotSettings:
        kind = METHODS.get(preset.method).settings
        changes = {
            "epochs": self.search_epochs,
            "epoch_images": self.search_images,
            "channels": self.search_channels,
            "precision": self.precision,
            "cells": kind.of_budget({}, search_cells=self.search_cells or 0, cells=self.cells or 0).get("cells"),
        }
        values = {name: value for name, value in changes.items() if value and name in kind.names()}
        return build_settings(kind, preset.search | values, self.settings.get(kind.owner) or {})


@dataclass(frozen=True, slots=True)
class PresetConfiguration:
    """The recipe and the budget of one method; ``description`` is what results store of the preset."""

    recipe: Recipe
    budget: NasBudget
    description: Mapping[str, Any]
