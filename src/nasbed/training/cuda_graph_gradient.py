"""The gradient of a network that a recipe trains, recorded once as a CUDA graph, then replayed."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nasbed.training.cuda_graphs import Recording, recorded_if_possible
from nasbed.training.devices import set_chance
from nasbed.training.precision import computing
from nasbed.training.recipe import Recipe
from nasbed.training.steps import correct_predictions, recipe_loss


def is_captured(recipe: Recipe, device: torch.device) -> bool:
    """Whether the steps of an epoch are one and the same work: no share or radius that Python changes from step to
    step."""
    return device.type == "cuda" and not (recipe.mixup or recipe.sharpness_radius)


def captured_gradient(network: nn.Module, recipe: Recipe, batch: tuple[Tensor, Tensor]) -> CapturedGradient | None:
    """The recorded gradient of a network. It is None where steps differ, or where the network does what cannot be
    recorded, such as asking the device for a number. Network, random state and device are then as before."""
    if not is_captured(recipe, batch[0].device):
        return None
    return recorded_if_possible(lambda: CapturedGradient(network, recipe, batch), "this training")


class CapturedGradient:
    """The loss of a network on a batch, its correct predictions and its gradient, in one launch, see
    :class:`Recording`."""

    def __init__(self, network: nn.Module, recipe: Recipe, batch: tuple[Tensor, Tensor]) -> None:
        correct = torch.zeros((), dtype=torch.int64, device=batch[0].device)

        def loss(images: Tensor, labels: Tensor) -> Tensor:
            with computing(recipe, images.device):
                outputs = network(images)
            correct.copy_(correct_predictions(outputs, labels))
            return recipe_loss(outputs, [(1.0, labels)], recipe)

        self._network, self._correct = network, correct
        self._recording = Recording(network, loss, batch)

    def __call__(self, batch: tuple[Tensor, Tensor], *, seed: int) -> tuple[Tensor, Tensor]:
        """Store the gradient of a batch in the network, and return the loss and the number of correct predictions. The
        next call overwrites all three. The seed is of what the network drops."""
        for weight, gradient in self._recording.by_weights:
            weight.grad = gradient
        set_chance(self._recording.device, seed)
        return self._recording(*batch), self._correct

    def close(self) -> None:
        """Free the memory of the graph and the gradients in the network."""
        self._recording.close()
        self._network.zero_grad(set_to_none=True)
