"""A cell of table 2 of the paper on unseen datasets, measured: a NAS method searches, and its result is trained from
scratch. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from nasbed.core.errors import InvalidOption
from nasbed.core.status import Status
from nasbed.datasets.dataset import Dataset
from nasbed.experiments.unseen.baseline import device_name, versions
from nasbed.experiments.unseen.budget import NasBudget
from nasbed.experiments.unseen.results import UnseenResult
from nasbed.experiments.unseen.run import NasRun, network_of
from nasbed.experiments.unseen.search import OnEpoch, SearchOutcome, searched
from nasbed.training.devices import chosen_device
from nasbed.training.images import TrainingImages, recipe_split
from nasbed.training.loop import train_network
from nasbed.training.outcome import Job, TrainingOutcome
from nasbed.training.population import train_population
from nasbed.training.random_streams import initial_weights
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
    learning_curve: bool = False,
) -> UnseenResult:
    """Search, train the architecture that was found from scratch, and return the result.

    Args:
        method: The NAS method.
        dataset: What it searches and trains on.
        recipe: How the architecture is trained.
        budget: How methods search; the defaults without it.
        search_seed: The seed of the search.
        seed: The seed of the training.
        epochs: One of the recipe's budgets; by default the largest.
        paper: The paper's name of this dataset; by default its own name.
        device: Where to search and train.
        checkpoints: The folder in which both resume; another training seed reuses the search.
        progress: Called after each epoch with the part, ``search`` or ``train``, the number of epochs and their loss.
        learning_curve: Measure the validation accuracy after every epoch of the training.
    """
    run = NasRun(method, dataset, recipe, budget or NasBudget(), search_seed, epochs, paper)

    def reporter(part: str) -> OnEpoch | None:
        return None if progress is None else lambda epoch, description: progress(part, epoch, description)

    run.check()
    search = searched(run, device=device, checkpoint=run.checkpoint(checkpoints), progress=reporter("search"))
    return trained(
        run,
        search,
        seed=seed,
        device=device,
        checkpoint=run.checkpoint(checkpoints, seed),
        progress=reporter("train"),
        learning_curve=learning_curve,
    )


def trained(
    run: NasRun,
    search: SearchOutcome,
    *,
    seed: int = 0,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    progress: OnEpoch | None = None,
    images: TrainingImages | None = None,
    learning_curve: bool = False,
) -> UnseenResult:
    """The result of the architecture that a search found, trained from scratch.

    Args:
        run: The method, the dataset and how to train.
        search: What the search ended with.
        seed: The seed of the training.
        device: Where to train.
        checkpoint: The file that keeps the training after every epoch.
        progress: Called after each epoch.
        images: The images of the dataset, where they are loaded already.
        learning_curve: Measure the validation accuracy after every epoch.
    """
    torch_device = chosen_device(device)
    if search.architecture is None:
        return _diverged_result(run, search, seed)
    network = network_of(search.architecture, run.dataset, run.recipe)
    initial_weights(network, seed, run.recipe.weight_init)
    outcome = train_network(
        network,
        run.dataset,
        run.recipe,
        seed=seed,
        epochs=run.epochs,
        device=torch_device,
        checkpoint=checkpoint,
        progress=progress and (lambda end: progress(end.done, f"loss {end.loss:.3f}")),
        images=images,
        learning_curve=learning_curve,
        called=search.architecture.to_json(),
    )
    return _result(run, search, seed, outcome, network, device_name(torch_device))


def trained_together(
    jobs: Sequence[tuple[NasRun, SearchOutcome, int]],
    *,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    progress: OnEpoch | None = None,
    images: TrainingImages | None = None,
    learning_curve: bool = False,
) -> list[UnseenResult]:
    """Results of architectures with their seeds, in order, all trained at once on one dataset by one recipe: as alone
    but for rounding. Each has its share of the time.

    Args:
        jobs: Runs, what their searches ended with, and the seeds of the trainings.
        device: Where to train.
        checkpoint: The file that keeps the training after every epoch.
        progress: Called after each epoch.
        images: The images of the dataset, where they are loaded already.
        learning_curve: Measure the validation accuracy of every network after every epoch.
    """
    torch_device = chosen_device(device)
    successful = [(run, search, seed) for run, search, seed in jobs if search.architecture is not None]
    results = {place: _diverged_result(run, search, seed) for place, (run, search, seed) in enumerate(jobs)}
    if not successful:
        return list(results.values())
    first = successful[0][0]
    population = []
    for run, search, seed in successful:
        alike = (run.recipe, run.dataset.hash) == (first.recipe, first.dataset.hash)
        if not alike or search.architecture is None or not run.budget.trains_together(run.method):
            raise InvalidOption(
                f"networks that a population can train are trained together on one dataset by one recipe, got "
                f"{run.method} on {run.dataset.name}; train it alone"
            )
        population.append(Job(search.architecture, run.recipe.budget(run.epochs), seed))
    outcomes = iter(
        train_population(
            population,
            first.dataset,
            first.recipe,
            device=torch_device,
            images=images,
            learning_curve=learning_curve,
            checkpoint=checkpoint,
            progress=progress and (lambda epoch, _, losses: progress(epoch, f"mean loss {losses.mean():.3f}")),
        )
    )
    description = f"{device_name(torch_device)}, {len(successful)} networks together"
    for place, (run, search, seed) in enumerate(jobs):
        if search.architecture is not None:
            with torch.device("meta"):
                network = network_of(search.architecture, run.dataset, run.recipe)
            results[place] = _result(run, search, seed, next(outcomes), network, description)
    return list(results.values())


def _diverged_result(run: NasRun, search: SearchOutcome, seed: int) -> UnseenResult:
    return replace(
        run.planned(seed),
        status=Status.DIVERGED,
        reason=f"the search: {search.reason}",
        search_time_s=search.search_time_s,
        versions=versions(),
    )


def _result(
    run: NasRun, search: SearchOutcome, seed: int, outcome: TrainingOutcome, network: nn.Module, device: str
) -> UnseenResult:
    """The result of a trained network.

    Args:
        run: The method, the dataset and how to train.
        search: What the search ended with.
        seed: The seed of the training.
        outcome: The outcome of the training.
        network: The trained network.
        device: The device in words.
    """
    assert search.architecture is not None
    split = recipe_split(run.dataset, run.recipe)
    return replace(
        run.planned(seed),
        status=outcome.status,
        test_accuracy=outcome.test_accuracy,
        validation_accuracy=outcome.validation_accuracy,
        validated={str(epoch): value for epoch, value in enumerate(outcome.validation_curve or (), start=1)},
        train_loss=outcome.train_loss,
        train_time_s=outcome.train_time_s,
        images=(len(split.train), len(split.valid), len(run.dataset.test)),
        parameters=sum(weight.numel() for weight in network.parameters()),
        device=device,
        versions=versions(),
        reason=outcome.reason,
        architecture=search.architecture.to_json(),
        search_time_s=search.search_time_s,
    )
