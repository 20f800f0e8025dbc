"""The calibration of a campaign: what its networks cost on the present device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.experiments.campaign.journal import Journal
from nasbed.experiments.campaign.network_trainers import PopulationTrainer
from nasbed.experiments.campaign.plan import Campaign
from nasbed.experiments.campaign.retiming import population_recipe
from nasbed.experiments.campaign.trainer import trainer_of

if TYPE_CHECKING:
    from nasbed.training.population import CostCalibration
    from nasbed.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class CalibrationSource:
    """What a campaign or its journal says of its networks. ``draw`` gives some of them at random."""

    recipe: Recipe
    dataset: str
    population: int
    draw: Callable[[int], Sequence[Architecture]]

    @classmethod
    def of(cls, path: Path | str, *, seed: int = 0) -> CalibrationSource:
        """Of a campaign's file, which ends in ``.toml``, random architectures of its space; of a journal, those that it
        holds."""
        path, rng = Path(path), np.random.default_rng(seed)
        if path.suffix != ".toml":
            return cls._of_journal(path, rng)
        campaign = Campaign.read(path)
        settings = {key: value for key, value in campaign.trainer.items() if key != "calibration"}
        trainer = trainer_of(replace(campaign, trainer=settings))
        if not isinstance(trainer, PopulationTrainer):
            raise InvalidOption(
                f"a calibration is for networks that are trained as populations, {path} has the kind {trainer.kind}; "
                "its times are those of each network alone"
            )
        space = trainer.space
        return cls(
            trainer.recipe,
            trainer.dataset,
            trainer.trials_per_task,
            lambda count: [space.sample(rng) for _ in range(count)],
        )

    @classmethod
    def _of_journal(cls, path: Path, rng: np.random.Generator) -> CalibrationSource:
        with Journal.reading(path) as journal:
            facts = journal.facts()
            architectures = list(dict.fromkeys(finished.trial.architecture for finished in journal.finished()))
        order = rng.permutation(len(architectures)).tolist()
        return cls(
            population_recipe(facts),
            facts["dataset"],
            facts["trainer"]["population"],
            lambda count: [architectures[place] for place in order[:count]],
        )


def calibrate_campaign(
    source: Path | str,
    out: Path | str,
    *,
    device: str = "cuda",
    population: int | None = None,
    networks: int | None = None,
    images: tuple[int, int, int] | None = None,
    classes: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> CostCalibration:
    """Measure what the networks of a campaign cost on a device, and write it to a file.

    Args:
        source: the file of a campaign, whose space networks are drawn from, or a journal, whose networks they are.
        out: the new file.
        device: where to measure.
        population: how many networks are trained together; the campaign's by default, 1 for times alone.
        networks: how many are measured; three populations, and at least 64, by default.
        images: channels, height and width, where the dataset is not prepared on this machine.
        classes: of the dataset, with ``images``.
        seed: of the networks.
        progress: called with the number of populations that are measured, and of how many.
    """
    from nasbed.training.devices import chosen_device
    from nasbed.training.images import recipe_split
    from nasbed.training.population import calibrate

    campaign = CalibrationSource.of(source, seed=seed)
    population = population or campaign.population
    if (images is None) != (classes is None):
        raise InvalidOption("images and classes describe a dataset together, got one of them; give both or neither")
    train_images = None
    if images is None or classes is None:
        from nasbed.datasets import load

        dataset = load(campaign.dataset)
        images, classes = dataset.shape, len(dataset.classes)
        train_images = len(recipe_split(dataset, campaign.recipe).train)
    architectures = campaign.draw(networks or max(3 * population, 64))
    calibration = calibrate(
        architectures,
        campaign.recipe,
        classes=classes,
        shape=images,
        device=chosen_device(device),
        population=min(population, len(architectures)),
        dataset=campaign.dataset,
        train_images=train_images,
        progress=progress,
    )
    calibration.save(Path(out))
    return calibration
