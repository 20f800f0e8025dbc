"""Measuring a calibration: every launch of random populations, timed alone on the present device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter

import numpy as np
import torch

import nasbed
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Dataset, LabelledImages
from nasbed.training.images import TrainingImages
from nasbed.training.outcome import Job
from nasbed.training.population.calibration import CostCalibration, CostSetting
from nasbed.training.population.executor import Executor
from nasbed.training.population.replay import replayed
from nasbed.training.population.training import Population
from nasbed.training.population.work import DRAW, UPDATE, TimedLaunch
from nasbed.training.random_streams import EpochDraws, epoch_draws, epoch_words
from nasbed.training.recipe import Recipe

PASSES = 5
"""How often each launch is timed. The least time counts: other work on a machine only adds to it."""
STEPS = 20
"""The steps that are timed together."""

Progress = Callable[[int, int], None]
"""Called with the number of populations measured, and of how many."""


def calibrate(
    architectures: Sequence[Architecture],
    recipe: Recipe,
    *,
    classes: int,
    shape: tuple[int, int, int],
    device: torch.device,
    population: int,
    dataset: str = "",
    train_images: int | None = None,
    progress: Progress | None = None,
) -> CostCalibration:
    """Measure the seconds of each kind of launch that these architectures need.

    Images are random. Of each population, every launch is timed alone, then whole steps are. The seconds a unit of a
    kind are those of all its launches over all their units.

    Args:
        architectures: Of one space; each consecutive ``population`` of them is trained together.
        recipe: How networks are trained.
        classes: How many the dataset has.
        shape: Channels, height and width of its images.
        device: Where to measure.
        population: The networks of a population.
        dataset: The name of the dataset, for the record.
        train_images: How many images it trains on.
        progress: Called after each population.
    """
    if not 1 <= population <= len(architectures):
        raise InvalidOption(
            f"a calibration measures at least one population, got {len(architectures)} architectures for populations "
            f"of {population}; name more or lower the population"
        )
    recipe.check_population()
    recipe = replace(recipe, split=None, epoch_images=None)
    images_of = _random_images(recipe, classes, shape)
    images = TrainingImages(images_of, recipe, device)
    launches: list[TimedLaunch] = []
    step_s, lanes = [], None
    groups = [architectures[start : start + population] for start in range(0, len(architectures), population)]
    groups = [group for group in groups if len(group) == population]
    for number, group in enumerate(groups):
        jobs = [Job(architecture, recipe.epochs[0], seed) for seed, architecture in enumerate(group)]
        measured = _MeasuredPopulation(Population(jobs, images_of, recipe, images, device), images, recipe)
        timed = measured.launches()
        step_s.append((measured.step_s(), sum(launch.seconds for launch in timed)))
        launches += timed
        lanes = measured.lanes
        del measured  # the memory of the device is for the next one
        if progress is not None:
            progress(number + 1, len(groups))
    scale = sum(step for step, _ in step_s) / sum(alone for _, alone in step_s)
    return CostCalibration(
        setting=CostSetting.of(architectures[0].space, recipe, classes=classes, shape=shape),
        device=_device_name(device),
        lanes=lanes,
        population=population,
        seconds=seconds_per_unit(launches),
        scale=scale,
        step_s=tuple((step, scale * alone) for step, alone in step_s),
        dataset=dataset,
        train_images=train_images,
        libraries={"nasbed": nasbed.__version__, "torch": torch.__version__},
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def seconds_per_unit(launches: Sequence[TimedLaunch]) -> dict[str, float]:
    """For each kind, the seconds of all its launches over all their units.

    >>> seconds_per_unit([TimedLaunch("a", np.array([1.0, 2.0]), 6.0), TimedLaunch("a", np.array([1.0, 0.0]), 2.0)])
    {'a': 2.0}
    """
    seconds: dict[str, float] = {}
    units: dict[str, float] = {}
    for launch in launches:
        seconds[launch.kind] = seconds.get(launch.kind, 0.0) + launch.seconds
        units[launch.kind] = units.get(launch.kind, 0.0) + float(launch.units.sum())
    return {kind: seconds[kind] / units[kind] for kind in sorted(seconds)}


class _MeasuredPopulation:
    """A population with random images to draw from."""

    def __init__(self, population: Population, images: TrainingImages, recipe: Recipe) -> None:
        self.executor: Executor = population.executor
        self.programs, self.device = population.programs, population.device
        self.lanes = population.lanes
        self._images, self._recipe = images, recipe
        words = torch.from_numpy(np.stack([epoch_words(job.seed, 0, len(images)) for job in population.jobs]))
        self._draws: EpochDraws = epoch_draws(recipe, words.to(self.device), images.side)
        self._first = torch.zeros((), dtype=torch.int64, device=self.device)
        self._rate = torch.full((1,), 1e-6, device=self.device)

    def launches(self) -> list[TimedLaunch]:
        """Every launch of a step with the least of its times."""
        draw_s = self._alone(self._draw)
        self.executor.backward(self._draw())
        passes = [self.executor.launch_times() for _ in range(PASSES + 1)][1:]
        update_s = self._alone(self._update)
        each = np.ones(len(self.programs))
        parameters = np.array([program.parameters for program in self.programs], dtype=np.float64)
        return [
            *(replace(same[0], seconds=min(launch.seconds for launch in same)) for same in zip(*passes, strict=True)),
            TimedLaunch(DRAW, each, draw_s),
            TimedLaunch(UPDATE, parameters, update_s),
        ]

    def step_s(self) -> float:
        """The seconds of a whole step, as it is trained."""

        def step() -> None:
            self.executor.backward(self._draw(), smoothing=self._recipe.label_smoothing)
            self._update()

        return self._alone(step)

    def _draw(self) -> torch.Tensor:
        return self.executor.draw(self._images, self._draws, self._first)

    def _update(self) -> None:
        self.executor.update(self._recipe, self._rate)

    def _alone(self, work: Callable[[], object]) -> float:
        """The least seconds of some work; on a GPU without the time that the host takes to ask for it."""
        repeats = STEPS if self.device.type == "cuda" else 1
        with replayed(lambda: _ignore(work()), self.device, state=self.executor.state()) as run:
            run()
            times = []
            for _ in range(PASSES):
                self._wait()
                start = perf_counter()
                for _ in range(repeats):
                    run()
                self._wait()
                times.append(perf_counter() - start)
        return min(times) / repeats

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def _ignore(_: object) -> None:
    return None


def _random_images(recipe: Recipe, classes: int, shape: tuple[int, int, int]) -> Dataset:
    """Four batches to train on, and few others."""
    rng = np.random.default_rng(0)
    count = 5 * recipe.batch
    train = LabelledImages(rng.integers(0, 256, (count, *shape), dtype=np.uint8), rng.integers(0, classes, count))
    test = LabelledImages(train.images[:1], train.labels[:1])
    names = tuple(map(str, range(classes)))
    return Dataset("random", train, test, names, (0.5,) * shape[0], (0.25,) * shape[0], "")


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
