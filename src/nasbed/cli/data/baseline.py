"""``nasbed data baseline``: train a CNN of the paper on unseen datasets, by its protocol, beside its figure."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal import training_options as options
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import checkpoint_kept, on_interrupt
from nasbed.terminal.output import Json, print_fields, print_json, readable
from nasbed.terminal.progress import epoch_bar

if TYPE_CHECKING:
    from nasbed.experiments.unseen.results import UnseenResult


@former_options({"--model": "--network", "--bfloat16": "--precision bfloat16"})
def baseline(
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="A name from 'nasbed data list', or a folder of the competition.")
    ],
    network: Annotated[
        str,
        typer.Option(help="resnet18, resnet18-kit, alexnet, vgg16, convnext-base, mnasnet, densenet161, resnext50."),
    ] = "resnet18",
    recipe: options.RecipeName = "unseen",
    epochs: options.Epochs = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the weights and of the order of the images.")] = 0,
    device: options.Device = "auto",
    threads: options.Threads = 1,
    precision: options.PrecisionName = None,
    checkpoint: options.CheckpointFile = None,
    resume: options.Resume = False,
    paper: Annotated[
        str | None,
        typer.Option(show_default="DATASET", help="The paper's name of this dataset, if it differs."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Append the result to this file, as a line of JSON."),
    ] = None,
    json: Json = False,
) -> None:
    """Train a well-known CNN by the protocol of the paper on unseen datasets, and compare it with the published one.

    The weights of the last epoch are measured. 'nasbed study unseen FILE' makes the paper's tables of the results.

    Example: nasbed data baseline digits --epochs 1

    Example: nasbed data baseline addnist --network resnet18 --device cuda --checkpoint my.pt --out results.jsonl
    """
    from nasbed.core.json_values import plain
    from nasbed.experiments.unseen.published import published
    from nasbed.networks import check_torch
    from nasbed.networks.baselines import BASELINES

    tables = published()
    options.check_checkpoint(checkpoint, resume)
    if paper is not None:
        paper = tables.dataset_called(paper)
    BASELINES.check(network)
    check_torch()
    from nasbed.datasets.opening import open_dataset
    from nasbed.experiments.unseen.baseline import measured_baseline
    from nasbed.experiments.unseen.results import append_result, check_results_file
    from nasbed.training import load_recipe
    from nasbed.training.devices import chosen_device, threads_used

    chosen_recipe, torch_device = load_recipe(recipe), chosen_device(device)
    chosen_recipe = replace(chosen_recipe, precision=options.chosen_precision(precision, chosen_recipe.precision))
    budget = chosen_recipe.budget(epochs)
    if out is not None:
        check_results_file(out)
    images = open_dataset(dataset)
    if paper is not None and "synthetic" in images.name:
        raise InvalidOption(f"--paper does not apply to {images.name}: it is made from synthetic sources; omit it")
    on_interrupt(lambda: checkpoint_kept(checkpoint))
    with threads_used(threads), epoch_bar(budget) as report_epoch:
        result = measured_baseline(
            network,
            images,
            chosen_recipe,
            paper=paper,
            seed=seed,
            epochs=epochs,
            device=torch_device,
            checkpoint=checkpoint,
            progress=lambda end, valid: report_epoch(end.done, _progress_text(end.loss, valid)),
        )
    if out is not None:
        append_result(out, result)
    published_accuracy = tables.accuracy(result.dataset, network)
    if json:
        print_json(plain(asdict(result) | {"published": published_accuracy}))
    else:
        print_fields(_result_fields(result, published_accuracy, recipe=chosen_recipe.name))


def _progress_text(loss: float, valid: float | None) -> str:
    return f"loss {loss:.3f}" + (f"  validation {valid:.2f} %" if valid is not None else "")


def _result_fields(result: UnseenResult, published_accuracy: float | None, *, recipe: str) -> dict[str, object]:
    """Names and values, without values that were not measured."""
    train, valid, test = result.images
    fields: dict[str, object] = {
        "model": f"{result.model}, {readable(result.parameters)} parameters",
        "dataset": f"{result.dataset}: {readable(train)} images trained on, {readable(valid)} validate, "
        f"{readable(test)} test",
        "recipe": f"{recipe}, {result.epochs} epoch{'s' if result.epochs > 1 else ''}, seed {result.seed}",
        "device": result.device,
        "status": result.status + (f": {result.reason}" if result.reason else ""),
        "train time": f"{result.train_time_s:.1f} s",
    }
    measured = {epoch: value for epoch, value in result.validated.items() if value is not None}
    if len(measured) > 1:
        fields["validation by epoch"] = ", ".join(f"{value:.2f}" for value in measured.values()) + " %"
    for name, value in (("validation", result.validation_accuracy), ("test", result.test_accuracy)):
        if value is not None:
            fields[f"{name} accuracy"] = f"{value:.2f} %"
    fields["published"] = (
        f"{published_accuracy:.2f} % after 64 epochs (table 1)" if published_accuracy is not None else "nothing"
    )
    if published_accuracy is not None and result.test_accuracy is not None:
        fields["difference"] = f"{result.test_accuracy - published_accuracy:+.2f} points"
    return fields
