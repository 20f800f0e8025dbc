"""DrNAS: mixing weights drawn from Dirichlet distributions that are learnt (Chen et al., 2006.10355)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.core.errors import InvalidOption
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.methods.base import SupernetMethod
from nasbed.oneshot.methods.dirichlet import dirichlet
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.random_streams import Chance, normal_parameters
from nasbed.oneshot.search_interface import as_array
from nasbed.oneshot.spaces.base import SearchedSpace


class DrNAS(SupernetMethod):
    """Each edge has the concentrations elu(beta) + 1 of a Dirichlet distribution, from which every step draws its
    weights; in the end the mean counts. ``anchor`` times the squared distance of the concentrations from 1 is added to
    the validation loss, which keeps them near the flat distribution; it replaces weight decay.

    The search has a stage for each of ``partial``, of equally many epochs. In a stage one channel in ``partial`` goes
    through the operations. Before each stage but the first, the share ``kept`` of each edge's candidates stays, rounded
    up: those with the highest mean. Their parameters stay too, and the wider supernet inherits what it can, see
    ``widen``. In the first ``warm_up`` of a stage (10 of 25 epochs) only weights are trained.

    Args:
        space: The searched space.
        seed: The seed of the first parameters.
        with_none: Whether the operation ``none`` is a candidate.
        partial: One channel in this many goes through the operations, for each stage.
        kept: The share of candidates that stay after a stage.
        warm_up: The share of a stage's epochs that train weights only.
        anchor: The weight of the distance from the flat distribution.
        learning_rate: The learning rate of Adam for the architecture parameters.
        weight_decay: The weight decay of Adam.
        deviation: The standard deviation of the first parameters.
        settings: Other hyperparameters of :class:`SupernetMethod`.
    """

    present: Tensor
    stage: Tensor

    def __init__(
        self,
        space: SearchedSpace,
        *,
        seed: int = 0,
        with_none: bool = True,
        partial: tuple[int, ...] = (6, 4),
        kept: float = 0.5,
        warm_up: float = 0.4,
        anchor: float = 1e-3,
        learning_rate: float = 6e-4,
        weight_decay: float = 0.0,
        deviation: float = 1e-3,
        **settings: Any,
    ) -> None:
        super().__init__(space, with_none=with_none, learning_rate=learning_rate, weight_decay=weight_decay, **settings)
        if not partial or not 0 < kept <= 1:
            raise InvalidOption(f"drnas has a stage or more and keeps a part above 0 to 1, got {partial} and {kept}")
        self.partial, self.kept, self.warm_up, self.anchor = tuple(partial), kept, warm_up, anchor
        self.betas = nn.Parameter(normal_parameters(seed, *self.cells.shape, deviation=deviation))
        candidates = torch.arange(len(self.cells.operations)).expand(self.cells.shape)
        self.register_buffer("present", candidates.clone())
        self.register_buffer("stage", torch.zeros((), dtype=torch.int64))

    def begin(self, epoch: int, epochs: int) -> None:
        stage = self._stage(epoch, epochs)
        while int(self.stage) < stage:
            self._prune()
            self.stage += 1

    def learns(self, epoch: int, epochs: int) -> bool:
        stage = self._stage(epoch, epochs)
        first = next(number for number in range(epochs) if self._stage(number, epochs) == stage)
        length = sum(self._stage(number, epochs) == stage for number in range(epochs))
        return epoch - first >= int(self.warm_up * length)

    def layout(self) -> Layout:
        candidates = tuple(tuple(tuple(row) for row in table) for table in self.present.tolist())
        return Layout(self.partial[int(self.stage)], candidates)

    def mixing(self, chance: Chance) -> Mixing:
        return self._spread(dirichlet(self.concentrations(), chance.generator()))

    def expected(self) -> Mixing:
        concentrations = self.concentrations()
        return self._spread(concentrations / concentrations.sum(dim=-1, keepdim=True))

    def concentrations(self) -> Tensor:
        """The concentrations of the candidates that are still present."""
        return functional.elu(self.betas.gather(-1, self.present)) + 1

    def penalty(self) -> Tensor:
        return self.anchor * (self.concentrations() - 1).square().sum()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        self.present = state_dict["present"].to(self.present.device)  # its shape changes with the stage
        return super().load_state_dict(state_dict, strict, assign)

    def _stage(self, epoch: int, epochs: int) -> int:
        return epoch * len(self.partial) // epochs

    def _spread(self, weights: Tensor) -> Mixing:
        """Weights of those present as weights of all candidates, zero for the others."""
        return Mixing(torch.zeros_like(self.betas).scatter(-1, self.present, weights))

    def _prune(self) -> None:
        """Keep the strongest candidates of each edge, in their order, at least one of which carries something."""
        strengths = as_array(self.expected().operations)
        table = self.present.tolist()
        count = math.ceil(len(table[0][0]) * self.kept)
        for kind, edges in enumerate(table):
            for edge, row in enumerate(edges):
                ranked = sorted(row, key=lambda op: -strengths[kind, edge, op])
                strongest = ranked[:count]
                if not set(strongest) & set(self.cells.real):
                    strongest[-1] = next(op for op in ranked if op in self.cells.real)
                table[kind][edge] = sorted(strongest)
        self.present = torch.tensor(table, device=self.present.device)
