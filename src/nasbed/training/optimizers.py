"""The optimizers of recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor, nn

from nasbed.networks.eager_optimizers import SGD, EagerOptimizer, FusedSGD
from nasbed.training.recipe import Recipe


class TensorFlowRMSprop(EagerOptimizer):
    """RMSProp as TensorFlow 1 has it, with which NAS-Bench-101 was trained.

    It differs from torch's in three ways: epsilon is added inside the root, the mean of squares begins at one, and the
    learning rate enters the momentum. So an old step keeps its learning rate::

        mean_square = decay * mean_square + (1 - decay) * gradient**2
        velocity = momentum * velocity + rate * gradient / sqrt(mean_square + epsilon)
        weight -= velocity

    Args:
        params: The parameters to train.
        lr: The learning rate.
        decay: The decay of the mean of squares.
        momentum: The factor of the previous step.
        epsilon: Added to the mean of squares.
        weight_decay: The factor of the weight that is added to its gradient.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        *,
        lr: float,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        weight_decay: float = 0.0,
    ) -> None:
        defaults = {"lr": lr, "decay": decay, "momentum": momentum, "epsilon": epsilon, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            weights = [weight for weight in group["params"] if weight.grad is not None]
            if weights:
                self._move(weights, group)
        return loss

    def _move(self, weights: list[Tensor], group: dict[str, Any]) -> None:
        for weight in weights:
            if not self.state[weight]:
                self.state[weight] = {"mean_square": torch.ones_like(weight), "velocity": torch.zeros_like(weight)}
        squares = [self.state[weight]["mean_square"] for weight in weights]
        velocities = [self.state[weight]["velocity"] for weight in weights]
        gradients: Any = [weight.grad for weight in weights]
        if group["weight_decay"]:
            gradients = torch._foreach_add(gradients, weights, alpha=group["weight_decay"])
        torch._foreach_mul_(squares, group["decay"])
        torch._foreach_addcmul_(squares, gradients, gradients, 1 - group["decay"])
        roots = torch._foreach_add(squares, group["epsilon"])
        torch._foreach_sqrt_(roots)
        torch._foreach_mul_(velocities, group["momentum"])
        torch._foreach_addcdiv_(velocities, gradients, roots, group["lr"])
        torch._foreach_sub_(weights, velocities)


def recipe_optimizer(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """The optimizer of a recipe over all parameters of a network, weight decay on each.

    On a GPU a step of SGD is one pass over the weights: a network of 100 million weights is bound by that.
    """
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    if recipe.optimizer == "rmsprop":
        return TensorFlowRMSprop(
            weights,
            lr=recipe.learning_rate,
            decay=recipe.rmsprop_decay,
            momentum=recipe.momentum,
            epsilon=recipe.rmsprop_epsilon,
            weight_decay=recipe.weight_decay,
        )
    sgd = FusedSGD if all(weight.is_cuda for weight in weights) else SGD
    return sgd(
        weights,
        lr=recipe.learning_rate,
        momentum=recipe.momentum,
        nesterov=recipe.nesterov,
        weight_decay=recipe.weight_decay,
    )


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate
