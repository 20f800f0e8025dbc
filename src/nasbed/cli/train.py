"""``nasbed train``: train the network of an architecture and measure it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal import training_options as options
from nasbed.terminal.interruption import checkpoint_kept, on_interrupt
from nasbed.terminal.output import Json, print_fields, print_json, readable
from nasbed.terminal.progress import epoch_bar

if TYPE_CHECKING:
    from nasbed.training import TrainingOutcome


def train(
    name: Annotated[str, typer.Argument(metavar="SPACE", help="A name from: nasbed list spaces")],
    arch: Annotated[
        str | None, typer.Argument(metavar="[ARCH]", help="An architecture as text; or sample one with --sample-seed.")
    ] = None,
    dataset: Annotated[str, typer.Option(help="A name from: nasbed data list")] = "digits",
    recipe: options.RecipeName = "small",
    epochs: options.Epochs = None,
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of the weights, and of the order and augmentation of the images.")
    ] = 0,
    sample_seed: Annotated[
        int | None, typer.Option(min=0, help="Sample an architecture with this seed instead of ARCH.")
    ] = None,
    device: options.Device = "auto",
    threads: options.Threads = 1,
    checkpoint: options.CheckpointFile = None,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Also measure the validation accuracy after every epoch.")
    ] = False,
    resume: options.Resume = False,
    json: Json = False,
) -> None:
    """Train a network by a recipe and print its accuracies. Needs torch.

    The same seed and number of threads give the same result. An interrupted training resumes from its checkpoint and
    ends with the same result.

    Example: nasbed train nb201 --sample-seed 0 --dataset digits --recipe small-nb201

    Example: nasbed train nb101 conv3x3:0/output:1 --dataset cifar10 --recipe nb101 --epochs 12 --checkpoint my.pt

    Example: nasbed list recipes small-nb201 > mine.toml; nasbed train nb201 --sample-seed 0 --recipe mine.toml
    """
    import numpy as np

    from nasbed.networks import check_torch
    from nasbed.spaces import space

    if (arch is None) == (sample_seed is None):
        raise InvalidOption("give one architecture: either its text or --sample-seed")
    options.check_checkpoint(checkpoint, resume)
    check_torch()
    from nasbed import datasets
    from nasbed.training import load_recipe
    from nasbed.training.devices import chosen_device, threads_used
    from nasbed.training.loop import train as trained

    searched, chosen_recipe, torch_device = space(name), load_recipe(recipe), chosen_device(device)
    architecture = searched.sample(np.random.default_rng(sample_seed)) if arch is None else searched.parse(arch)
    images = datasets.load(dataset)
    on_interrupt(lambda: checkpoint_kept(checkpoint))
    with threads_used(threads), epoch_bar(chosen_recipe.budget(epochs)) as report_epoch:
        outcome = trained(
            architecture,
            images,
            chosen_recipe,
            seed=seed,
            epochs=epochs,
            device=torch_device,
            checkpoint=checkpoint,
            learning_curve=learning_curve,
            progress=lambda end: report_epoch(end.done, f"loss {end.loss:.3f}  rate {end.learning_rate:.2g}"),
        )
    setup = {
        "space": searched.name,
        "architecture": searched.format(architecture),
        "dataset": images.name,
        "recipe": chosen_recipe.name,
        "epochs": chosen_recipe.budget(epochs),
        "seed": seed,
        "device": str(torch_device),
    }
    if json:
        print_json(setup | asdict(outcome))
    else:
        print_fields(setup | _outcome_fields(outcome))


def _outcome_fields(outcome: TrainingOutcome) -> dict[str, str]:
    fields = {"status": outcome.status + (f": {outcome.reason}" if outcome.reason else "")}
    for name, value, unit in (
        ("validation accuracy", outcome.validation_accuracy, "%"),
        ("test accuracy", outcome.test_accuracy, "%"),
        ("train loss", outcome.train_loss, "nat"),
        ("train accuracy", outcome.train_accuracy, "%"),
        ("train time", outcome.train_time_s, "s"),
    ):
        if value is not None:
            fields[name] = f"{readable(round(value, 3))} {unit}"
    if outcome.validation_curve is not None:
        points = ["missing" if point is None else f"{point:.2f}" for point in outcome.validation_curve]
        fields["by epoch"] = f"{' '.join(points)} % validation accuracy"
    return fields
