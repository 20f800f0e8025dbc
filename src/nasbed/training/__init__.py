"""Training: recipes as data, the loop, many networks at once. Torch is loaded only when something is trained."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nasbed.core.former_names import former
from nasbed.training.outcome import EpochEnd, Job, TrainingOutcome
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
    "TrainingOutcome",
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


def _lazy_attribute(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'nasbed.training' has no attribute {name!r}; it offers {', '.join(__all__)}")
    from nasbed.networks import check_torch

    check_torch()
    return getattr(import_module(_LAZY[name]), name)


__getattr__ = former(__name__, {"Trained": "nasbed.training:TrainingOutcome"}, until="0.3", otherwise=_lazy_attribute)
