"""The budget of NAS methods on unseen datasets: how they search, and the network that is trained afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, UnknownName, nearest
from nasbed.core.json_values import plain
from nasbed.oneshot import METHODS, OneShotSettings, settings_type
from nasbed.spaces import registered_id
from nasbed.spaces import space as registered_space
from nasbed.training.recipe import Recipe

if TYPE_CHECKING:
    from nasbed.oneshot.methods.base import OneShotMethod

PAPER = ("pc-darts", "drnas", "bonsai-net", "rs-darts", "rs-bonsai")
"""The methods of the paper's table 2."""
RANDOM_PREFIX = "rs-"


def random_method(space: str) -> str:
    """The name of the search that takes one random architecture of a space.

    >>> random_method("darts"), random_method("bonsai-nr-1")
    ('rs-darts', 'rs-bonsai')
    """
    return f"{RANDOM_PREFIX}{registered_id(space)}"


def is_random(method: str) -> bool:
    """Whether a method takes one random architecture."""
    return method.startswith(RANDOM_PREFIX) and method not in METHODS


def nas_methods() -> list[str]:
    """Those of the paper's table 2, every other one-shot method, and random search in each of their spaces."""
    budget = NasBudget()
    random = [random_method(budget.space(method)) for method in _one_shot_methods()]
    return list(dict.fromkeys([*PAPER, *METHODS, *random]))


def check_method(method: str) -> None:
    """Raise unless there is such a method."""
    if method not in PAPER and method not in METHODS and method not in (methods := nas_methods()):
        raise UnknownName(f"no NAS method is called {method!r}; {nearest(method, methods)}")


@dataclass(frozen=True, slots=True)
class NasBudget:
    """How methods search, and the network around the architecture that is trained.

    ``searches`` has the settings of each type that methods have. The network that is trained has ``channels`` channels
    and ``cells`` cells, where its space lets them be set; in Bonsai's it has the cells of the search. ``options`` has
    options of methods other than their defaults, by method.
    """

    searches: tuple[OneShotSettings, ...] = field(
        default_factory=lambda: tuple(
            build_settings(kind, kind.of_budget({"channels": 16}, search_cells=8, cells=8), {})
            for kind in settings_types()
        )
    )
    channels: int = 16
    cells: int = 8
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def alike(
        cls,
        *,
        search_epochs: int = 50,
        search_channels: int = 16,
        search_cells: int = 8,
        search_images: int | None = None,
        channels: int = 16,
        cells: int = 8,
        precision: Literal["float32", "bfloat16"] = "float32",
        **settings: Mapping[str, Any] | None,
    ) -> NasBudget:
        """The same budget for all methods, as far as they have the settings in common.

        Args:
            search_epochs: The epochs of a search.
            search_channels: The channels of the network that is searched.
            search_cells: The cells of a supernet.
            search_images: The images of an epoch of a search, None for all.
            channels: The channels of the network that is trained.
            cells: The cells of the network that is trained, and of Bonsai-Net's search.
            precision: The precision of a search.
            settings: Further settings by their owner: ``supernet`` for methods with a supernet, ``bonsai`` for
                Bonsai-Net.
        """
        shared = {
            "epochs": search_epochs,
            "channels": search_channels,
            "epoch_images": search_images,
            "precision": precision,
        }
        types = settings_types()
        owners = list(dict.fromkeys(kind.owner for kind in types))
        if unknown := [owner for owner in settings if owner not in owners]:
            raise InvalidOption(f"a setting belongs to {' or '.join(owners)}, got {unknown[0]!r}; change its owner")
        searches = (
            build_settings(
                kind, kind.of_budget(shared, search_cells=search_cells, cells=cells), settings.get(kind.owner) or {}
            )
            for kind in types
        )
        return cls(tuple(searches), channels=channels, cells=cells)

    def settings(self, method: str) -> OneShotSettings:
        """How a method searches."""
        return self._settings_of(self._searcher(method))

    def space(self, method: str) -> str:
        """The name of the space in which a method searches."""
        return self._space_of(self._searcher(method))

    def trains_together(self, method: str) -> bool:
        """Whether the networks that a method finds can be trained as a population."""
        return self._searcher(method).trains_together

    def search(self, method: str) -> dict[str, Any]:
        """Everything that determines the result of a method except the dataset and the seed, in JSON form."""
        searcher, settings = self._searcher(method), self.settings(method)
        options = self.options.get(method)
        decisive = searcher.random_settings(settings) if is_random(method) else settings.identity()
        return {
            "space": registered_id(self.space(method)),
            **decisive,
            **({"options": plain(options)} if options else {}),
        }

    def random_architecture(self, method: str, rng: np.random.Generator) -> Architecture:
        """A random architecture of a method's space; one of Bonsai's is of the budget's size."""
        return self._searcher(method).random_architecture(self.space(method), self.settings(method), rng)

    def recipe(self, method: str, recipe: Recipe) -> Recipe:
        """A recipe for what a method finds: with the network that stands around it."""
        names = registered_space(self.space(method)).skeleton_settings
        if recipe.auxiliary_weight and "auxiliary" not in names:
            raise InvalidOption(
                f"networks of {registered_id(self.space(method))} have no auxiliary classifier, which the recipe "
                f"{recipe.name} gives a weight; choose another recipe, or leave {method} out"
            )
        sizes = {"channels": self.channels, "cells": self.cells}
        skeleton = {name: value for name, value in sizes.items() if name in names}
        return replace(recipe, skeleton={**skeleton, **self._searcher(method).network_settings(self.settings(method))})

    def searcher(self, method: str) -> str:
        """The name of the method itself; for a random search, of the first method that searches the same space."""
        if not is_random(method):
            return method
        return next(name for name in _one_shot_methods() if random_method(self._space_of(METHODS.get(name))) == method)

    def _searcher(self, method: str) -> type[OneShotMethod[Any]]:
        return METHODS.get(self.searcher(method))

    def _settings_of(self, kind: type[OneShotMethod[Any]]) -> OneShotSettings:
        return next((own for own in self.searches if type(own) is kind.settings), None) or kind.settings()

    def _space_of(self, kind: type[OneShotMethod[Any]]) -> str:
        return kind.searched_space(None, self._settings_of(kind))


def settings_types() -> list[type[OneShotSettings]]:
    """The types of the settings of all methods, the paper's methods first."""
    return list(dict.fromkeys(settings_type(method) for method in _one_shot_methods()))


def _one_shot_methods() -> list[str]:
    paper = [method for method in PAPER if not method.startswith(RANDOM_PREFIX)]
    return [*paper, *(name for name in METHODS if name not in paper)]


def build_settings(kind: type[OneShotSettings], values: Mapping[str, Any], more: Mapping[str, Any]) -> OneShotSettings:
    """Settings of a type with these values; ``more`` are a user's, which win, and whose names are checked."""
    owner = kind.owner
    if unknown := sorted(set(more) - set(kind.names())):
        raise InvalidOption(f"{owner} has no setting {unknown[0]!r}; {nearest(unknown[0], kind.names())}")
    try:
        return kind.from_plain({"split": None, **values, **more} if "split" in kind.names() else {**values, **more})
    except TypeError as error:
        raise InvalidOption(f"the settings of {owner} are invalid: {error}; change what begins with {owner}.") from None
