"""Many cells of table 2 in one file of results, on one device; existing results are not repeated. Needs torch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from nasbed.core.errors import InvalidOption
from nasbed.datasets.dataset import Dataset
from nasbed.experiments.unseen.budget import NasBudget, check_method, is_random
from nasbed.experiments.unseen.nas import trained, trained_together
from nasbed.experiments.unseen.presets import PresetChoice
from nasbed.experiments.unseen.results import ResultsFile, UnseenResult
from nasbed.experiments.unseen.run import NasRun
from nasbed.experiments.unseen.search import OnEpoch, SearchOutcome, recorded_outcome, searched
from nasbed.training.devices import chosen_device
from nasbed.training.images import TrainingImages
from nasbed.training.recipe import Recipe

Bar = Callable[[str, int], AbstractContextManager[OnEpoch]]
"""Makes a progress bar from a title and a number of epochs."""


@contextmanager
def no_bar(title: str, epochs: int) -> Iterator[OnEpoch]:
    yield lambda epoch, description: None


@dataclass(frozen=True, slots=True)
class NasPlan:
    """Every method searches with ``seeds`` seeds, counted from 0, and what it finds is trained with ``train_seeds``.
    With ``together`` what is found in one space on a dataset is trained at once, where a population can train it.

    Methods that the ``preset`` covers have its budget and recipe in place of the plan's. With ``learning_curve`` the
    validation accuracy is measured after every epoch of a training.
    """

    methods: tuple[str, ...]
    recipe: Recipe
    budget: NasBudget
    epochs: int | None = None
    seeds: int = 1
    train_seeds: int = 1
    together: bool = False
    preset: PresetChoice | None = None
    learning_curve: bool = False

    def __post_init__(self) -> None:
        if not self.methods:
            raise InvalidOption("a plan has a method or more, got none; name some, such as pc-darts")
        for method in self.methods:
            check_method(method)
        if self.together and self.preset is None:
            self.recipe.check_population()

    def run(self, method: str, dataset: Dataset, seed: int) -> NasRun:
        """The run of a method with a search seed."""
        if self.preset is None or not self.preset.covers(method):
            return NasRun(method, dataset, self.recipe, self.budget, seed, self.epochs)
        own = self.preset.configuration(method, dataset.name, self.epochs)
        return NasRun(method, dataset, own.recipe, own.budget, seed, self.epochs, preset=own.description)

    def runs(self, dataset: Dataset) -> Iterator[NasRun]:
        for method in dict.fromkeys(self.methods):
            for seed in range(self.seeds):
                yield self.run(method, dataset, seed)

    def missing_seeds(self, run: NasRun, results: ResultsFile) -> list[int]:
        """The training seeds of a run without a result."""
        return [seed for seed in range(self.train_seeds) if not results.has(run.planned(seed))]

    def check(self, dataset: Dataset) -> None:
        """Raise now where what is found could not be trained."""
        for run in self.runs(dataset):
            if run.search_seed == 0:
                run.check()
                if self.together and run.budget.trains_together(run.method):
                    run.recipe.check_population()


def measure(
    datasets: Sequence[Dataset],
    plan: NasPlan,
    file: Path,
    *,
    checkpoints: Path | None = None,
    searches: Path | None = None,
    device: str | torch.device = "cpu",
    bar: Bar = no_bar,
) -> int:
    """Add every planned result that a file lacks; returns how many were added.

    A search whose architecture is in the file is not repeated, whatever it is trained for. Nor is one that is recorded
    in the folder ``searches``, where every search is.

    Args:
        datasets: what to measure on.
        plan: which methods, and how they are trained.
        file: where results are added.
        checkpoints: the folder of what is interrupted; without it, interrupted work starts again.
        searches: the folder of the records of searches.
        device: where to search and train.
        bar: makes a progress bar of a part.
    """
    check_folders(checkpoints, searches)
    for dataset in datasets:
        plan.check(dataset)
    results = ResultsFile(file)
    count = len(results)
    for dataset in datasets:
        _MeasurementRun(plan, results, checkpoints, searches, chosen_device(device), bar).all(dataset)
    return len(results) - count


class _MeasurementRun:
    """Measures one dataset, and adds the results to a file."""

    def __init__(
        self,
        plan: NasPlan,
        results: ResultsFile,
        checkpoints: Path | None,
        searches: Path | None,
        device: torch.device,
        bar: Bar,
    ) -> None:
        """
        Args:
            plan: what to measure.
            results: the file of the results.
            checkpoints: the folder of what is interrupted.
            searches: the folder of what was searched.
            device: where to train.
            bar: makes a progress bar.
        """
        self.plan, self.results, self.folder, self.searches = plan, results, checkpoints, searches
        self.device, self.bar = device, bar
        self.images: TrainingImages | None = None

    def all(self, dataset: Dataset) -> None:
        waiting: dict[tuple[str, Recipe], list[tuple[NasRun, SearchOutcome, int]]] = {}
        for run in self.plan.runs(dataset):
            missing = self.plan.missing_seeds(run, self.results)
            if not missing:
                continue
            search = self._outcome(run)
            if self.plan.together and run.budget.trains_together(run.method):
                jobs = waiting.setdefault((run.budget.space(run.method), run.recipe), [])
                jobs += [(run, search, seed) for seed in missing]
                continue
            for seed in missing:
                self._train(run, search, seed)
        for jobs in waiting.values():
            self._train_together(jobs)

    def _outcome(self, run: NasRun) -> SearchOutcome:
        if (stored_outcome := earlier_outcome(run, self.results.results)) is not None:
            return stored_outcome
        if is_random(run.method):
            return searched(run)
        with self.bar(f"{_run_title(run)}: search", run.planned(0).search_epochs) as report_epoch:
            checkpoint, record = run.checkpoint(self.folder), run.record(self.searches)
            return searched(run, device=self.device, checkpoint=checkpoint, record=record, progress=report_epoch)

    def _train(self, run: NasRun, search: SearchOutcome, seed: int) -> None:
        planned, checkpoint = run.planned(seed), run.checkpoint(self.folder, seed)
        with self.bar(f"{_run_title(run)}: training with seed {seed}", planned.epochs) as report_epoch:
            result = trained(
                run,
                search,
                seed=seed,
                device=self.device,
                checkpoint=checkpoint,
                progress=report_epoch,
                images=self._images(run),
                learning_curve=self.plan.learning_curve,
            )
        self.results.add(result)
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)

    def _train_together(self, jobs: Sequence[tuple[NasRun, SearchOutcome, int]]) -> None:
        run, checkpoint = jobs[0][0], self._checkpoint_together(jobs)
        with self.bar(
            f"{run.dataset.name}: training {len(jobs)} networks together", run.planned(0).epochs
        ) as report_epoch:
            results = trained_together(
                jobs,
                device=self.device,
                checkpoint=checkpoint,
                progress=report_epoch,
                images=self._images(run),
                learning_curve=self.plan.learning_curve,
            )
        for result in results:
            self.results.add(result)
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)

    def _checkpoint_together(self, jobs: Sequence[tuple[NasRun, SearchOutcome, int]]) -> Path | None:
        """The file for the training of several networks; others, or other settings, have other files."""
        own = [run.checkpoint(self.folder, seed) for run, _, seed in jobs]
        names = [path.name for path in own if path is not None]
        if self.folder is None:
            return None
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:8]
        return self.folder / f"{jobs[0][0].dataset.name}-{len(jobs)}-together-{digest}.ckpt"

    def _images(self, run: NasRun) -> TrainingImages:
        """The images, prepared once for methods that split and augment a dataset alike."""
        if self.images is None or not self.images.suit(run.recipe):
            self.images = TrainingImages(run.dataset, run.recipe, self.device)
        return self.images


def check_folders(*folders: Path | None) -> None:
    """Raise where one is a file."""
    for folder in folders:
        if folder is not None and folder.exists() and not folder.is_dir():
            raise InvalidOption(f"searches and trainings are kept in folders, {folder} is a file; move it away")


def earlier_outcome(run: NasRun, results: Sequence[UnseenResult]) -> SearchOutcome | None:
    """The outcome of a run's search, if any result has it, whatever its training."""
    planned = run.planned(0)
    for result in results:
        is_same = (result.model, result.dataset_hash, result.search_seed) == (
            run.method,
            run.dataset.hash,
            run.search_seed,
        )
        if is_same and result.architecture and result.search == planned.search:
            return recorded_outcome(result)
    return None


def _run_title(run: NasRun) -> str:
    return f"{run.dataset.name}, {run.method} {run.search_seed}"
