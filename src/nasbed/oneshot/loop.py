"""The loop of every one-shot search, from the first weights or from a checkpoint to an architecture.

Random numbers depend on the seed, the epoch and the step only. On a CPU the same search gives the same bits each time,
interrupted or not, in any process with as many threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import torch

from nasbed.core.errors import InvalidOption, shorten
from nasbed.datasets.dataset import Dataset
from nasbed.oneshot import METHODS
from nasbed.oneshot import checkpoint as checkpoints
from nasbed.oneshot.images import SearchImages
from nasbed.oneshot.search_interface import SearchSetup
from nasbed.oneshot.settings import OneShotSettings
from nasbed.oneshot.stopping import StoppingRule
from nasbed.oneshot.trajectory import SearchEpoch, SearchResult
from nasbed.training.devices import chance_kept, chosen_device
from nasbed.training.images import TrainingImages

ReportEpoch = Callable[[SearchEpoch], None]


def search(
    method: str,
    dataset: Dataset,
    settings: OneShotSettings | None = None,
    *,
    space: str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: str | torch.device = "cpu",
    checkpoint: str | Path | None = None,
    progress: ReportEpoch | None = None,
    stop: StoppingRule | None = None,
    images: SearchImages | TrainingImages | None = None,
) -> SearchResult:
    """Search a space for an architecture by a one-shot method.

    Args:
        method: One of ``METHODS``.
        dataset: The images to search with.
        settings: How the network of the search is trained; of the type that the method has, see ``settings_type``.
        space: The space to search, by default ``darts``; Bonsai-Net searches that of its settings.
        options: Hyperparameters of the method other than the published ones.
        seed: Of the weights, the parameters and the order of images.
        device: Where to compute.
        checkpoint: The search is saved in this file after every epoch, and resumes from it if the file exists.
        progress: Called after every epoch.
        stop: A rule that may end the search early.
        images: Those of this dataset and these settings, where several searches run on one device.
    """
    checkpoint = None if checkpoint is None else Path(checkpoint)
    kind = METHODS.get(method)
    expected = kind.settings
    settings = expected() if settings is None else settings
    if not isinstance(settings, expected):
        raise InvalidOption(
            f"a search by {method} is set by {expected.__name__}, got {shorten(settings)}; make one of these"
        )
    setup = SearchSetup(
        method,
        kind.searched_space(space, settings),
        dataset,
        settings,
        dict(options or {}),
        seed,
        chosen_device(device),
        images,
    )
    identity = search_identity(setup)
    with ExitStack() as inside:
        inside.enter_context(chance_kept(setup.device))
        running = inside.enter_context(closing(kind.start_search(setup)))
        epochs: list[SearchEpoch] = []
        if checkpoint is not None and checkpoint.exists():
            state, epochs = checkpoints.load(checkpoint, identity)
            try:
                running.load(state)
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise checkpoints.damaged(checkpoint, f"it does not fit, {shorten(str(error), 100)}") from None
        while True:
            stop_epoch = stop(epochs) if stop is not None else None
            seconds = epochs[-1].search_time_s if epochs else 0.0
            if stop_epoch is not None and len(epochs) < settings.epochs:
                reason = f"stopped after epoch {len(epochs)}, the architecture is that of epoch {stop_epoch.epoch}"
                return SearchResult("stopped", stop_epoch.architecture, tuple(epochs), seconds, reason)
            if len(epochs) == settings.epochs:
                architecture = epochs[-1].architecture
                return SearchResult("ok", architecture, tuple(epochs), seconds, network=running.network(architecture))
            end = running.epoch(len(epochs), seconds)
            if isinstance(end, str):
                return SearchResult("diverged", None, tuple(epochs), seconds, end)
            epochs.append(end)
            if checkpoint is not None:
                checkpoints.save(checkpoint, identity, running.state(), epochs)
            if progress is not None:
                progress(end)


def search_identity(setup: SearchSetup[Any]) -> dict[str, Any]:
    """What a checkpoint must have in common with a search. The space is left out where the settings say it."""
    space = {"space": setup.space} if METHODS.get(setup.method).chooses_space else {}
    return {
        "method": setup.method,
        **space,
        "dataset": f"{setup.dataset.name} {setup.dataset.hash}",
        "seed": setup.seed,
        **{f"the setting {name}": value for name, value in setup.settings.identity().items()},
        **{f"the option {name}": value for name, value in setup.options.items()},
    }
