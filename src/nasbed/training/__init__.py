"""Training: recipes as data, the loop, many networks at once. Torch is loaded only when something is trained."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nasbed.training.outcome import EpochEnd, Job, Trained
from nasbed.training.recipe import Recipe
from nasbed.training.recipe_files import load_recipe, recipe_toml
from nasbed.training.recipes import RECIPES

if TYPE_CHECKING:
    from nasbed.training.loop import train, train_network
    from nasbed.training.population import train_population

__all__ = [
    "RECIPES",
    "EpochEnd",
    "Job",
    "Recipe",
    "Trained",
    "load_recipe",
    "recipe_toml",
    "train",
    "train_network",
    "train_population",
]

_LAZY = {
    "train": "nasbed.training.loop",
    "train_network": "nasbed.training.loop",
    "train_population": "nasbed.training.population",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'nasbed.training' has no attribute {name!r}; it offers {', '.join(__all__)}")
    from nasbed.networks import check_torch

    check_torch()
    return getattr(import_module(_LAZY[name]), name)
