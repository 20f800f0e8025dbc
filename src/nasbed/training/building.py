"""The network that a recipe trains: an architecture in the recipe's skeleton, for a dataset."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.registry import Registry
from nasbed.datasets.dataset import Dataset
from nasbed.networks import build
from nasbed.training.recipe import Recipe

SKELETONS: Registry[type[Any]] = Registry("skeleton", group="nasbed.skeletons")
SKELETONS.add("nb101", "nasbed.spaces.nb101.costs:NB101Skeleton")
SKELETONS.add("nb201", "nasbed.spaces.nb201:NB201Skeleton")
SKELETONS.add("darts", "nasbed.spaces.darts.costs:DartsSkeleton")
SKELETONS.add("fbnet", "nasbed.spaces.fbnet.costs:FBNetSkeleton")
SKELETONS.add("transnas-micro", "nasbed.networks.transnas_micro:TransNASSkeleton")


def recipe_skeleton(space: str, recipe: Recipe) -> Any:
    """The skeleton of a space with the recipe's settings; None, the usual one, where a space has no settings."""
    kind = SKELETONS.get(space) if space in SKELETONS else None
    known = {item.name for item in fields(kind)} if kind is not None else set()
    if recipe.auxiliary_weight and "auxiliary" not in known:
        raise InvalidOption(
            f"networks of {space} have no auxiliary classifier, which the recipe {recipe.name} gives a weight; choose "
            "another recipe or set auxiliary_weight to 0"
        )
    if unknown := set(recipe.skeleton) - known:
        has = f"has the settings {', '.join(sorted(known))}" if known else "has no settings"
        raise InvalidOption(
            f"the skeleton of {space} {has}, the recipe {recipe.name} says {', '.join(sorted(unknown))}; choose "
            "another recipe"
        )
    if kind is None:
        return None
    try:
        return kind(**{**recipe.skeleton, **({"auxiliary": True} if recipe.auxiliary_weight else {})})
    except TypeError:
        raise InvalidOption(
            f"a setting of the skeleton of {space} has a value of a wrong kind in the recipe {recipe.name}: "
            f"{shorten(dict(recipe.skeleton))}; change it"
        ) from None


def recipe_network(arch: Architecture, dataset: Dataset, recipe: Recipe) -> nn.Module:
    """The untrained network, with torch's own initial weights (none inside ``with torch.device("meta")``)."""
    channels, height, width = dataset.shape
    return build(
        arch,
        classes=len(dataset.classes),
        channels_in=channels,
        image=(height, width),
        skeleton=recipe_skeleton(arch.space, recipe),
    )
