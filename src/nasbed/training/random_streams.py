"""What chance decides in a training, from its seed alone: initial weights, the order of the images, their changes.

Nothing depends on what ran before, so a training resumes at any epoch, and many trainings run side by side draw just
what each would draw alone. The draws are raw 64-bit words of PCG64, which no version of numpy changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nasbed.core.errors import InvalidOption
from nasbed.training.recipe import Recipe

WeightInit = Literal["torch", "tensorflow"]
_CUT_DEVIATION = 0.87962566103423978
"""The standard deviation of a standard normal distribution that is cut at two deviations."""
_WEIGHTS, _EPOCH, _STEPS = 0, 1, 2
_SPREAD = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Linear)
_NORMALISING = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)


def words(seed: int, *stream: int, count: int) -> NDArray[np.uint64]:
    """Raw words of the stream that belongs to these numbers."""
    if seed < 0:
        raise InvalidOption(f"a seed is 0 or more, got {seed}")
    return np.random.PCG64(np.random.SeedSequence([seed, *stream])).random_raw(count)


def initial_weights(network: nn.Module, seed: int, how: WeightInit = "torch") -> None:
    """Give a network the weights of a seed, drawn in the order of ``named_parameters``; normalisations are at one and
    zero.

    As torch's own, they are uniform within the inverse root of the fan-in. As TensorFlow's in NAS-Bench-101, those of
    convolutions are normal with a variance of 1 / fan-in, cut at two deviations (``variance_scaling_initializer``);
    those of the classifier are uniform within the root of 6 / (fan-in + fan-out) with a bias of zero (Glorot).
    """
    if how == "tensorflow":
        _tensorflow_weights(network, seed)
        return
    bounds = weight_bounds(network)
    weights = uniform_weights(seed, sum(tensor.numel() for tensor in network.parameters()))
    start = 0
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            values = weights[start : start + parameter.numel()].reshape(parameter.shape)
            start += parameter.numel()
            bound = bounds[name]
            if bound:
                parameter.copy_(torch.from_numpy(values * bound))
            else:
                parameter.fill_(1.0 if name.endswith("weight") else 0.0)


def _tensorflow_weights(network: nn.Module, seed: int) -> None:
    weight_bounds(network)  # refuses parameters of other kinds
    draws = uniform_weights(seed, sum(tensor.numel() for tensor in network.parameters()))
    owners = {id(parameter): module for module in network.modules() for parameter in module.parameters(recurse=False)}
    start = 0
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            values = draws[start : start + parameter.numel()].reshape(parameter.shape)
            start += parameter.numel()
            module = owners[id(parameter)]
            if isinstance(module, _NORMALISING) or name.endswith("bias"):
                parameter.fill_(1.0 if name.endswith("weight") else 0.0)
            elif isinstance(module, nn.Linear):
                parameter.copy_(torch.from_numpy(values * math.sqrt(6 / sum(parameter.shape))))
            else:
                deviation = 1 / math.sqrt(parameter[0].numel()) / _CUT_DEVIATION
                parameter.copy_(torch.from_numpy(cut_normal(values) * deviation))


def cut_normal(uniform: NDArray[np.float32]) -> NDArray[np.float32]:
    """Numbers from -1 to 1 as quantiles of a standard normal distribution cut at two deviations.

    >>> cut_normal(np.array([-1.0, 0.0, 1.0], dtype=np.float32)).tolist()
    [-2.0, 0.0, 2.0]
    """
    from scipy.special import erf, erfinv

    quantiles = math.sqrt(2) * erfinv(np.float64(uniform) * erf(math.sqrt(2)))
    cut: NDArray[np.float32] = np.clip(quantiles, -2.0, 2.0).astype(np.float32)
    return cut


def uniform_weights(seed: int, count: int) -> NDArray[np.float32]:
    """Numbers from -1 to 1, one for each parameter of a network."""
    return ((words(seed, _WEIGHTS, count=count) >> np.uint64(40)) * 2.0**-23 - 1.0).astype(np.float32)


def weight_bounds(network: nn.Module) -> dict[str, float]:
    """How far from zero each parameter may start, by its name; 0 for those of normalisations."""
    bounds = {}
    for prefix, module in network.named_modules():
        for name, _ in module.named_parameters(recurse=False):
            full = f"{prefix}.{name}" if prefix else name
            if isinstance(module, _SPREAD):
                bounds[full] = 1 / math.sqrt(module.weight[0].numel())
            elif isinstance(module, _NORMALISING):
                bounds[full] = 0.0
            else:
                raise InvalidOption(
                    "initial weights are drawn for convolutions, linear layers and normalisations, got the parameter "
                    f"{full} of a {type(module).__name__}; give the network weights and call train_network"
                )
    return bounds


@dataclass(frozen=True, slots=True)
class EpochDraws:
    """The images of an epoch in their order, and for each the corner of its crop, whether it is mirrored and the centre
    of its cut-out."""

    order: Tensor
    top: Tensor
    left: Tensor
    mirrored: Tensor
    cut_row: Tensor
    cut_column: Tensor


def epoch_words(seed: int, epoch: int, images: int) -> NDArray[np.int64]:
    """Two words for each image: its key in the order of the epoch, and what decides its changes."""
    draws = words(seed, _EPOCH, epoch, count=2 * images).reshape(2, images)
    return draws.view(np.int64)


def step_words(seed: int, epoch: int, steps: int) -> NDArray[np.uint64]:
    """Two words for each step of an epoch: the seeds of how its images are mixed, and of what its network drops."""
    return words(seed, _STEPS, epoch, count=2 * steps).reshape(steps, 2)


def epoch_draws(recipe: Recipe, draws: Tensor, side: tuple[int, int]) -> EpochDraws:
    """The draws of an epoch, or of several side by side, from words ``[..., 2, images]`` on any device.

    ``side`` is the height and width of the images.
    """
    images = draws.shape[-1]
    order = torch.argsort(draws[..., 0, :], dim=-1, stable=True)
    order = order[..., : min(recipe.epoch_images or images, images)].contiguous()
    bits = torch.gather(draws[..., 1, :], -1, order)
    places = 2 * recipe.crop_padding + 1
    return EpochDraws(
        order=order,
        top=_field(bits, 1) % places,
        left=_field(bits, 13) % places,
        mirrored=(bits & 1).bool() if recipe.flip else torch.zeros_like(bits, dtype=torch.bool),
        cut_row=_field(bits, 25) % side[0],
        cut_column=_field(bits, 37) % side[1],
    )


def _field(bits: Tensor, first: int) -> Tensor:
    """Twelve bits as a number."""
    return (bits >> first) & 0xFFF
