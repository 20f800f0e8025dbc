"""Names of Bonsai-Net from before it was one of the one-shot methods. They go away with the next version.

Use ``nasbed.oneshot.search("bonsai-net", …)``, ``nasbed.oneshot.BonsaiSettings``, ``nasbed.space("bonsai")`` with its
``random``, ``nasbed.spaces.bonsai`` and ``nasbed.networks.build`` instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nasbed.oneshot.pruning.settings import METHOD, BonsaiSettings
from nasbed.oneshot.trajectory import Searched as BonsaiSearched
from nasbed.oneshot.trajectory import SearchEpoch as BonsaiEpoch
from nasbed.spaces.bonsai import BonsaiCell, Frame
from nasbed.spaces.bonsai import BonsaiGenotype as BonsaiArchitecture
from nasbed.spaces.bonsai.sampling import random_flags

if TYPE_CHECKING:
    from nasbed.datasets.dataset import Dataset
    from nasbed.networks.bonsai import BonsaiNetwork

__all__ = [
    "BonsaiArchitecture",
    "BonsaiCell",
    "BonsaiEpoch",
    "BonsaiNetwork",
    "BonsaiSearched",
    "BonsaiSettings",
    "Frame",
    "random_architecture",
    "search",
    "untrained",
]


def search(dataset: Dataset, settings: BonsaiSettings | None = None, **options: Any) -> BonsaiSearched:
    """``nasbed.oneshot.search`` by this method."""
    from nasbed.oneshot.loop import search

    return search(METHOD, dataset, settings, **options)


def untrained(arch: BonsaiArchitecture, dataset: Dataset, *, channels: int = 8, seed: int = 0) -> BonsaiNetwork:
    """The network of an architecture for a dataset, with the initial weights of a seed."""
    import torch

    from nasbed.networks.bonsai import BonsaiNetwork
    from nasbed.training.devices import chance_kept
    from nasbed.training.draws import initial_weights

    with chance_kept(torch.device("cpu")):
        network = BonsaiNetwork(
            arch.pruned(), channels=channels, channels_in=dataset.shape[0], classes=len(dataset.classes)
        )
    initial_weights(network, seed)
    return network


def random_architecture(frame: Frame, rng: np.random.Generator, *, target: float) -> BonsaiArchitecture:
    """``nasbed.space("bonsai").random`` as a genotype."""
    return BonsaiArchitecture.from_flags(frame, random_flags(frame, rng, target=target))


def __getattr__(name: str) -> Any:
    if name != "BonsaiNetwork":
        raise AttributeError(
            f"module 'nasbed.oneshot.bonsai' has no attribute {name!r}; it offers {', '.join(__all__)}"
        )
    from nasbed.networks import check_torch

    check_torch()
    from nasbed.networks.bonsai import BonsaiNetwork

    return BonsaiNetwork
