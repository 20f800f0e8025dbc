"""``nasbed study common-recipe``: hyperparameters for all architectures of a space, by a grid search over a sample."""

from __future__ import annotations

from typing import Annotated

import typer

from nasbed.terminal import training_options as options
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.progress import count_bar
from nasbed.terminal.report_options import Figures, Formats, Out, Processes, report_formats
from nasbed.terminal.settings import Vary, varied_settings


def common_recipe(
    out: Out,
    vary: Vary,
    space: Annotated[str, typer.Option(help="A name from: nasbed list spaces")] = "nb101",
    dataset: Annotated[str, typer.Option(help="A name from: nasbed data list")] = "digits",
    recipe: options.RecipeName = "small",
    count: Annotated[int, typer.Option("--count", "-n", min=2, help="The number of architectures.")] = 10,
    sample_seed: Annotated[int, typer.Option(min=0, help="The seed of the random architectures.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="The number of trainings of each pair, with seeds 0, 1, 2 …")] = 1,
    epochs: options.Epochs = None,
    device: options.Device = "cpu",
    processes: Processes = None,
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Choose one training recipe for all architectures of a space (NAS-Bench-101, section 2.4). Needs torch.

    Random architectures, 50 in the paper, are trained under every combination of a recipe's fields. The one with the
    best mean validation accuracy is chosen and written to recipe.toml. The page shows how far each architecture is from
    its own best. Finished trainings are kept: the same command resumes, and with more values or architectures trains
    only the new ones.

    Example: nasbed study common-recipe --recipe small-nb101 --vary learning_rate=0.01,0.1,0.5 --out recipe
    """
    formats = report_formats(out, figures, format)

    from nasbed.networks import check_torch

    check_torch()
    from nasbed import datasets
    from nasbed.core.execution import LocalEngine
    from nasbed.experiments.recipe_grid import JOURNAL, recipe_settings
    from nasbed.spaces import space as registered_space
    from nasbed.studies.common_recipe.page import outcome, settings_table, write_common_recipe_report
    from nasbed.studies.common_recipe.study import common_recipe_study
    from nasbed.training import load_recipe
    from nasbed.training.devices import chosen_device
    from nasbed.training.readiness import check_training

    on_interrupt(lambda: f"finished trainings are kept in {out / JOURNAL}; the same command resumes from there")
    searched, base, varied = registered_space(space), load_recipe(recipe), varied_settings(vary)
    images, chosen = datasets.load(dataset), str(chosen_device(device))
    for setting in recipe_settings(base, varied):
        check_training(searched, images, setting.recipe, device=chosen)
    with count_bar("trainings") as report_count:
        study = common_recipe_study(
            searched,
            dataset,
            base,
            varied,
            architectures=count,
            sample_seed=sample_seed,
            seeds=seeds,
            epochs=epochs,
            device=chosen,
            out=out,
            engine=LocalEngine(processes),
            progress=report_count,
        )
    write_common_recipe_report(study, out, formats=formats)
    typer.echo(f"{settings_table(study).text()}\n\n{outcome(study)}\n\n{out / 'recipe.toml'}\n{out / 'report.html'}")
