"""Names of Bonsai-Net from before it was one of the one-shot methods, until version 0.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nasbed.core.former_names import former, former_module, warn_former
from nasbed.oneshot.pruning.settings import METHOD
from nasbed.spaces.bonsai.sampling import random_flags

if TYPE_CHECKING:
    from nasbed.datasets.dataset import Dataset
    from nasbed.networks.bonsai import BonsaiNetwork
    from nasbed.oneshot.pruning.settings import BonsaiSettings
    from nasbed.oneshot.trajectory import SearchResult
    from nasbed.spaces.bonsai import BonsaiGenotype, Frame

__getattr__ = former(
    __name__,
    {
        "BonsaiArchitecture": "nasbed.spaces.bonsai:BonsaiGenotype",
        "BonsaiCell": "nasbed.spaces.bonsai:BonsaiCell",
        "BonsaiEpoch": "nasbed.oneshot.trajectory:SearchEpoch",
        "BonsaiNetwork": "nasbed.networks.bonsai:BonsaiNetwork",
        "BonsaiSearched": "nasbed.oneshot.trajectory:SearchResult",
        "BonsaiSettings": "nasbed.oneshot:BonsaiSettings",
        "Frame": "nasbed.spaces.bonsai:Frame",
    },
    until="0.3",
)
former_module(
    "nasbed.oneshot.bonsai.record",
    {
        "BonsaiRecord": "nasbed.oneshot.record:SearchRecord",
        "read_bonsai_record": "nasbed.oneshot.record:read_record",
        "write_bonsai_record": "nasbed.oneshot.record:write_record",
    },
    until="0.3",
)


def search(dataset: Dataset, settings: BonsaiSettings | None = None, **options: Any) -> SearchResult:
    """``nasbed.oneshot.search`` by this method."""
    from nasbed.oneshot.loop import search

    _warn("search", f'nasbed.oneshot.search("{METHOD}", …)')
    return search(METHOD, dataset, settings, **options)


def untrained(arch: BonsaiGenotype, dataset: Dataset, *, channels: int = 8, seed: int = 0) -> BonsaiNetwork:
    """The network of an architecture for a dataset, with the initial weights of a seed."""
    import torch

    from nasbed.networks.bonsai import BonsaiNetwork
    from nasbed.spaces.bonsai.costs import BonsaiSkeleton
    from nasbed.training.devices import chance_kept
    from nasbed.training.random_streams import initial_weights

    _warn("untrained", "nasbed.networks.build")
    with chance_kept(torch.device("cpu")):
        skeleton = BonsaiSkeleton(
            channels=channels, image=dataset.shape[1:], image_channels=dataset.shape[0], classes=len(dataset.classes)
        )
        network = BonsaiNetwork(arch.pruned(), skeleton)
    initial_weights(network, seed)
    return network


def random_architecture(frame: Frame, rng: np.random.Generator, *, target: float) -> BonsaiGenotype:
    """``nasbed.space("bonsai").random`` as a genotype."""
    from nasbed.spaces.bonsai import BonsaiGenotype

    _warn("random_architecture", 'nasbed.space("bonsai").random')
    return BonsaiGenotype.from_flags(frame, random_flags(frame, rng, target=target))


def _warn(old: str, new: str) -> None:
    warn_former(f"nasbed.oneshot.bonsai.{old}", new, until="0.3", stacklevel=4)
