"""``nasbed challenge baseline``: measure the accuracy that scores 0."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nasbed.terminal import training_options as options
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import epoch_bar

Results = Annotated[
    list[Path] | None,
    typer.Option("--from", metavar="FILE", help="Take it from results of 'nasbed data baseline' on the same bytes."),
]


def baseline(
    datasets: Annotated[
        list[Path], typer.Argument(metavar="DATASET...", help="Folders with train_x.npy … test_y.npy and metadata.")
    ],
    network: Annotated[str, typer.Option(help="resnet18, as in the paper, or another of 'nasbed data baseline'.")] = (
        "resnet18"
    ),
    epochs: options.Epochs = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="The number of trainings, with seeds 0, 1, 2 …; their mean counts.")
    ] = 1,
    device: options.Device = "auto",
    threads: options.Threads = 1,
    results: Results = None,
    json: Json = False,
) -> None:
    """Measure the accuracy that scores 0 on a dataset, and pin it in DATASET/baseline.json with the hash of its bytes.

    ResNet-18 is trained by the paper's protocol, the recipe 'unseen': 64 epochs, the weights of the last one. Fewer
    epochs or other networks are recorded, and named on the leaderboard. On a GPU this takes minutes. Of the eight
    unseen datasets, as 'nasbed data make' makes them with seed 0, only GeoClassing and Isabella need one: the others'
    come with nasbed.

    Keep baseline.json from contestants: with its hash they can check a guess of the test labels.

    Example: nasbed challenge baseline data/isabella data/geoclassing --device cuda

    Example: nasbed challenge baseline data/addnist --from results.jsonl
    """
    from nasbed.challenge.baseline_measurement import baseline_from_results, measure_baseline
    from nasbed.challenge.contest_data import open_contest_data
    from nasbed.challenge.pinned_baseline import check_unpinned, write_baseline
    from nasbed.networks import check_torch
    from nasbed.networks.baselines import BASELINES
    from nasbed.training import load_recipe

    BASELINES.check(network)
    if not results:
        check_torch()
    recipe = load_recipe("unseen")
    budget = recipe.budget(epochs)
    contests = [open_contest_data(folder) for folder in datasets]
    for data in contests:
        check_unpinned(data.folder)
    pinned: dict[str, dict[str, object]] = {}
    on_interrupt(lambda: f"{len(pinned)} of {len(contests)} baselines are pinned; the rest start anew")
    for data in contests:
        if results:
            measured = baseline_from_results(data, results, recipe, network=network, epochs=budget)
        else:
            from nasbed.training.devices import chosen_device, threads_used

            with threads_used(threads), epoch_bar(budget * seeds) as report_epoch:
                measured = measure_baseline(
                    data,
                    recipe,
                    network=network,
                    epochs=budget,
                    seeds=range(seeds),
                    device=str(chosen_device(device)),
                    progress=lambda seed, done, text: report_epoch(seed * budget + done, text),
                )
        path = write_baseline(data.folder, measured)
        pinned[data.name] = asdict(measured) | {"accuracy": measured.accuracy}
        if not json:
            typer.echo(f"{data.name}: score 0 is {measured.accuracy:.2f} %, {measured.protocol}: {path}")
    if json:
        print_json(pinned)
