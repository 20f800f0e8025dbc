"""The gradient of a network with gates, on a GPU from a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn

from nasbed.training.cuda_graph_gradient import is_captured
from nasbed.training.cuda_graphs import Recording, recorded_if_possible
from nasbed.training.devices import set_chance
from nasbed.training.recipe import Recipe


class GatedLosses(NamedTuple):
    """The cross entropy of a step, what its open gates cost, and the gates."""

    cross_entropy: Tensor
    compression: Tensor
    gates: Tensor


class GatedGradient:
    """Stores the gradient of both losses in a network and its pruners.

    Args:
        gated: The network with its pruners.
        recipe: How they are trained.
        losses: Computes the losses from images, labels and the strength of the compression.
    """

    def __init__(
        self, gated: nn.Module, recipe: Recipe, losses: Callable[[Tensor, Tensor, Tensor], GatedLosses]
    ) -> None:
        self._gated, self._recipe, self._losses = gated, recipe, losses
        self._recording: Recording | None = None
        self._recorded: GatedLosses | None = None
        self._is_recordable = True

    def __call__(self, batch: tuple[Tensor, Tensor], strength: Tensor, *, seed: int) -> GatedLosses:
        """The losses; a recording overwrites them in the next call. The seed is of what the network drops."""
        inputs = (*batch, strength)
        device = strength.device
        if self._recording is None and self._is_recordable and is_captured(self._recipe, device):
            self._record(inputs)
        set_chance(device, seed)
        if self._recording is None or self._recorded is None:
            self._gated.zero_grad(set_to_none=True)
            losses = self._losses(*inputs)
            (losses.cross_entropy + losses.compression).backward()  # type: ignore[no-untyped-call]
            return losses
        for weight, gradient in self._recording.by_weights:
            weight.grad = gradient
        self._recording(*inputs)
        return self._recorded

    def forget(self) -> None:
        """Record anew: the network changed."""
        if self._recording is not None:
            self._recording.close()
            self._recording = None
            self._gated.zero_grad(set_to_none=True)

    def _record(self, inputs: tuple[Tensor, Tensor, Tensor]) -> None:
        def loss(images: Tensor, labels: Tensor, strength: Tensor) -> Tensor:
            losses = self._losses(images, labels, strength)
            self._recorded = GatedLosses(*(value.detach() for value in losses))
            return losses.cross_entropy + losses.compression

        self._recording = recorded_if_possible(lambda: Recording(self._gated, loss, inputs), "this search")
        self._is_recordable = self._recording is not None
