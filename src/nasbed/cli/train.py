"""``nasbed train``: train the network of an architecture and measure it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.interruption import checkpoint_kept, on_interrupt
from nasbed.terminal.output import Json, print_fields, print_json, readable
from nasbed.terminal.progress import epoch_bar
from nasbed.terminal.report_options import check_folder

if TYPE_CHECKING:
    from nasbed.training import Trained


def train(
    name: Annotated[str, typer.Argument(metavar="SPACE", help="A name from: nasbed list spaces")],
    arch: Annotated[
        str | None, typer.Argument(metavar="[ARCH]", help="An architecture as text; or sample one with --sample-seed.")
    ] = None,
    dataset: Annotated[str, typer.Option(help="A name from: nasbed data list")] = "digits",
    recipe: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="A name from 'nasbed list recipes', or a TOML file of your own.")
    ] = "small",
    epochs: Annotated[
        int | None, typer.Option(show_default="the most", help="One of the budgets that the recipe has.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the weights, the order and the changes of the images.")] = 0,
    sample_seed: Annotated[int | None, typer.Option(min=0, help="Take a random architecture instead of ARCH.")] = None,
    device: Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu, cuda or cuda:1.")] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="Of a CPU; more are faster for large networks only.")] = 1,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the training here after every epoch.")
    ] = None,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Measure the validation accuracy after every epoch too.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint if it is there.")] = False,
    json: Json = False,
) -> None:
    """Train a network as a recipe says and print its accuracies. Needs torch.

    The same seed and number of threads give the same result. A training that was interrupted goes on from its
    checkpoint to the result it would have had.

    Example: nasbed train nb201 --sample-seed 0 --dataset digits --recipe small-nb201

    Example: nasbed train nb101 conv3x3:0/output:1 --dataset cifar10 --recipe nb101 --epochs 12 --checkpoint my.pt

    Example: nasbed list recipes small-nb201 > mine.toml; nasbed train nb201 --sample-seed 0 --recipe mine.toml
    """
    import numpy as np

    from nasbed.networks import check_torch
    from nasbed.spaces import space

    if (arch is None) == (sample_seed is None):
        raise InvalidOption("a training is that of one architecture; give its text or --sample-seed, and not both")
    if resume and checkpoint is None:
        raise InvalidOption("a training is resumed from its checkpoint; name it with --checkpoint FILE")
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise InvalidOption(f"{checkpoint} is there already; go on from it with --resume, or name another file")
    if checkpoint is not None:
        check_folder(checkpoint.parent, "a checkpoint goes", option="--checkpoint")
    check_torch()
    from nasbed import datasets
    from nasbed.training import load_recipe
    from nasbed.training.devices import chosen_device, threads_used
    from nasbed.training.loop import train as trained

    searched, chosen_recipe, where = space(name), load_recipe(recipe), chosen_device(device)
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
            device=where,
            checkpoint=checkpoint,
            learning_curve=learning_curve,
            progress=lambda end: report_epoch(end.done, f"loss {end.loss:.3f}  rate {end.learning_rate:.2g}"),
        )
    about = {
        "space": searched.name,
        "architecture": searched.format(architecture),
        "dataset": images.name,
        "recipe": chosen_recipe.name,
        "epochs": chosen_recipe.budget(epochs),
        "seed": seed,
        "device": str(where),
    }
    if json:
        print_json(about | asdict(outcome))
    else:
        print_fields(about | _shown(outcome))


def _shown(outcome: Trained) -> dict[str, str]:
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
