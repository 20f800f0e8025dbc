"""A cell of table 2 of the paper on unseen datasets, measured: a NAS method searches, and what it finds is trained from
scratch. Needs torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Dataset
from nasbed.evaluation.studies.unseen_baseline import device_name, versions
from nasbed.evaluation.studies.unseen_nas_budget import BONSAI, RANDOM, NasBudget, check_method, space_of
from nasbed.evaluation.studies.unseen_results import UnseenResult
from nasbed.oneshot import search as search_supernet
from nasbed.oneshot.bonsai import BonsaiArchitecture, random_architecture, untrained
from nasbed.oneshot.bonsai import search as search_bonsai
from nasbed.spaces import space
from nasbed.training.building import recipe_network
from nasbed.training.devices import chance_kept, chosen_device
from nasbed.training.draws import initial_weights
from nasbed.training.images import TrainingImages, recipe_split
from nasbed.training.loop import check_drop_path, train_network
from nasbed.training.outcome import Job, Trained
from nasbed.training.population import train_population
from nasbed.training.recipe import Recipe

Told = Callable[[int, str], None]
"""Told after each epoch how many are done, and what there is to say of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search ended with; no architecture only where it diverged, for a ``reason``."""

    architecture: Architecture | BonsaiArchitecture | None
    search_time_s: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NasRun:
    """A search by a method on a dataset, and how what it finds is trained. ``paper`` is which of the paper's datasets
    this one is, by default that of its name; ``epochs`` one of the recipe's budgets, by default the largest."""

    method: str
    dataset: Dataset
    recipe: Recipe
    budget: NasBudget
    search_seed: int = 0
    epochs: int | None = None
    paper: str | None = None

    def __post_init__(self) -> None:
        check_method(self.method)
        object.__setattr__(self, "recipe", self.budget.recipe(self.method, self.recipe))

    def planned(self, seed: int) -> UnseenResult:
        """What is known of the result with a training seed before anything is done."""
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

    def check(self) -> None:
        """Raise now where what is found could not be trained."""
        with torch.device("meta"):
            network = _network(_by_chance(self), self.dataset, self.recipe)
        check_drop_path(network, self.recipe)
        self.recipe.budget(self.epochs)
        self.recipe.steps_per_epoch(len(recipe_split(self.dataset, self.recipe).train))


def measured_nas(
    method: str,
    dataset: Dataset,
    recipe: Recipe,
    *,
    budget: NasBudget | None = None,
    search_seed: int = 0,
    seed: int = 0,
    epochs: int | None = None,
    paper: str | None = None,
    device: str | torch.device = "cpu",
    checkpoints: Path | None = None,
    progress: Callable[[str, int, str], None] | None = None,
) -> UnseenResult:
    """Search, train what was found from scratch, and tell all there is to know of it.

    With a folder of ``checkpoints`` both go on where they were interrupted, and another training seed finds the search
    done. ``progress`` is told the part, ``search`` or ``train``, how many of its epochs are done, and of their loss.
    """
    run = NasRun(method, dataset, recipe, budget or NasBudget(), search_seed, epochs, paper)

    def told(part: str) -> Told | None:
        return None if progress is None else lambda done, said: progress(part, done, said)

    run.check()
    found = searched(run, device=device, checkpoint=run.checkpoint(checkpoints), progress=told("search"))
    return trained(
        run, found, seed=seed, device=device, checkpoint=run.checkpoint(checkpoints, seed), progress=told("train")
    )


def searched(
    run: NasRun,
    *,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    progress: Told | None = None,
) -> Found:
    """What a method finds with a seed. ``rs-darts`` and ``rs-bonsai`` take one architecture by chance."""
    if run.method in RANDOM.values():
        return Found(_by_chance(run), 0.0)
    if run.method == BONSAI:
        pruned = search_bonsai(
            run.dataset,
            run.budget.bonsai,
            seed=run.search_seed,
            device=device,
            checkpoint=checkpoint,
            progress=progress
            and (lambda end: progress(end.epoch, f"loss {end.train_loss:.3f}  {end.operations} operations")),
        )
        return Found(pruned.architecture, pruned.search_time_s, pruned.reason)
    found = search_supernet(
        run.method,
        run.dataset,
        run.budget.supernet,
        seed=run.search_seed,
        device=device,
        checkpoint=checkpoint,
        progress=progress
        and (lambda end: progress(end.epoch, f"loss {end.train_loss:.3f}  accuracy {end.validation_accuracy:.1f} %")),
    )
    return Found(found.architecture, found.search_time_s, found.reason)


def trained(
    run: NasRun,
    found: Found,
    *,
    seed: int = 0,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    progress: Told | None = None,
    images: TrainingImages | None = None,
) -> UnseenResult:
    """The result of what was found, trained with a seed. ``images`` spares making them anew from the dataset."""
    where = chosen_device(device)
    if found.architecture is None:
        return _diverged(run, found, seed)
    network = _network(found.architecture, run.dataset, run.recipe)
    initial_weights(network, seed)
    outcome = train_network(
        network,
        run.dataset,
        run.recipe,
        seed=seed,
        epochs=run.epochs,
        device=where,
        checkpoint=checkpoint,
        progress=progress and (lambda end: progress(end.done, f"loss {end.loss:.3f}")),
        images=images,
        called=found.architecture.to_json(),
    )
    return _result(run, found, seed, outcome, network, device_name(where))


def trained_together(
    jobs: Sequence[tuple[NasRun, Found, int]],
    *,
    device: str | torch.device = "cpu",
    progress: Told | None = None,
    images: TrainingImages | None = None,
) -> list[UnseenResult]:
    """Results of architectures of the DARTS space with their seeds, in order, all trained at once on one dataset by one
    recipe: as alone but for rounding, and without checkpoints. Each has its share of the time."""
    where = chosen_device(device)
    there = [(run, found, seed) for run, found, seed in jobs if found.architecture is not None]
    results = {place: _diverged(run, found, seed) for place, (run, found, seed) in enumerate(jobs)}
    if not there:
        return list(results.values())
    first = there[0][0]
    population = []
    for run, found, seed in there:
        alike = (run.recipe, run.dataset.hash) == (first.recipe, first.dataset.hash)
        if not (alike and isinstance(found.architecture, Architecture)):
            raise InvalidOption(
                f"networks of the DARTS space are trained together on one dataset by one recipe, got {run.method} on "
                f"{run.dataset.name}; train it alone"
            )
        population.append(Job(found.architecture, run.recipe.budget(run.epochs), seed))
    outcomes = iter(
        train_population(
            population,
            first.dataset,
            first.recipe,
            device=where,
            images=images,
            progress=progress and (lambda done, of, losses: progress(done, f"mean loss {losses.mean():.3f}")),
        )
    )
    called = f"{device_name(where)}, {len(there)} networks together"
    for place, (run, found, seed) in enumerate(jobs):
        if found.architecture is not None:
            with torch.device("meta"):
                network = _network(found.architecture, run.dataset, run.recipe)
            results[place] = _result(run, found, seed, next(outcomes), network, called)
    return list(results.values())


def read_found(result: UnseenResult) -> Found:
    """What the search behind a result ended with."""
    kind = BonsaiArchitecture if space_of(result.model) == "bonsai" else Architecture
    return Found(kind.from_json(result.architecture), result.search_time_s or 0.0)


def _by_chance(run: NasRun) -> Architecture | BonsaiArchitecture:
    rng, bonsai = np.random.default_rng(run.search_seed), run.budget.bonsai
    if space_of(run.method) == "bonsai":
        return random_architecture(bonsai.frame(), rng, target=bonsai.target)
    return space("darts").sample(rng)


def _network(arch: Architecture | BonsaiArchitecture, dataset: Dataset, recipe: Recipe) -> nn.Module:
    if isinstance(arch, BonsaiArchitecture):
        return untrained(arch, dataset, channels=recipe.skeleton["channels"])
    with chance_kept(torch.device("cpu")):
        return recipe_network(arch, dataset, recipe)


def _diverged(run: NasRun, found: Found, seed: int) -> UnseenResult:
    return replace(
        run.planned(seed),
        status="diverged",
        reason=f"the search: {found.reason}",
        search_time_s=found.search_time_s,
        versions=versions(),
    )


def _result(run: NasRun, found: Found, seed: int, outcome: Trained, network: nn.Module, device: str) -> UnseenResult:
    assert found.architecture is not None
    split = recipe_split(run.dataset, run.recipe)
    return replace(
        run.planned(seed),
        status=outcome.status,
        test_accuracy=outcome.test_accuracy,
        validation_accuracy=outcome.validation_accuracy,
        train_loss=outcome.train_loss,
        train_time_s=outcome.train_time_s,
        images=(len(split.train), len(split.valid), len(run.dataset.test)),
        parameters=sum(weight.numel() for weight in network.parameters()),
        device=device,
        versions=versions(),
        reason=outcome.reason,
        architecture=found.architecture.to_json(),
        search_time_s=found.search_time_s,
    )
