"""Real networks: trained one at a time, or many at once as a population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nasbed.core.errors import InvalidOption, MissingDependency, NasbedError, NotReady, exception_line, shorten
from nasbed.core.status import Status
from nasbed.experiments.campaign.trainer import Trainer, check_keys
from nasbed.experiments.campaign.trial import Evaluation, Trial
from nasbed.spaces import space as registered_space

if TYPE_CHECKING:
    from nasbed.datasets import Dataset
    from nasbed.training.images import TrainingImages
    from nasbed.training.outcome import Job, TrainingOutcome
    from nasbed.training.population import CostCalibration, PopulationPreparer
    from nasbed.training.recipe import Recipe

POPULATION = 32


class NetworkTrainer(Trainer):
    """Trains the network of an architecture with a recipe. The budgets of the recipe are the fidelities.

    Args:
        space: the name of the search space.
        dataset: the name of the dataset.
        recipe: the recipe, or its name.
        device: where networks are trained.
        timeout_s: wall-clock timeout per task, in seconds.
        learning_curve: whether to measure the validation accuracy after every epoch as well.
    """

    kind = "training"

    def __init__(
        self,
        space: str,
        dataset: str,
        recipe: Recipe | str,
        *,
        device: str = "cpu",
        timeout_s: float | None = None,
        learning_curve: bool = False,
    ) -> None:
        from nasbed.training.outcome import METRICS, VALIDATION_ACCURACY
        from nasbed.training.recipe_files import load_recipe

        self.space = registered_space(space)
        self.dataset = dataset
        self.recipe = load_recipe(recipe) if isinstance(recipe, str) else recipe
        self.recipe_name = self.recipe.name
        self.device = device
        self.metrics, self.objective = METRICS, VALIDATION_ACCURACY
        self.fidelities = self.recipe.epochs
        self.timeout_s = timeout_s
        if not isinstance(learning_curve, bool):
            raise InvalidOption(f"learning_curve is true or false, got {shorten(learning_curve)}")
        self.learning_curve = learning_curve
        self._dataset: Dataset | None = None
        self._images: TrainingImages | None = None
        self.check()

    def identity(self) -> dict[str, Any]:
        data = self._load()
        identity = {"kind": self.kind, "dataset": f"{self.dataset} {data.hash}", "recipe": self.recipe.settings()}
        return identity | ({"learning_curve": True} if self.learning_curve else {})  # older journals lack the key

    def _load(self) -> Dataset:
        """The dataset, opened once a process."""
        from nasbed.datasets import load

        if self._dataset is None:
            self._dataset = load(self.dataset)
        return self._dataset

    def _on_device(self) -> TrainingImages:
        """The images, brought to the device once a process. Without them no trial can be evaluated."""
        from nasbed.training.devices import chosen_device
        from nasbed.training.images import TrainingImages

        if self._images is None:
            try:
                self._images = TrainingImages(self._load(), self.recipe, chosen_device(self.device))
            except NasbedError as error:
                raise NotReady(str(error)) from None
        return self._images

    def check_ready(self) -> list[str]:
        """Raise if the device, the dataset, the recipe and the space do not fit together."""
        from nasbed.training.readiness import check_training

        check_training(self.space, self._load(), self.recipe, device=self.device)
        return []

    def __getstate__(self) -> dict[str, Any]:
        plain = self.recipe.settings()
        return self.__dict__ | {"_dataset": None, "_images": None, "recipe": plain}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from nasbed.training.recipe import Recipe

        self.__dict__.update(state | {"recipe": Recipe(**state["recipe"])})

    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        from nasbed.training.loop import train

        images = self._on_device()
        evaluations = []
        for trial in trials:
            trained = train(
                trial.architecture,
                self._load(),
                self.recipe,
                seed=trial.seed,
                epochs=trial.fidelity,
                device=self.device,
                images=images,
                learning_curve=self.learning_curve,
            )
            evaluations.append(_evaluation(trained))
        return evaluations

    @classmethod
    def of_file(cls, space: str, settings: Mapping[str, Any], folder: Path) -> Self:
        """The trainer that ``[trainer]`` of a campaign's file describes; your own recipe is a file in the same
        folder."""
        check_keys(cls.kind, settings, ("dataset", "recipe"), cls._optional)
        if not space:
            raise InvalidOption("[campaign] has a space, got none; add one")
        recipe = settings["recipe"]
        if isinstance(recipe, str) and recipe.endswith(".toml"):
            recipe = str(folder / recipe)
        calibration = {"calibration": folder / settings["calibration"]} if "calibration" in settings else {}
        return cls(space, **{**settings, "recipe": recipe, **calibration})

    _optional: tuple[str, ...] = ("device", "timeout_s", "learning_curve")


class PopulationTrainer(NetworkTrainer):
    """Trains many networks at once on one device. A population that cannot be trained, for example because it does not
    fit into memory, is halved until it can. So one bad network does not affect the others.

    Args:
        space, dataset, recipe, device, timeout_s, learning_curve: as for :class:`NetworkTrainer`.
        population: how many networks are trained at once.
        calibration: the file that says what each network costs (:class:`~nasbed.training.population.CostCalibration`);
            without one, a network's time is its share of its population's.
    """

    kind = "population"
    _optional = ("device", "timeout_s", "learning_curve", "population", "calibration")

    def __init__(
        self,
        space: str,
        dataset: str,
        recipe: Recipe | str,
        *,
        population: int = POPULATION,
        device: str = "cuda",
        timeout_s: float | None = None,
        learning_curve: bool = False,
        calibration: str | Path | None = None,
    ) -> None:
        self.calibration = None if calibration is None else _calibration(calibration)
        if isinstance(population, bool) or not isinstance(population, int) or population < 1:
            raise InvalidOption(f"a population has at least one network, got {shorten(population)}")
        self.trials_per_task = population
        self._upcoming: list[Job] = []
        self._preparer: PopulationPreparer | None = None
        super().__init__(space, dataset, recipe, device=device, timeout_s=timeout_s, learning_curve=learning_curve)

    def check(self) -> None:
        super().check()
        self.recipe.check_population()

    def identity(self) -> dict[str, Any]:
        calibration = {} if self.calibration is None else {"calibration": self.calibration.sha256}
        return super().identity() | {"population": self.trials_per_task} | calibration

    def check_ready(self) -> list[str]:
        """Raise if a single network cannot be trained as a population; a note if a whole population will be halved."""
        from nasbed.training.population.calibration import CostSetting
        from nasbed.training.population.readiness import check_population_training

        super().check_ready()
        if self.calibration is not None:
            dataset = self._load()
            setting = CostSetting.of(self.space.name, self.recipe, classes=len(dataset.classes), shape=dataset.shape)
            self.calibration.check_setting(setting)
        return check_population_training(
            self.space, self._load(), self.recipe, device=self.device, population=self.trials_per_task
        )

    def announce(self, trials: Sequence[Trial]) -> None:
        """Other processes prepare these while the next ones are trained."""
        self._upcoming = _jobs(trials)

    def close(self) -> None:
        if self._preparer is not None:
            self._preparer.close()

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_upcoming": [], "_preparer": None}

    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        self._on_device()
        refusals: list[str] = []
        evaluations = self._train(_jobs(trials), refusals)
        if len(refusals) == len(trials) > 1 and len(set(refusals)) == 1:
            raise NotReady(refusals[0])  # whatever the network: the trainer is the reason
        return evaluations

    def _train(self, jobs: list[Job], refusals: list[str]) -> list[Evaluation]:
        """One evaluation for each job. Reasons for networks that nasbed refuses go to ``refusals``."""
        from nasbed.training.population import train_population

        reason, refusal = "", ""
        try:
            outcomes = train_population(
                jobs,
                self._load(),
                self.recipe,
                device=self.device,
                images=self._on_device(),
                preparer=self._population_preparer(),
                upcoming=self._upcoming,
                learning_curve=self.learning_curve,
                calibration=self.calibration,
            )
            return [_evaluation(outcome) for outcome in outcomes]
        except MissingDependency as error:
            raise NotReady(str(error)) from None
        except Exception as error:
            reason, refusal = exception_line(error), str(error) if isinstance(error, NasbedError) else ""
        if len(jobs) == 1:
            refusals += [refusal] if refusal else []
            return [Evaluation.failed(reason)]
        half = len(jobs) // 2  # outside the except clause, so that what the failure held is free again
        return [*self._train(jobs[:half], refusals), *self._train(jobs[half:], refusals)]

    def _population_preparer(self) -> PopulationPreparer:
        """The object that prepares populations, one per process."""
        from nasbed.training.devices import chosen_device
        from nasbed.training.population import PopulationPreparer, PreparationTarget

        if self._preparer is None:
            target = PreparationTarget.of(self._load(), self.recipe, chosen_device(self.device))
            self._preparer = PopulationPreparer(target)
        return self._preparer


def _calibration(file: str | Path) -> CostCalibration:
    from nasbed.training.population import CostCalibration

    return CostCalibration.load(file)


def _jobs(trials: Sequence[Trial]) -> list[Job]:
    from nasbed.training.outcome import Job

    return [Job(trial.architecture, trial.fidelity, trial.seed) for trial in trials]


def _evaluation(trained: TrainingOutcome) -> Evaluation:
    values = {metric.key: value for metric, value in trained.values().items()}
    curve = trained.validation_curve or ()
    return Evaluation(
        Status(trained.status), values, trained.train_time_s, trained.reason, curve, trained.measured_time_s
    )
