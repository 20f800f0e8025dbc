"""Whether networks of a space can be trained as a population: traced, by kernels that are installed, in memory."""

from __future__ import annotations

from statistics import fmean

import torch

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, MissingDependency, NasbedError, exception_line
from nasbed.datasets.dataset import Dataset
from nasbed.networks.shapes import shapes_only
from nasbed.spaces.base import SearchSpace
from nasbed.training.devices import chosen_device
from nasbed.training.network_factory import recipe_network
from nasbed.training.population.launches import PopulationLayout
from nasbed.training.population.program import NetworkProgram
from nasbed.training.population.tracing import trace
from nasbed.training.readiness import of_samples
from nasbed.training.recipe import Recipe

_COPIES = 11
"""A network's parameters, in two precisions, their momentum, and the parts of their gradient."""


def check_population_training(
    space: SearchSpace, dataset: Dataset, recipe: Recipe, *, device: str | torch.device, population: int
) -> list[str]:
    """Raise where no network of a space can be trained as a population; returns notes, one where a whole population
    takes more memory than the device has free.

    Args:
        space: The space.
        dataset: The images.
        recipe: How to train.
        device: Where to train.
        population: The number of networks in a population.
    """
    recipe.check_population()
    torch_device = chosen_device(device)
    if torch_device.type == "cuda":
        check_kernels()
        memory = of_samples(space, lambda arch: network_bytes(traced(arch, dataset, recipe), recipe))
        return _check_memory(memory, space, dataset, recipe, device=torch_device, population=population)
    of_samples(space, lambda arch: traced(arch, dataset, recipe), needed=1)
    return []


def check_kernels() -> None:
    """Raise where the kernels cannot be loaded."""
    try:
        import triton  # noqa: F401
    except ImportError:
        raise MissingDependency(
            "populations on a CUDA device need triton, which comes with torch for CUDA; get it with: pip install triton"
        ) from None


def traced(arch: Architecture, dataset: Dataset, recipe: Recipe) -> NetworkProgram:
    """The program of an architecture. Whatever goes wrong is an error that says what to do."""
    channels, *side = dataset.shape
    with shapes_only():
        network = recipe_network(arch, dataset, recipe)
    try:
        return trace(network, channels=channels, side=(side[0], side[1]))
    except Exception as error:
        reason = str(error).partition(";")[0] if isinstance(error, NasbedError) else exception_line(error)
        raise InvalidOption(
            f'networks of {arch.space} cannot be a population: {reason}; train them alone: kind = "training"'
        ) from None


def network_bytes(program: NetworkProgram, recipe: Recipe) -> int:
    """What one network takes of a GPU's memory at least: its activations, their gradients, and its parameters."""
    layout = PopulationLayout([program], recipe.batch)
    value = 2 if recipe.precision == "bfloat16" else 4
    return layout.size * value + layout.tap_count + 4 * layout.partials + _COPIES * 4 * layout.parameters


def _check_memory(
    memory: list[int], space: SearchSpace, dataset: Dataset, recipe: Recipe, *, device: torch.device, population: int
) -> list[str]:
    free = torch.cuda.mem_get_info(device)[0] - dataset.train.images.nbytes - dataset.test.images.nbytes
    smallest, mean = min(memory), fmean(memory)
    if smallest > free:
        raise InvalidOption(
            f"a network of {space.name} with the recipe {recipe.name} takes at least {_amount(smallest)} of GPU "
            f"memory, {_amount(max(free, 0))} are free on {device} beside the images; lower the recipe's batch or free "
            "the device"
        )
    if mean * population <= free:
        return []
    return [
        f"a population of {population} takes about {_amount(mean * population)} of GPU memory, {_amount(free)} are "
        f"free on {device}: it is halved until it fits; a population of {max(int(free / mean), 1)} may fit whole"
    ]


def _amount(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"
