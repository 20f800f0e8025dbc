"""Networks side by side, for the tests of populations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nasbed.networks import build
from nasbed.spaces import space
from nasbed.spaces.bonsai import BonsaiSkeleton
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.spaces.nb101.costs import NB101Skeleton
from nasbed.spaces.nb201 import NB201Skeleton
from nasbed.spaces.transnas import TransNASMacroSkeleton, TransNASSkeleton
from nasbed.training.network_factory import recipe_skeleton
from nasbed.training.population.program import NetworkProgram
from nasbed.training.population.tracing import trace
from nasbed.training.random_streams import initial_weights
from nasbed.training.recipe_files import load_recipe

SKELETONS: dict[str, tuple[Any, int]] = {
    "nb101": (NB101Skeleton(channels=12, cells_per_stack=1), 8),
    "nb201": (NB201Skeleton(channels=4, cells_per_stage=1), 8),
    "darts": (DartsSkeleton(channels=4, cells=4, image=8), 8),
    "fbnet": (recipe_skeleton("fbnet", load_recipe("collect-fbnet")), 16),
    "transnas-micro": (TransNASSkeleton(channels=4), 16),
    "transnas-macro": (TransNASMacroSkeleton(channels=4), 16),
    "bonsai": (BonsaiSkeleton(channels=4), 8),
}
"""Small ones, that of FBNet as its networks are collected, and the side of the images."""


def networks(name: str, count: int, seed: int = 0) -> list[nn.Module]:
    skeleton, side = SKELETONS[name]
    rng = np.random.default_rng(seed)
    built = [build(space(name).sample(rng), image=side, skeleton=skeleton) for _ in range(count)]
    for number, network in enumerate(built):
        initial_weights(network, number)
    return built


def programs(modules: Sequence[nn.Module], side: int) -> list[NetworkProgram]:
    return [trace(network, channels=3, side=side) for network in modules]


def flat(network: nn.Module) -> Tensor:
    return torch.cat([weight.detach().flatten() for weight in network.parameters()])


def parameters(modules: Sequence[nn.Module]) -> Tensor:
    """Those of all networks, a row each, filled up with zeros."""
    rows = [flat(network) for network in modules]
    table = rows[0].new_zeros(len(rows), max(len(row) for row in rows))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def batches(count: int, size: int, side: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(count, size, 3, side, side, generator=generator, dtype=dtype)
    return images, torch.randint(0, 10, (count, size), generator=generator)
