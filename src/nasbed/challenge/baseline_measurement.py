"""Measure the baseline of a dataset, or take it from results that exist: needs torch to measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from nasbed.challenge.contest_data import ContestData
from nasbed.challenge.pinned_baseline import PinnedBaseline
from nasbed.core.errors import InvalidOption
from nasbed.core.status import Status
from nasbed.datasets.opening import open_dataset
from nasbed.experiments.unseen.results import UnseenResult, read_results
from nasbed.training.recipe import Recipe


def measure_baseline(
    data: ContestData,
    recipe: Recipe,
    *,
    network: str,
    epochs: int,
    seeds: Sequence[int],
    device: str,
    progress: Callable[[int, int, str], None],
) -> PinnedBaseline:
    """Train a network on a dataset once for each seed. The weights of the last epoch are measured.

    Args:
        data: The dataset.
        recipe: How to train.
        network: The name of a baseline.
        epochs: One of the recipe's budgets.
        seeds: The seeds of the weights and of the order of the images.
        device: The device to train on.
        progress: Called after every epoch with the seed, the number of epochs and a text.
    """
    from nasbed.experiments.unseen.baseline import measured_baseline

    images = open_dataset(str(data.folder.resolve()))
    results = [
        measured_baseline(
            network,
            images,
            recipe,
            seed=seed,
            epochs=epochs,
            device=device,
            progress=lambda end, seed=seed: progress(seed, end.done, f"loss {end.loss:.3f}"),  # type: ignore[misc]
        )
        for seed in seeds
    ]
    diverged = next((result for result in results if result.status != Status.OK), None)
    if diverged is not None:
        raise InvalidOption(
            f"a baseline is a training that ends, {network} on {data.name} with seed {diverged.seed} did not: "
            f"{diverged.reason}; use other --seeds"
        )
    return _pinned(data, results)


def baseline_from_results(
    data: ContestData, files: Sequence[Path], recipe: Recipe, *, network: str, epochs: int
) -> PinnedBaseline:
    """The baseline in files of ``nasbed data baseline --out``: the results of this network and recipe on these very
    bytes, the first of each seed.

    Args:
        data: The dataset.
        files: Files with a line of JSON per result.
        recipe: How it was trained.
        network: The name of a baseline.
        epochs: The number of epochs.
    """
    results, identity = read_results(files), open_dataset(str(data.folder.resolve())).hash
    by_seed: dict[int, UnseenResult] = {}
    for result in results:
        trained = (result.dataset_hash, result.model, result.epochs, result.status)
        alike = replace(result, recipe=recipe.settings()).training == result.training
        if alike and trained == (identity, network, epochs, Status.OK):
            by_seed.setdefault(result.seed, result)
    if not by_seed:
        raise InvalidOption(
            f"no result of {network} by the recipe {recipe.name} with {epochs} epochs has the bytes of {data.name}, "
            f"hash {identity}; measure it without --from"
        )
    return _pinned(data, [by_seed[seed] for seed in sorted(by_seed)])


def _pinned(data: ContestData, results: Sequence[UnseenResult]) -> PinnedBaseline:
    first = results[0]
    return PinnedBaseline(
        data_sha256=data.sha256,
        dataset_hash=first.dataset_hash,
        network=first.model,
        epochs=first.epochs,
        seeds=tuple(result.seed for result in results),
        accuracies=tuple(result.test_accuracy for result in results if result.test_accuracy is not None),
        recipe=first.recipe,
        device=first.device,
        versions=first.versions,
    )
