"""Whether networks of a space can be trained at all, before the first of them is: device, dataset, recipe, skeleton."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, NasbedError, exception_line
from nasbed.datasets.dataset import Dataset
from nasbed.spaces.base import SearchSpace
from nasbed.training.devices import chance_kept, chosen_device
from nasbed.training.images import recipe_split
from nasbed.training.network_factory import recipe_network
from nasbed.training.recipe import Recipe
from nasbed.training.stepwise import check_drop_path

T = TypeVar("T")

SAMPLES = 3
"""How many architectures stand for a space. One that works is enough, since a bad network does not affect others."""


def check_training(space: SearchSpace, dataset: Dataset, recipe: Recipe, *, device: str | torch.device) -> None:
    """Raise where no network of a space can be trained with a recipe on a dataset and a device."""
    chosen_device(device)
    split = recipe_split(dataset, recipe)
    if not len(split.valid):
        raise InvalidOption(
            f"a campaign validates with at least 1 image of {dataset.name}, the recipe {recipe.name} leaves 0; change "
            "its split"
        )
    recipe.steps_per_epoch(len(split.train))
    with chance_kept(torch.device("cpu")):
        of_samples(space, lambda arch: _check_network(arch, dataset, recipe), needed=1)


def of_samples(space: SearchSpace, check: Callable[[Architecture], T], *, needed: int = SAMPLES) -> list[T]:
    """The results of a check for sampled architectures that pass it, as many as needed; raises its first error where
    none passes."""
    rng = np.random.default_rng(0)
    results, errors = [], []
    for _ in range(SAMPLES):
        try:
            results.append(check(space.sample(rng)))
        except NasbedError as error:
            errors.append(error)
        if len(results) == needed:
            break
    if not results:
        raise errors[0]
    return results


def _check_network(arch: Architecture, dataset: Dataset, recipe: Recipe) -> None:
    """Raise unless a network takes a pair of images of a dataset."""
    try:
        network = recipe_network(arch, dataset, recipe)
        with torch.no_grad():
            network(torch.zeros(min(recipe.batch, 2), *dataset.shape))
    except NasbedError:
        raise
    except Exception as error:
        channels, height, width = dataset.shape
        raise InvalidOption(
            f"networks of {arch.space} with the recipe {recipe.name} cannot take images of {channels}x{height}x{width} "
            f"({exception_line(error)}); choose larger images or another skeleton"
        ) from None
    check_drop_path(network, recipe)
