"""What the models that are networks share: torch, and how their scores are fitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import MissingDependency
from nasbed.surrogates.base import Progress


class NetworkSettings(Protocol):
    """The settings that both networks have."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def epochs(self) -> int: ...
    @property
    def ranking_loss(self) -> bool: ...


def load_torch(model: str) -> Any:
    """The module torch; raises where it is not installed."""
    try:
        import torch
    except ImportError:
        raise MissingDependency(
            f"the surrogate {model} needs torch; get it with: pip install 'nasbed[torch]'"
        ) from None
    return torch


def cosine(share: float) -> float:
    """The share of the learning rate at this share of the training: down a cosine to 0."""
    return 0.5 * (1 + math.cos(math.pi * share))


def fit_scores(
    score: Callable[[NDArray[np.int64]], Any],
    target: Any,
    parameters: Iterable[Any],
    settings: NetworkSettings,
    rng: np.random.Generator,
    *,
    margin: float,
    rate: Callable[[float], float] = cosine,
    progress: Progress | None = None,
) -> None:
    """Fit by Adam with decoupled weight decay: squared error, and the pairwise hinge of GATES where settings say so.

    Args:
        score: The scores of some rows, by their numbers.
        target: The scaled targets of all rows.
        parameters: What is fitted.
        settings: Learning rate, decay, batch size, epochs and whether ranks count.
        rng: Draws the batches.
        margin: By how much the scores of a pair should differ.
        rate: The share of the learning rate at each share of the training.
        progress: Called with the share that is done, after each epoch.
    """
    import torch

    from nasbed.networks.eager_optimizers import AdamW
    from nasbed.surrogates.models.gin_network import ranking_loss

    steps = max(1, len(target) // settings.batch_size)
    adam = AdamW(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    for epoch in range(settings.epochs):
        for step, rows in enumerate(np.array_split(rng.permutation(len(target)), steps)):
            adam.param_groups[0]["lr"] = settings.learning_rate * rate((epoch + step / steps) / settings.epochs)
            scores, truth = score(rows), target[torch.from_numpy(rows).to(target.device)]
            loss = ((scores - truth) ** 2).mean()
            if settings.ranking_loss:
                loss = loss + ranking_loss(scores, truth, margin)
            adam.zero_grad()
            loss.backward()
            adam.step()
        if progress is not None:
            progress((epoch + 1) / settings.epochs)
