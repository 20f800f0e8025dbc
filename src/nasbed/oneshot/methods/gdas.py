"""GDAS: one operation an edge and step, sampled (Dong and Yang, 1910.04465)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nasbed.oneshot.methods.darts import DartsMethod
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.random_streams import Chance
from nasbed.oneshot.spaces.base import SearchedSpace


class Gdas(DartsMethod):
    """Each edge takes the operation that is strongest after Gumbel noise, and only that is computed. Backwards, the
    choice is a softmax at a temperature that falls evenly from the first epoch to the last.

    The host chooses, since it launches the operations. It waits for the device after the parameters have moved, once a
    step.
    """

    temperature: Tensor
    _host_copy: tuple[tuple[int, int], Tensor] | None = None  # the version of the parameters and their copy on the host

    def __init__(
        self,
        space: SearchedSpace,
        *,
        first_temperature: float = 10.0,
        last_temperature: float = 0.1,
        **settings: Any,
    ) -> None:
        super().__init__(space, **settings)
        self.first_temperature, self.last_temperature = first_temperature, last_temperature
        self.register_buffer("temperature", torch.tensor(first_temperature))

    def begin(self, epoch: int, epochs: int) -> None:
        progress = epoch / max(epochs - 1, 1)
        self.temperature.fill_(self.first_temperature + progress * (self.last_temperature - self.first_temperature))

    def mixing(self, chance: Chance) -> Mixing:
        alphas = self._on_host()
        noise = torch.empty_like(alphas).exponential_(generator=chance.host_generator()).clamp_min(1e-20).log()
        samples = (alphas.log_softmax(dim=-1) - noise).argmax(dim=-1)
        noisy = self.alphas.log_softmax(dim=-1) - noise.to(self.alphas.device, non_blocking=True)
        return self._hard((noisy / self.temperature).softmax(dim=-1), samples)

    def evaluated(self) -> Mixing:
        """That of the architecture which the search would end with. Where architectures have no operation "none", many
        edges are strongest in carrying nothing; all strongest operations together may compute nothing at all."""
        return self.space.one_hot(self.architecture(), self.cells, device=self.alphas.device)

    def _on_host(self) -> Tensor:
        version = self.alphas._version, self.alphas.data_ptr()
        if self._host_copy is None or self._host_copy[0] != version:
            self._host_copy = version, self.alphas.detach().cpu()
        return self._host_copy[1]

    def _hard(self, soft: Tensor, indices: Tensor) -> Mixing:
        """One where chosen and zero elsewhere, with the gradient of the soft weights."""
        hard = torch.zeros(indices.shape + soft.shape[-1:], dtype=soft.dtype).scatter_(-1, indices.unsqueeze(-1), 1.0)
        hard = hard.to(soft.device, non_blocking=True)
        selected = tuple(tuple(row) for row in indices.tolist())
        return Mixing(hard + (soft - soft.detach()), selected=selected)
