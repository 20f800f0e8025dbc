"""A NAS method on an unseen dataset with a seed: everything that determines the result. Needs torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.datasets.dataset import Dataset
from nasbed.experiments.unseen.budget import NasBudget, check_method
from nasbed.experiments.unseen.results import UnseenResult
from nasbed.training.devices import chance_kept
from nasbed.training.images import recipe_split
from nasbed.training.network_factory import recipe_network
from nasbed.training.recipe import Recipe
from nasbed.training.stepwise import check_drop_path


@dataclass(frozen=True, slots=True)
class NasRun:
    """A search by a method on a dataset, and how what it finds is trained. ``paper`` is the paper's name of this
    dataset, by default its own name. ``epochs`` is one of the recipe's budgets, by default the largest. ``preset``
    describes the preset that the settings are from, as results store it."""

    method: str
    dataset: Dataset
    recipe: Recipe
    budget: NasBudget
    search_seed: int = 0
    epochs: int | None = None
    paper: str | None = None
    preset: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_method(self.method)
        object.__setattr__(self, "recipe", self.budget.recipe(self.method, self.recipe))

    def planned(self, seed: int) -> UnseenResult:
        """The result with a training seed as far as it is known before the run."""
        return UnseenResult(
            dataset=self.paper or self.dataset.name,
            model=self.method,
            epochs=self.recipe.budget(self.epochs),
            seed=seed,
            status="planned",
            test_accuracy=None,
            dataset_hash=self.dataset.hash,
            recipe=self.recipe.settings(),
            search=self.budget.search(self.method),
            search_seed=self.search_seed,
            preset=self.preset,
        )

    def checkpoint(self, folder: Path | None, seed: int | None = None) -> Path | None:
        """The file for the search, or for the training with a seed; other settings have other files."""
        if folder is None:
            return None
        planned = self.planned(seed or 0)
        of = (planned.dataset_hash, planned.search) if seed is None else planned.setting
        digest = hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:8]
        part = "search" if seed is None else f"train-{seed}"
        return folder / f"{planned.dataset}-{self.method}-{self.search_seed}-{part}-{digest}.ckpt"

    def record(self, folder: Path | None) -> Path | None:
        """The file for the record of the search."""
        checkpoint = self.checkpoint(folder)
        return None if checkpoint is None else checkpoint.with_suffix("") / "search.json"

    def check(self) -> None:
        """Raise now where what is found could not be trained."""
        with torch.device("meta"):
            network = network_of(self.random_architecture(), self.dataset, self.recipe)
        check_drop_path(network, self.recipe)
        self.recipe.budget(self.epochs)
        self.recipe.steps_per_epoch(len(recipe_split(self.dataset, self.recipe).train))

    def random_architecture(self) -> Architecture:
        """A random architecture of the method's space by the seed of its search."""
        return self.budget.random_architecture(self.method, np.random.default_rng(self.search_seed))


def network_of(arch: Architecture, dataset: Dataset, recipe: Recipe) -> nn.Module:
    """The untrained network of an architecture."""
    with chance_kept(torch.device("cpu")):
        return recipe_network(arch, dataset, recipe)
