"""The network that a recipe trains: an architecture in the recipe's skeleton, for a dataset."""

from __future__ import annotations

from typing import Any

from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Dataset
from nasbed.networks import build
from nasbed.spaces import SPACES, registered_id
from nasbed.spaces import space as registered_space
from nasbed.training.recipe import Recipe


def recipe_skeleton(space: str, recipe: Recipe) -> Any:
    """The skeleton of a space with the recipe's settings; None, the usual one, where a space has no settings."""
    owner = registered_space(space) if registered_id(space) in SPACES else None
    if recipe.auxiliary_weight and (owner is None or "auxiliary" not in owner.skeleton_settings):
        raise InvalidOption(
            f"networks of {space} have no auxiliary classifier, which the recipe {recipe.name} gives a weight; choose "
            "another recipe or set auxiliary_weight to 0"
        )
    settings = {**recipe.skeleton, **({"auxiliary": True} if recipe.auxiliary_weight else {})}
    if owner is None:
        if settings:
            raise InvalidOption(f"the skeleton of {space} has no settings, the recipe {recipe.name} has some")
        return None
    try:
        return owner.make_skeleton(settings)
    except InvalidOption as error:
        raise InvalidOption(f"the recipe {recipe.name} does not fit: {error}") from None


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
