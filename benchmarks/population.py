"""Architectures trained a minute on one GPU: the plain loop, CUDA graphs on streams, a population.

    python benchmarks/population.py [--dataset cifar10@16] [--recipe collect-darts] [--population 192]

All three train random architectures with the same recipe, in one run on one machine. A minute of training is worked out
from steps: the plain loop and the graphs are timed over some steps of some networks, the population over some steps of
all of its networks; the steps of a training, and for the population its preparation and evaluation too, are then added.
Needs a CUDA device and the dataset (nasbed data prepare).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from copy import deepcopy
from statistics import median
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed import datasets
from nasbed.datasets import Dataset
from nasbed.spaces import space
from nasbed.training.building import recipe_network
from nasbed.training.draws import epoch_draws, epoch_words, initial_weights
from nasbed.training.images import TrainingImages
from nasbed.training.outcome import Job
from nasbed.training.population.training import Population
from nasbed.training.recipe import Recipe
from nasbed.training.recipe_files import load_recipe

STEPS = 20
DEVICE = torch.device("cuda")


class Alone:
    """A network in the loop that a user would write: channels last, automatic bfloat16, torch's own SGD."""

    def __init__(self, job: Job, dataset: Dataset, recipe: Recipe, images: TrainingImages) -> None:
        self.network: nn.Module = recipe_network(job.architecture, dataset, recipe)
        initial_weights(self.network, job.seed)
        self.network = self.network.to(DEVICE, memory_format=torch.channels_last).train()  # type: ignore[call-overload]
        self.optimizer = torch.optim.SGD(
            self.network.parameters(),
            lr=recipe.learning_rate,
            momentum=recipe.momentum,
            nesterov=recipe.nesterov,
            weight_decay=recipe.weight_decay,
            foreach=True,
        )
        words = torch.from_numpy(epoch_words(job.seed, 0, len(images))).to(DEVICE)
        self.draws = epoch_draws(recipe, words, images.side)
        self.recipe, self.images = recipe, images

    def batch(self) -> tuple[Tensor, Tensor]:
        pictures, labels = self.images.batch(self.draws, 0, self.recipe.batch)
        return pictures.to(memory_format=torch.channels_last), labels

    def step(self) -> None:
        pictures, labels = self.batch()
        self.optimizer.zero_grad(set_to_none=False)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.recipe.precision == "bfloat16"):
            loss = functional.cross_entropy(self.network(pictures), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()


def seconds(work: Callable[[], None], times: int) -> float:
    work()
    torch.cuda.synchronize()
    took = []
    for _ in range(3):
        began = perf_counter()
        for _ in range(times):
            work()
        torch.cuda.synchronize()
        took.append((perf_counter() - began) / times)
    return median(took)


def plain(networks: Sequence[Alone]) -> float:
    """Seconds a step of one network."""
    return median([seconds(network.step, STEPS) for network in networks])


def on_streams(networks: Sequence[Alone]) -> float:
    """Seconds a step of one network, each a CUDA graph on a stream of its own."""
    graphs, streams = [], []
    for network in networks:
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                network.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            network.step()
        graphs.append(graph)
        streams.append(stream)

    def all_of_them() -> None:
        for graph, stream in zip(graphs, streams, strict=True):
            with torch.cuda.stream(stream):
                graph.replay()

    return seconds(all_of_them, STEPS) / len(networks)


def rounding(
    jobs: Sequence[Job], dataset: Dataset, recipe: Recipe, images: TrainingImages
) -> list[tuple[float, float]]:
    """How far a first gradient is from that in float64, as a part of its length: by torch's automatic bfloat16, by the
    kernels."""
    population = Population(jobs, dataset, recipe, images, DEVICE)
    alone = [Alone(job, dataset, recipe, images) for job in jobs]
    batches = [network.batch() for network in alone]
    _, gradients, _ = population.executor.losses_and_gradient(
        torch.stack([pictures for pictures, _ in batches]), torch.stack([labels for _, labels in batches])
    )
    found = []
    for network, (pictures, labels), ours in zip(alone, batches, gradients, strict=True):
        lengths = []
        for exact in (True, False):
            module = deepcopy(network.network).double() if exact else network.network
            with torch.autocast("cuda", torch.bfloat16, enabled=not exact):
                logits = module(pictures.double() if exact else pictures)
            loss = functional.cross_entropy(logits if exact else logits.float(), labels)
            parts = torch.autograd.grad(loss, list(module.parameters()))
            lengths.append(torch.cat([part.flatten().double() for part in parts]))
        true, theirs = lengths
        mine = ours[: len(true)].double()
        found.append((float((theirs - true).norm() / true.norm()), float((mine - true).norm() / true.norm())))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dataset", default="cifar10@16")
    parser.add_argument("--recipe", default="collect-darts")
    parser.add_argument("--space", default="darts")
    parser.add_argument("--population", type=int, default=192)
    options = parser.parse_args()
    dataset, recipe = datasets.load(options.dataset), load_recipe(options.recipe)
    rng = np.random.default_rng(0)
    found = space(options.space)
    epochs = recipe.epochs[-1]
    jobs = [Job(found.sample(rng), epochs, seed) for seed in range(options.population)]
    images = TrainingImages(dataset, recipe, DEVICE)
    steps = epochs * recipe.steps_per_epoch(len(images))

    for theirs, ours in rounding(jobs[:6], dataset, recipe, images):
        print(f"first gradient, distance to float64: automatic bfloat16 {theirs:.2f}, kernels {ours:.2f}")
    eager = steps * plain([Alone(job, dataset, recipe, images) for job in jobs[:6]])
    rows = [("plain loop", eager)]
    for count in (8, 16):
        networks = [Alone(job, dataset, recipe, images) for job in jobs[:count]]
        rows.append((f"{count} CUDA graphs on streams", steps * on_streams(networks)))
        del networks
    Population(jobs, dataset, recipe, images, DEVICE)  # compiles its kernels
    began = perf_counter()
    population = Population(jobs, dataset, recipe, images, DEVICE)
    prepared = perf_counter() - began
    outcomes = population.train(epochs, None)
    whole = perf_counter() - began
    rows.append((f"population of {len(jobs)}, all included", whole / len(jobs)))

    print(f"{torch.cuda.get_device_name()}, {options.space}, {recipe.name}: {steps} steps of {recipe.batch} images")
    print(f"population: {prepared:.1f} s of {whole:.1f} s to prepare, mean validation accuracy "
          f"{np.mean([each.validation_accuracy for each in outcomes if each.validation_accuracy is not None]):.2f} %")  # fmt: skip
    for name, each in rows:
        print(
            f"{name:36s} {each:9.3f} s a network  {60 / each:8.1f} networks a minute  {eager / each:6.1f}x the plain loop"
        )


if __name__ == "__main__":
    main()
