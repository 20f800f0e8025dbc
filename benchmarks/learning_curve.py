"""What a learning curve costs: trainings on digits with and without one, on a CPU with one thread.

    python benchmarks/learning_curve.py [--recipe small-nb201] [--epochs 3] [--repeats 15]

Trainings with and without take turns, and the ratio is the median of those of neighbours, in processor seconds. The
expected one follows from the images alone, for a forward pass that takes a third of a training step; the last epoch is
measured either way.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import process_time

import numpy as np
import torch

from nasbed import datasets
from nasbed.spaces import space
from nasbed.training import Job, load_recipe, train, train_population
from nasbed.training.images import TrainingImages

NETWORKS = 2


def seconds(work: Callable[[bool], object], learning_curve: bool) -> float:
    began = process_time()
    work(learning_curve)
    return process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--recipe", default="small-nb201")
    parser.add_argument("--space", default="nb201")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    digits, recipe, epochs = datasets.load("digits"), load_recipe(options.recipe), options.epochs
    rng = np.random.default_rng(0)
    jobs = [Job(space(options.space).sample(rng), epochs, seed) for seed in range(NETWORKS)]
    images = TrainingImages(digits, recipe)

    def alone(learning_curve: bool) -> None:
        for job in jobs:
            train(
                job.architecture,
                digits,
                recipe,
                seed=job.seed,
                epochs=epochs,
                images=images,
                learning_curve=learning_curve,
            )

    def together(learning_curve: bool) -> None:
        train_population(jobs, digits, recipe, images=images, learning_curve=learning_curve)

    trained = recipe.steps_per_epoch(len(images)) * recipe.batch
    validated, tested = len(images.split.valid), len(digits.test)
    expected = 1 + (epochs - 1) * validated / (3 * epochs * trained + validated + tested)
    print(f"{recipe.name}, {epochs} epochs of {trained} images, {validated} to validate with: {expected:.3f}x expected")
    for name, work in ((f"{NETWORKS} networks alone", alone), (f"a population of {NETWORKS}", together)):
        work(True)
        pairs = [(seconds(work, False), seconds(work, True)) for _ in range(options.repeats)]
        plain, ratio = median(pair[0] for pair in pairs), median(pair[1] / pair[0] for pair in pairs)
        print(f"{name:20s} {plain:6.2f} s without, {ratio:.3f}x as long with a learning curve", flush=True)


if __name__ == "__main__":
    main()
