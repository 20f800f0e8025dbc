"""DARTS, first order (Liu et al., 1806.09055)."""

from __future__ import annotations

from typing import Any

from torch import nn

from nasbed.oneshot.methods.base import SupernetMethod
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.random_streams import Chance, normal_parameters
from nasbed.oneshot.spaces.base import SearchedSpace


class DartsMethod(SupernetMethod):
    """Every edge mixes its operations by a softmax of its parameters. ``with_none`` adds an operation that carries
    nothing, which takes its share of the softmax and is never kept."""

    def __init__(
        self, space: SearchedSpace, *, seed: int = 0, with_none: bool = True, deviation: float = 1e-3, **settings: Any
    ) -> None:
        super().__init__(space, with_none=with_none, **settings)
        self.alphas = nn.Parameter(normal_parameters(seed, *self.cells.shape, deviation=deviation))

    def mixing(self, chance: Chance) -> Mixing:
        return self.expected()

    def expected(self) -> Mixing:
        return Mixing(self.alphas.softmax(dim=-1))
