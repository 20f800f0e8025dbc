"""A cell of table 1 of the paper on unseen datasets, measured: needs torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Unpack

import torch

from nasbed.core.packages import package_versions
from nasbed.datasets.dataset import Dataset
from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import UnseenResult
from nasbed.training.baselines import BaselineRun, train_baseline, train_baselines
from nasbed.training.devices import chosen_device
from nasbed.training.images import recipe_split
from nasbed.training.options import EpochCallback, RunOptions
from nasbed.training.outcome import EpochEnd
from nasbed.training.recipe import Recipe


def measured_baseline(
    model: str,
    dataset: Dataset,
    recipe: Recipe,
    *,
    paper: str | None = None,
    checkpoint: Path | None = None,
    progress: EpochCallback | None = None,
    **options: Unpack[RunOptions],
) -> UnseenResult:
    """Train a baseline, and return its result with everything that reproduces it.

    Args:
        model: The name of the baseline.
        dataset: The images.
        recipe: How to train.
        paper: The paper's name of this dataset; by default its own name.
        checkpoint: The training is saved in this file after every epoch, and resumes from there if the file exists.
        progress: Called after every epoch.
        options: ``seed``, ``epochs`` and ``device`` of the training.
    """
    run = train_baseline(model, dataset, recipe, checkpoint=checkpoint, progress=progress, **options)
    return _result(run, model, dataset, recipe, paper=paper, **options)


def measured_baselines(
    model: str,
    datasets: Sequence[Dataset],
    recipe: Recipe,
    *,
    checkpoints: Sequence[Path | None] | None = None,
    progress: Callable[[int, EpochEnd], None] | None = None,
    **options: Unpack[RunOptions],
) -> Iterator[UnseenResult]:
    """:func:`measured_baseline` on several datasets side by side, in the same kernels; each result when it is there.

    Args:
        model: The name of the baseline.
        datasets: The images of each.
        recipe: How to train.
        checkpoints: A file for each dataset.
        progress: Called after every epoch of a dataset, with its place among them.
        options: ``seed``, ``epochs`` and ``device`` of the trainings.
    """
    for place, run in train_baselines(model, datasets, recipe, checkpoints=checkpoints, progress=progress, **options):
        yield _result(run, model, datasets[place], recipe, **options)


def _result(
    run: BaselineRun,
    model: str,
    dataset: Dataset,
    recipe: Recipe,
    *,
    paper: str | None = None,
    **options: Unpack[RunOptions],
) -> UnseenResult:
    split, outcome = recipe_split(dataset, recipe), run.outcome
    return UnseenResult(
        dataset=dataset.name if paper is None else published().dataset_called(paper),
        model=model,
        epochs=recipe.budget(options.get("epochs")),
        seed=options.get("seed", 0),
        status=outcome.status,
        test_accuracy=outcome.test_accuracy,
        validation_accuracy=outcome.validation_accuracy,
        validated={str(epoch): value for epoch, value in run.validated.items()},
        train_loss=outcome.train_loss,
        train_time_s=outcome.train_time_s,
        dataset_hash=dataset.hash,
        images=(len(split.train), len(split.valid), len(dataset.test)),
        parameters=run.parameters,
        recipe=recipe.settings(),
        device=device_name(chosen_device(options.get("device", "cpu"))),
        versions=versions(),
        reason=outcome.reason,
    )


def device_name(device: torch.device) -> str:
    """A device in words."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def versions() -> dict[str, str]:
    """The versions of what a training on this machine depends on."""
    return {**package_versions("torch", "torchvision", "numpy"), "torch": torch.__version__}
