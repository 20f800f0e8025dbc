"""A cell of table 2 of the paper on unseen datasets, measured: a NAS method searches, and what it finds is trained from
scratch. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Dataset
from nasbed.experiments.unseen.baseline import device_name, versions
from nasbed.experiments.unseen.budget import NasBudget
from nasbed.experiments.unseen.results import UnseenResult
from nasbed.experiments.unseen.run import NasRun, network_of
from nasbed.experiments.unseen.search import Found, Told, searched
from nasbed.training.devices import chosen_device
from nasbed.training.draws import initial_weights
from nasbed.training.images import TrainingImages, recipe_split
from nasbed.training.loop import train_network
from nasbed.training.outcome import Job, Trained
from nasbed.training.population import train_population
from nasbed.training.recipe import Recipe


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
    network = network_of(found.architecture, run.dataset, run.recipe)
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
        if not alike or found.architecture is None or found.architecture.space != "darts":
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
                network = network_of(found.architecture, run.dataset, run.recipe)
            results[place] = _result(run, found, seed, next(outcomes), network, called)
    return list(results.values())


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
