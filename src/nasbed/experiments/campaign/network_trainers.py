"""Real networks: trained one at a time, or many at once as a population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.observation import Status
from nasbed.experiments.campaign.trainer import Trainer, check_keys
from nasbed.experiments.campaign.trial import Evaluation, Trial
from nasbed.experiments.engines import told
from nasbed.spaces import space as registered_space

if TYPE_CHECKING:
    from nasbed.datasets import Dataset
    from nasbed.training.images import TrainingImages
    from nasbed.training.outcome import Job, Trained
    from nasbed.training.recipe import Recipe

POPULATION = 32


class NetworkTrainer(Trainer):
    """Trains the network of an architecture with a recipe. The budgets of the recipe are the fidelities.
    ``learning_curve`` measures the validation accuracy after every epoch as well."""

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
        """The images, brought to the device once a process."""
        from nasbed.training.images import TrainingImages

        if self._images is None:
            self._images = TrainingImages(self._load(), self.recipe, self.device)
        return self._images

    def __getstate__(self) -> dict[str, Any]:
        plain = self.recipe.settings()
        return self.__dict__ | {"_dataset": None, "_images": None, "recipe": plain}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from nasbed.training.recipe import Recipe

        self.__dict__.update(state | {"recipe": Recipe(**state["recipe"])})

    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        from nasbed.training.loop import train

        found = []
        for trial in trials:
            trained = train(
                trial.architecture,
                self._load(),
                self.recipe,
                seed=trial.seed,
                epochs=trial.fidelity,
                device=self.device,
                images=self._on_device(),
                learning_curve=self.learning_curve,
            )
            found.append(_evaluation(trained))
        return found

    @classmethod
    def of_file(cls, space: str, settings: Mapping[str, Any], folder: Path) -> Self:
        """As ``[trainer]`` of a campaign's file describes it; a recipe of one's own is a file beside it."""
        check_keys(cls.kind, settings, ("dataset", "recipe"), cls._optional)
        if not space:
            raise InvalidOption("[campaign] has a space, got none; add one")
        recipe = settings["recipe"]
        if isinstance(recipe, str) and recipe.endswith(".toml"):
            recipe = str(folder / recipe)
        return cls(space, **{**settings, "recipe": recipe})

    _optional: tuple[str, ...] = ("device", "timeout_s", "learning_curve")


class PopulationTrainer(NetworkTrainer):
    """Trains ``population`` networks at once on one device. A population that cannot be trained, as when it does not
    fit into memory, is halved until it can, so that one bad network costs no other."""

    kind = "population"
    _optional = ("device", "timeout_s", "learning_curve", "population")

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
    ) -> None:
        if isinstance(population, bool) or not isinstance(population, int) or population < 1:
            raise InvalidOption(f"a population has at least one network, got {shorten(population)}")
        self.trials_per_task = population
        super().__init__(space, dataset, recipe, device=device, timeout_s=timeout_s, learning_curve=learning_curve)

    def check(self) -> None:
        super().check()
        self.recipe.check_population()

    def identity(self) -> dict[str, Any]:
        return super().identity() | {"population": self.trials_per_task}

    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        from nasbed.training.outcome import Job

        return self._train([Job(each.architecture, each.fidelity, each.seed) for each in trials])

    def _train(self, jobs: list[Job]) -> list[Evaluation]:
        from nasbed.training.population import train_population

        reason = ""
        try:
            outcomes = train_population(
                jobs,
                self._load(),
                self.recipe,
                device=self.device,
                images=self._on_device(),
                learning_curve=self.learning_curve,
            )
            return [_evaluation(outcome) for outcome in outcomes]
        except Exception as error:
            reason = told(error)
        if len(jobs) == 1:
            return [Evaluation.failed(reason)]
        half = len(jobs) // 2  # outside the except clause, so that what the failure held is free again
        return [*self._train(jobs[:half]), *self._train(jobs[half:])]


def _evaluation(trained: Trained) -> Evaluation:
    values = {metric.key: value for metric, value in trained.values().items()}
    curve = trained.validation_curve or ()
    return Evaluation(Status(trained.status), values, trained.train_time_s, trained.reason, curve)
