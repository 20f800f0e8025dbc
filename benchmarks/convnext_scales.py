"""How far the blocks of ConvNext take part in its output while it begins to train by the protocol of unseen datasets.

    python benchmarks/convnext_scales.py [--dataset addnist] [--steps 703] [--start 0.1] [--rate 0.001 --adamw]

Each block is multiplied by a layer scale, which torchvision starts at a millionth; ``--start`` is another beginning,
``--rate`` another learning rate than the protocol's 0.01, ``--adamw`` another optimizer than its SGD.
Prints the mean loss and the mean scale, least and largest over the blocks, as the training goes on, and the validation
accuracy in the end. 703 steps are an epoch of AddNIST, 12 minutes of two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from nasbed.datasets.opening import open_dataset
from nasbed.training import load_recipe
from nasbed.training.accuracy import accuracy
from nasbed.training.baselines import seeded_baseline
from nasbed.training.images import TrainingImages
from nasbed.training.steps import step
from nasbed.training.stepwise import StepwiseTraining

OFTEN = 100
"""Steps between two lines."""


def layer_scales(network: nn.Module) -> list[nn.Parameter]:
    """The layer scale of each block."""
    return [weight for name, weight in network.named_parameters() if name.endswith("layer_scale")]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dataset", default="addnist", help="a prepared dataset or a folder of the competition")
    parser.add_argument("--steps", type=int, default=703)
    parser.add_argument("--start", type=float, help="the layer scales before the first step; torchvision's without it")
    parser.add_argument("--rate", type=float, help="the learning rate; the protocol's without it")
    parser.add_argument("--adamw", action="store_true", help="AdamW as torch sets it, in place of SGD")
    options = parser.parse_args(arguments)
    dataset, recipe = open_dataset(options.dataset), load_recipe("unseen")
    if options.rate is not None:
        recipe = replace(recipe, learning_rate=options.rate)
    network = seeded_baseline("convnext-base", dataset, seed=0)
    if options.start is not None:
        for scale in layer_scales(network):
            nn.init.constant_(scale, options.start)
    images = TrainingImages(dataset, recipe)
    training = StepwiseTraining(network, dataset, recipe, images).steps()
    due, losses = next(training), []
    optimizer = torch.optim.AdamW(network.parameters()) if options.adamw else due.optimizer
    for number in range(1, options.steps + 1):
        figures = step(network, optimizer, recipe, due.batch, rate=due.rate, seeds=due.seeds)
        losses.append(float(figures[0]))
        if number % OFTEN == 0 or number == options.steps:
            scales = [float(scale.detach().abs().mean()) for scale in layer_scales(network)]
            mean = torch.tensor(losses).mean()
            print(f"{number} steps: mean loss {mean:.4f}, scales {min(scales):.1e} to {max(scales):.1e}", flush=True)
        due = training.send(figures)
    print(f"validation accuracy {accuracy(network, images, 'valid', recipe):.2f} %")


if __name__ == "__main__":
    main()
