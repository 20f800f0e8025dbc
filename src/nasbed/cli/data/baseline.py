"""``nasbed data baseline``: train a CNN of the paper on unseen datasets, by its protocol, beside its figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal import training_options as options
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import checkpoints_kept, on_interrupt
from nasbed.terminal.output import Json, print_fields, print_json
from nasbed.terminal.progress import trainings_bar

if TYPE_CHECKING:
    from nasbed.datasets.dataset import Dataset
    from nasbed.experiments.unseen.results import UnseenResult
    from nasbed.training.options import RunOptions
    from nasbed.training.outcome import EpochEnd
    from nasbed.training.recipe import Recipe


@former_options({"--model": "--network", "--bfloat16": "--precision bfloat16"})
def baseline(
    datasets: Annotated[
        list[str],
        typer.Argument(metavar="DATASET", help="Names from 'nasbed data list', or folders of the competition."),
    ],
    network: Annotated[
        str,
        typer.Option(
            help="resnet18, alexnet, vgg16, convnext-base, mnasnet, densenet161, resnext50, and the variants "
            "resnet18-kit and mnasnet-torchvision."
        ),
    ] = "resnet18",
    recipe: options.RecipeName = "unseen",
    epochs: options.Epochs = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the weights and of the order of the images.")] = 0,
    device: options.Device = "auto",
    threads: options.Threads = 1,
    precision: options.PrecisionName = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together",
            help="Train on all datasets side by side, in the same kernels, instead of one after another. This is "
            "faster on a GPU; on a CPU it depends on the network.",
        ),
    ] = False,
    checkpoint: options.CheckpointFiles = None,
    resume: options.Resume = False,
    paper: Annotated[
        str | None,
        typer.Option(show_default="DATASET", help="The paper's name of the one dataset, if it differs."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Append each result to this file, as a line of JSON."),
    ] = None,
    json: Json = False,
) -> None:
    """Train a well-known CNN by the protocol of the paper on unseen datasets, and compare it with the published one.

    The weights of the last epoch are measured. 'nasbed study unseen FILE' makes the paper's tables of the results.

    Example: nasbed data baseline digits --epochs 1

    Example: nasbed data baseline addnist --network resnet18 --device cuda --checkpoint my.pt --out results.jsonl

    Example: nasbed data baseline addnist multnist --together --device cuda --checkpoint trainings --out results.jsonl
    """
    from nasbed.experiments.unseen.published import published
    from nasbed.networks import check_torch
    from nasbed.networks.baselines import BASELINES

    if paper is not None:
        if len(datasets) > 1:
            raise InvalidOption(f"--paper names one dataset, got {len(datasets)} datasets; train them one by one")
        paper = published().dataset_called(paper)
    BASELINES.check(network)
    check_torch()
    from nasbed.cli.data.baseline_output import add_to_file, progress_text, result_fields, result_json
    from nasbed.datasets.opening import open_dataset
    from nasbed.experiments.unseen.results import check_results_file
    from nasbed.training import load_recipe
    from nasbed.training.devices import chosen_device, threads_used

    chosen_recipe, torch_device = load_recipe(recipe), chosen_device(device)
    chosen_recipe = replace(chosen_recipe, precision=options.chosen_precision(precision, chosen_recipe.precision))
    budget = chosen_recipe.budget(epochs)
    if out is not None:
        check_results_file(out)
    images = [open_dataset(name) for name in datasets]
    names = [dataset.name for dataset in images]
    _check_names(names, paper)
    checkpoints = options.checkpoint_files(checkpoint, names, resume)
    on_interrupt(lambda: checkpoints_kept(checkpoints))
    trained = _trained_together if together and len(names) > 1 else partial(_trained_in_turn, paper=paper)
    results: dict[int, UnseenResult] = {}
    with threads_used(threads), trainings_bar(names, budget) as bar:
        for place, result in trained(
            network,
            images,
            chosen_recipe,
            checkpoints=checkpoints,
            progress=lambda place, end: bar.report(place, end.done, progress_text(end)),
            seed=seed,
            epochs=epochs,
            device=torch_device,
        ):
            if out is not None:
                add_to_file(out, result)
            with bar.finish(place):
                if not json:
                    if results:
                        typer.echo()
                    print_fields(result_fields(result))
            results[place] = result
    if json:
        printed = [result_json(results[place]) for place in sorted(results)]
        print_json(printed if len(printed) > 1 else printed[0])


def _check_names(names: Sequence[str], paper: str | None) -> None:
    """Raise if two datasets have one name, or if one that the paper lacks is to have a name of the paper."""
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InvalidOption(f"the datasets of a command differ in name, {name} occurs {count} times; name it once")
    if paper is not None and "synthetic" in names[0]:
        raise InvalidOption(f"--paper does not apply to {names[0]}: it is made from synthetic sources; omit it")


def _trained_in_turn(
    network: str,
    datasets: Sequence[Dataset],
    recipe: Recipe,
    *,
    paper: str | None,
    checkpoints: Sequence[Path | None],
    progress: Callable[[int, EpochEnd], None],
    **run: Unpack[RunOptions],
) -> Iterator[tuple[int, UnseenResult]]:
    """The place and the result of each dataset, one training after another."""
    from nasbed.experiments.unseen.baseline import measured_baseline

    for place, (dataset, file) in enumerate(zip(datasets, checkpoints, strict=True)):
        report_epoch = partial(progress, place)
        yield (
            place,
            measured_baseline(network, dataset, recipe, paper=paper, checkpoint=file, progress=report_epoch, **run),
        )


def _trained_together(
    network: str,
    datasets: Sequence[Dataset],
    recipe: Recipe,
    *,
    checkpoints: Sequence[Path | None],
    progress: Callable[[int, EpochEnd], None],
    **run: Unpack[RunOptions],
) -> Iterator[tuple[int, UnseenResult]]:
    """The place and the result of each dataset, the shortest training first."""
    from nasbed.experiments.unseen.baseline import measured_baselines
    from nasbed.training.baselines import check_train_baselines

    check_train_baselines(network, datasets, recipe)
    places = {dataset.name: place for place, dataset in enumerate(datasets)}
    for result in measured_baselines(network, datasets, recipe, checkpoints=checkpoints, progress=progress, **run):
        yield places[result.dataset], result
