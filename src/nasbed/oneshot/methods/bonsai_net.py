"""Bonsai-Net (Geada, Prangle and McGough, 2006.09264): a network with everything is trained and pruned at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.oneshot.methods.base import OneShotMethod
from nasbed.oneshot.pruning.search import PruningSearch
from nasbed.oneshot.pruning.settings import METHOD, BonsaiSettings
from nasbed.oneshot.search_interface import SearchSetup
from nasbed.oneshot.search_text import BonsaiWording, SearchWording
from nasbed.training.recipe import Recipe


class BonsaiNet(OneShotMethod[BonsaiSettings]):
    """All of its hyperparameters are settings, see :class:`BonsaiSettings`; they say the space too."""

    settings = BonsaiSettings
    chooses_space = False
    settings_prefix = ""
    refused_options: ClassVar[Mapping[str, str]] = {
        "--space": "has a space of its own; leave it out",
        "--cells": "has normal and reduction cells; name them with --set cells=nrn",
        "--stop": "runs all of its epochs; leave it out",
    }

    @classmethod
    def searched_space(cls, space: str | None, settings: BonsaiSettings) -> str:
        name = settings.frame().space_name
        if space is not None and space != name:
            raise InvalidOption(
                f"{METHOD} with the cells {settings.cells} and {settings.nodes} nodes searches {name}, got {space!r}; "
                "change its settings"
            )
        return name

    @classmethod
    def start_search(cls, setup: SearchSetup[BonsaiSettings]) -> PruningSearch:
        if setup.options:
            raise InvalidOption(
                f"the method {METHOD} has no options beside its settings, got {shorten(sorted(setup.options))}"
            )
        return PruningSearch(setup)

    @classmethod
    def training_recipe(cls, recipe: Recipe, settings: BonsaiSettings) -> Recipe:
        """The recipe with the channels and the classifier of the search, unless it sets them itself."""
        searched = {"channels": settings.channels, **_classifier(settings)}
        return replace(recipe, skeleton={**searched, **recipe.skeleton})

    @classmethod
    def network_settings(cls, settings: BonsaiSettings) -> dict[str, Any]:
        return {"cells": settings.cells, "nodes": settings.nodes, **_classifier(settings)}

    @classmethod
    def random_settings(cls, settings: BonsaiSettings) -> dict[str, Any]:
        return {**cls.network_settings(settings), "target": settings.target}

    @classmethod
    def random_architecture(cls, space: str, settings: BonsaiSettings, rng: np.random.Generator) -> Architecture:
        return settings.random_architecture(rng)

    @classmethod
    def wording(cls, space: str, settings: BonsaiSettings) -> SearchWording:
        return BonsaiWording(settings)


def _classifier(settings: BonsaiSettings) -> dict[str, Any]:
    """The classifier if it is not the usual one."""
    return {name: value for name, value in settings.identity().items() if name == "classifier"}
