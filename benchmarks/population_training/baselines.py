"""What a user would do instead of a population: the plain loop, CUDA graphs on streams, torch.func over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from copy import deepcopy
from statistics import mean

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, replace_all_batch_norm_modules_, stack_module_state, vmap
from torch.nn import functional

from nasbed.datasets import Dataset
from nasbed.networks.eager_optimizers import SGD
from nasbed.training.images import TrainingImages
from nasbed.training.network_factory import recipe_network
from nasbed.training.outcome import Job
from nasbed.training.population.floor import step_multiply_adds
from nasbed.training.population.tracing import trace
from nasbed.training.population.training import Population
from nasbed.training.random_streams import epoch_draws, epoch_words, initial_weights
from nasbed.training.recipe import Recipe
from population_training.timing import recorded, seconds

STREAM_STEPS = 5
"""Steps between two moments at which all streams wait for each other."""


class Alone:
    """A network in the loop that a user would write: channels last, automatic bfloat16, torch's own SGD."""

    def __init__(
        self, job: Job, dataset: Dataset, recipe: Recipe, images: TrainingImages, device: torch.device
    ) -> None:
        self.network: nn.Module = recipe_network(job.architecture, dataset, recipe)
        initial_weights(self.network, job.seed)
        self.network = self.network.to(device, memory_format=torch.channels_last).train()  # type: ignore[call-overload]
        self.optimizer = _sgd(self.network.parameters(), recipe)
        words = torch.from_numpy(epoch_words(job.seed, 0, len(images))).to(device)
        self.draws = epoch_draws(recipe, words, images.side)
        self.recipe, self.images, self.device = recipe, images, device

    def batch(self) -> tuple[Tensor, Tensor]:
        pictures, labels = self.images.batch(self.draws, 0, self.recipe.batch)
        return pictures.to(memory_format=torch.channels_last), labels

    def step(self) -> None:
        pictures, labels = self.batch()
        self.optimizer.zero_grad(set_to_none=False)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.recipe.precision == "bfloat16"):
            loss = functional.cross_entropy(self.network(pictures), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()


class ManySeeds:
    """One architecture with many seeds, by torch.func: the weights of all networks are stacked, and ``vmap`` makes one
    operation of each layer. Batch normalisation keeps no running statistics, which ``vmap`` cannot update. The passes
    are in bfloat16 throughout: with automatic bfloat16 the backward pass of a normalisation fails under ``vmap``
    (github.com/pytorch/pytorch/issues/184890)."""

    def __init__(
        self, job: Job, seeds: int, dataset: Dataset, recipe: Recipe, images: TrainingImages, device: torch.device
    ) -> None:
        networks = []
        for seed in range(seeds):
            network = recipe_network(job.architecture, dataset, recipe)
            initial_weights(network, seed)
            networks.append(replace_all_batch_norm_modules_(network).to(device).train())
        self.weights, self.buffers = stack_module_state(networks)
        self.network = deepcopy(networks[0]).to("meta")
        self.optimizer = _sgd(self.weights.values(), recipe)
        words = np.stack([epoch_words(seed, 0, len(images)) for seed in range(seeds)])
        self.draws = epoch_draws(recipe, torch.from_numpy(words).to(device), images.side)
        self.recipe, self.images, self.device = recipe, images, device

    def step(self) -> None:
        pictures, labels = self.images.batch(self.draws, 0, self.recipe.batch)
        weights = {name: weight.detach() for name, weight in self.weights.items()}
        gradients = vmap(grad(self._loss))(weights, self.buffers, pictures, labels)
        for name, weight in self.weights.items():
            weight.grad = gradients[name]
        self.optimizer.step()

    def _loss(self, weights: dict[str, Tensor], buffers: dict[str, Tensor], pictures: Tensor, labels: Tensor) -> Tensor:
        kind = torch.bfloat16 if self.recipe.precision == "bfloat16" else torch.float32
        weights = {name: weight.to(kind) for name, weight in weights.items()}
        logits = functional_call(self.network, (weights, buffers), (pictures.to(kind),))
        return functional.cross_entropy(logits.float(), labels)


def _sgd(weights: object, recipe: Recipe) -> SGD:
    return SGD(
        weights,  # type: ignore[arg-type]
        lr=recipe.learning_rate,
        momentum=recipe.momentum,
        nesterov=recipe.nesterov,
        weight_decay=recipe.weight_decay,
        foreach=True,
    )


class Baselines:
    """Seconds that a step of one network takes by each of them, on one case's dataset and recipe.

    ``jobs`` are random trainings; those timed are spread evenly over their multiply-adds.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        dataset: Dataset,
        recipe: Recipe,
        images: TrainingImages,
        device: torch.device,
        *,
        budget_s: float,
    ) -> None:
        self.jobs = sorted(jobs, key=lambda job: _multiply_adds(job, dataset, recipe))
        self.setting = dataset, recipe, images, device
        self.device, self.budget_s = device, budget_s

    def _spread(self, count: int) -> list[Job]:
        """The middle of each of ``count`` equal parts."""
        return [self.jobs[int((place + 0.5) * len(self.jobs) / count)] for place in range(count)]

    def plain(self, count: int) -> float:
        """One network at a time, the mean over some."""
        networks = [Alone(job, *self.setting) for job in self._spread(count)]
        return mean(seconds(network.step, self.device, budget_s=self.budget_s / count) for network in networks)

    def on_streams(self, count: int) -> float:
        """Networks side by side, each a CUDA graph on a stream of its own."""
        networks = [Alone(job, *self.setting) for job in self._spread(count)]
        with ExitStack() as stack:
            streams = [torch.cuda.Stream() for _ in networks]  # type: ignore[no-untyped-call]
            graphs = [
                stack.enter_context(recorded(network.step, self.device, stream=stream))
                for network, stream in zip(networks, streams, strict=True)
            ]

            def some_steps() -> None:
                current = torch.cuda.current_stream()
                for stream in streams:
                    stream.wait_stream(current)
                for _ in range(STREAM_STEPS):
                    for graph, stream in zip(graphs, streams, strict=True):
                        with torch.cuda.stream(stream):
                            graph()
                for stream in streams:
                    current.wait_stream(stream)

            return seconds(some_steps, self.device, budget_s=self.budget_s) / (count * STREAM_STEPS)

    def over_seeds(self, count: int) -> tuple[float, bool]:
        """Several seeds of the architecture with the median multiply-adds, by torch.func; and whether the step could be
        recorded as a CUDA graph, else it is timed as it is."""
        many = ManySeeds(self._spread(1)[0], count, *self.setting)
        if self.device.type == "cuda":
            try:
                with recorded(many.step, self.device) as replay:
                    return seconds(replay, self.device, budget_s=self.budget_s) / count, True
            except torch.cuda.OutOfMemoryError:
                raise
            except RuntimeError:
                many = ManySeeds(self._spread(1)[0], count, *self.setting)
        return seconds(many.step, self.device, budget_s=self.budget_s) / count, False

    def gradient_distances(self, count: int) -> list[tuple[float, float]]:
        """How far the first gradient of some networks is from that in float64, as a part of its length: by the
        population, and by torch's automatic bfloat16."""
        jobs = self._spread(count)
        population = Population(jobs, *self.setting)
        alone = [Alone(job, *self.setting) for job in jobs]
        batches = [network.batch() for network in alone]
        pictures, labels = (torch.stack([batch[part] for batch in batches]) for part in (0, 1))
        population.executor.place(pictures)
        population.executor.backward(labels)
        gradients = population.executor.gradient()
        distances = []
        for network, batch, row in zip(alone, batches, gradients, strict=True):
            double = deepcopy(network.network).double()
            exact = _gradient(double, double(batch[0].double()), batch[1])
            with torch.autocast(self.device.type, torch.bfloat16):
                logits = network.network(batch[0])
            rounded = _gradient(network.network, logits.float(), batch[1])
            gradient = row[: len(exact)].double()
            length = exact.norm()
            distances.append((float((gradient - exact).norm() / length), float((rounded - exact).norm() / length)))
        return distances


def _gradient(network: nn.Module, logits: Tensor, labels: Tensor) -> Tensor:
    loss = functional.cross_entropy(logits, labels)
    parts = torch.autograd.grad(loss, list(network.parameters()), allow_unused=True, materialize_grads=True)
    return torch.cat([part.flatten().double() for part in parts])


def _multiply_adds(job: Job, dataset: Dataset, recipe: Recipe) -> int:
    channels, height, width = dataset.shape
    with torch.device("meta"):
        network = recipe_network(job.architecture, dataset, recipe)
    return step_multiply_adds(trace(network, channels=channels, side=(height, width)))
