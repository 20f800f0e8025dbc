"""What runs the programs of a population."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class Executor(Protocol):
    """Forward and backward passes of all networks at once. Made from programs and the networks' parameters
    ``[networks, most parameters]``, which whoever trains changes in place."""

    running_mean: Tensor
    running_var: Tensor

    def logits(self, images: Tensor, *, training: bool) -> Tensor:
        """``[networks, images, classes]`` from images ``[networks, images, channels, height, width]``."""

    def losses_and_gradient(
        self, images: Tensor, labels: Tensor, *, smoothing: float = 0.0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The mean cross entropy of each network on its own batch, its gradient, and how many images of the batch it
        classifies correctly."""

    def shares(self) -> list[float]:
        """What part of the time each network takes."""
