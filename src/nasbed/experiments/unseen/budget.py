"""The budget of NAS methods on unseen datasets: how they search, and the network that is trained afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from nasbed.core.errors import InvalidOption, UnknownName, nearest
from nasbed.oneshot import METHODS as ONE_SHOT_METHODS
from nasbed.oneshot import BonsaiSettings, SearchSettings
from nasbed.training.recipe import Recipe

BONSAI = "bonsai-net"
RANDOM = {"darts": "rs-darts", "bonsai": "rs-bonsai"}
"""By space, the method that takes one architecture of it by chance."""


def nas_methods() -> list[str]:
    """Those of the paper's table 2, and every other one-shot method."""
    paper = ["pc-darts", "drnas", BONSAI, *RANDOM.values()]
    return [*paper, *(name for name in ONE_SHOT_METHODS if name not in paper)]


def check_method(method: str) -> None:
    if method not in nas_methods():
        raise UnknownName(f"no NAS method is called {method!r}; {nearest(method, nas_methods())}")


def space_of(method: str) -> Literal["darts", "bonsai"]:
    return "bonsai" if method in (BONSAI, RANDOM["bonsai"]) else "darts"


def bonsai_cells(count: int) -> str:
    """``count`` cells, of which those at one and two thirds reduce, as in a DARTS network.

    >>> bonsai_cells(8)
    'nnrnnrnn'
    """
    return "".join("r" if position in (count // 3, 2 * count // 3) else "n" for position in range(count))


@dataclass(frozen=True, slots=True)
class NasBudget:
    """How methods search, and the network around the architecture that is trained.

    ``supernet`` holds the settings of methods of the DARTS space, ``bonsai`` those of Bonsai-Net. The network that is
    trained has ``channels`` channels. In the DARTS space it has ``cells`` cells, in Bonsai's those of the search.
    """

    supernet: SearchSettings = field(default_factory=lambda: SearchSettings(cells=8))
    bonsai: BonsaiSettings = field(default_factory=lambda: BonsaiSettings(cells=bonsai_cells(8), channels=16))
    channels: int = 16
    cells: int = 8

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
        supernet: Mapping[str, Any] | None = None,
        bonsai: Mapping[str, Any] | None = None,
    ) -> NasBudget:
        """The same budget for both spaces, as far as they have the settings in common.

        Args:
            search_epochs: The epochs of a search.
            search_channels: The channels of the network that is searched.
            search_cells: The cells of a supernet.
            search_images: The images of an epoch of a search, None for all.
            channels: The channels of the network that is trained.
            cells: The cells of the network that is trained, and of Bonsai-Net's search.
            precision: The precision of a search.
            supernet: Further settings of a search in the DARTS space.
            bonsai: Further settings of a search by Bonsai-Net.
        """
        shared = {
            "epochs": search_epochs,
            "channels": search_channels,
            "epoch_images": search_images,
            "precision": precision,
        }
        return cls(
            supernet=_settings(SearchSettings, "supernet", {**shared, "cells": search_cells}, supernet or {}),
            bonsai=_settings(BonsaiSettings, "bonsai", {**shared, "cells": bonsai_cells(cells)}, bonsai or {}),
            channels=channels,
            cells=cells,
        )

    def settings(self, method: str) -> SearchSettings | BonsaiSettings:
        """How a method searches."""
        return self.bonsai if space_of(method) == "bonsai" else self.supernet

    def space(self, method: str) -> str:
        """The name of the space in which a method searches."""
        return self.bonsai.frame().space_name if space_of(method) == "bonsai" else "darts"

    def search(self, method: str) -> dict[str, Any]:
        """All that decides what a method finds but the dataset and the seed, as JSON has it."""
        if method == BONSAI:
            return {"space": "bonsai", **self.bonsai.plain()}
        if method == RANDOM["bonsai"]:
            names = ("cells", "nodes", "target")
            return {"space": "bonsai", **{name: getattr(self.bonsai, name) for name in names}}
        return {"space": "darts", **({} if method == RANDOM["darts"] else self.supernet.plain())}

    def recipe(self, method: str, recipe: Recipe) -> Recipe:
        """A recipe for what a method finds: with the network that stands around it."""
        if space_of(method) == "darts":
            return replace(recipe, skeleton={"channels": self.channels, "cells": self.cells})
        if recipe.auxiliary_weight:
            raise InvalidOption(
                f"networks of Bonsai-Net have no auxiliary classifier, which the recipe {recipe.name} gives a weight; "
                "choose another recipe, or leave bonsai-net and rs-bonsai out"
            )
        bonsai = self.bonsai
        return replace(recipe, skeleton={"channels": self.channels, "cells": bonsai.cells, "nodes": bonsai.nodes})


def _settings(kind: type[Any], name: str, shared: Mapping[str, Any], more: Mapping[str, Any]) -> Any:
    names = {item.name for item in fields(kind)}
    if unknown := sorted(set(more) - names):
        raise InvalidOption(f"{name} has no setting {unknown[0]!r}; {nearest(unknown[0], names)}")
    values = {**shared, **more}
    values["split"] = tuple(values["split"]) if isinstance(values.get("split"), list) else values.get("split")
    try:
        return kind(**values)
    except TypeError as error:
        raise InvalidOption(f"{name} cannot be set like this: {error}; change what begins with {name}.") from None
