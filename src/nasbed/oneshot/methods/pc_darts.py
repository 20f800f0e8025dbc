"""PC-DARTS: partial channels and edge normalisation (Xu et al., 1907.05737)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nasbed.oneshot.cells import Layout
from nasbed.oneshot.methods.darts import DartsMethod
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.random_streams import normal_parameters
from nasbed.oneshot.search_interface import as_array
from nasbed.oneshot.spaces.base import SearchedSpace, Strengths


class PCDarts(DartsMethod):
    """One channel in ``partial`` goes through the operations; what each edge into a node carries is weighed by a
    softmax over these edges, which counts in the end too. In the first ``warm_up`` of the epochs (15 of 50) only
    weights are trained.

    Args:
        space: The searched space.
        seed: The seed of the first parameters.
        partial: One channel in this many goes through the operations.
        warm_up: The share of epochs that train weights only.
        learning_rate: The learning rate of Adam for the architecture parameters.
        deviation: The standard deviation of the first parameters.
        settings: Other hyperparameters of :class:`DartsMethod`.
    """

    def __init__(
        self,
        space: SearchedSpace,
        *,
        seed: int = 0,
        partial: int = 4,
        warm_up: float = 0.3,
        learning_rate: float = 6e-4,
        deviation: float = 1e-3,
        **settings: Any,
    ) -> None:
        super().__init__(space, seed=seed, learning_rate=learning_rate, deviation=deviation, **settings)
        self.partial, self.warm_up = partial, warm_up
        self.betas = nn.Parameter(normal_parameters(seed, *self.cells.shape[:2], deviation=deviation, stream=1))

    def learns(self, epoch: int, epochs: int) -> bool:
        return epoch >= int(self.warm_up * epochs)

    def layout(self) -> Layout:
        return Layout(self.partial)

    def expected(self) -> Mixing:
        return Mixing(self.alphas.softmax(dim=-1), self._edges())

    def strengths(self) -> Strengths:
        return as_array(self.alphas.softmax(dim=-1) * self._edges().unsqueeze(-1))

    def _edges(self) -> Tensor:
        return torch.cat([self.betas[:, first:past].softmax(dim=-1) for first, past in self.cells.incoming], dim=-1)
