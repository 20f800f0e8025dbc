"""Benchmarks whose queries train a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.files import values_sha256
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.datasets.dataset import Dataset
from nasbed.spaces.base import Batch, SearchSpace
from nasbed.training.outcome import METRICS, TEST_ACCURACY, VALIDATION_ACCURACY, TrainingOutcome
from nasbed.training.recipe import Recipe

if TYPE_CHECKING:
    from nasbed.training.images import TrainingImages

PREFIX = "live:"


def live_benchmark(name: str) -> LiveBenchmark:
    """The benchmark called ``live:SPACE/DATASET/RECIPE``; the recipe is a name or a TOML file. It trains on a GPU if
    there is one."""
    from nasbed import datasets
    from nasbed.spaces import space
    from nasbed.training import load_recipe

    parts = name.removeprefix(PREFIX).split("/", 2)
    if not name.startswith(PREFIX) or len(parts) != 3 or not all(parts):
        raise InvalidOption(
            f"live training is called live:SPACE/DATASET/RECIPE, such as live:nb201/digits/small-nb201, got "
            f"{shorten(name)}"
        )
    searched, recipe = space(parts[0]), load_recipe(parts[2])
    return LiveBenchmark(searched, datasets.load(parts[1]), recipe, device="auto", name=name)


class LiveBenchmark(Benchmark):
    """A query trains the network of an architecture, in canonical form, by a recipe. Its cost is the training time in
    seconds. Fidelities are the recipe's budgets of epochs.

    Answers are cached in the process: the same architecture, fidelity and seed is trained once. Queries do not return
    test accuracies, which are measured for :meth:`mean_test`.

    Args:
        space: the search space.
        dataset: the images to train on.
        recipe: how networks are trained.
        device: where networks are trained.
        threads: CPU threads of a query. The last bits of an answer depend on their number. No other torch setting
            changes.
        name: the id of the benchmark; ``live:SPACE/DATASET/RECIPE`` by default.
    """

    metrics = tuple(metric for metric in METRICS if metric.split != "test")
    objective = VALIDATION_ACCURACY

    def __init__(
        self,
        space: SearchSpace,
        dataset: Dataset,
        recipe: Recipe,
        *,
        device: str = "cpu",
        threads: int = 1,
        name: str | None = None,
    ) -> None:
        from nasbed.networks import check_torch

        check_torch()
        from nasbed.training.devices import checked_threads, chosen_device
        from nasbed.training.images import TrainingImages

        self.space, self.dataset, self.recipe = space, dataset, recipe
        self.name = name or f"{PREFIX}{space.name}/{dataset.name}/{recipe.name}"
        self.fidelities = recipe.epochs
        self.device = str(chosen_device(device))
        self.threads = checked_threads(threads)
        self._images: TrainingImages = TrainingImages(dataset, recipe, self.device)
        self._outcomes: dict[tuple[tuple[int, ...], int, int], TrainingOutcome] = {}
        self._check()

    def _check(self) -> None:
        """Raise at once for a space, dataset or recipe that no network can be trained with."""
        import torch

        from nasbed.training.network_factory import recipe_network
        from nasbed.training.stepwise import check_drop_path

        with torch.device("meta"):
            network = recipe_network(self.space.sample(np.random.default_rng(0)), self.dataset, self.recipe)
        check_drop_path(network, self.recipe)
        self.recipe.steps_per_epoch(len(self._images))
        if not len(self._images.split.valid):
            raise InvalidOption(
                f"a search needs images to validate with, the recipe {self.recipe.name} leaves none; change its split"
            )

    @property
    def fingerprint(self) -> str:
        return values_sha256((self.space.name, self.dataset.hash, self.recipe.settings()))

    @property
    def is_live(self) -> bool:
        return True

    @property
    def dataset_name(self) -> str:
        return self.dataset.name

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        self.space.validate(arch)
        outcome = self._outcome(self.space.canonical(arch), fidelity, seed)
        values = {metric: value for metric, value in outcome.values().items() if metric in self.metrics}
        return Observation(arch, values, fidelity, seed, outcome.train_time_s, Status(outcome.status))

    def _outcome(self, arch: Architecture, fidelity: int, seed: int) -> TrainingOutcome:
        from nasbed.training.devices import threads_used
        from nasbed.training.loop import train

        key = (arch.code, fidelity, seed)
        if key not in self._outcomes:
            with threads_used(self.threads):
                self._outcomes[key] = train(
                    arch,
                    self.dataset,
                    self.recipe,
                    seed=seed,
                    epochs=fidelity,
                    device=self.device,
                    images=self._images,
                )
        return self._outcomes[key]

    # --- for evaluation only -----------------------------------------------------------------------------------------

    @property
    def test_metric(self) -> Metric | None:
        """None until this process has trained something to the highest fidelity."""
        return TEST_ACCURACY if self._tests() else None

    def mean_test(self, archs: Batch) -> NDArray[np.float64]:
        """The mean over the seeds that this process trained; NaN for an architecture that it did not train."""
        tests = self._tests()
        canonical = self.space.canonical_codes(archs).tolist()
        return np.array([np.mean(tests.get(tuple(code), [np.nan])) for code in canonical], dtype=np.float64)

    def _tests(self) -> dict[tuple[int, ...], list[float]]:
        tests: dict[tuple[int, ...], list[float]] = {}
        for (code, fidelity, _), outcome in self._outcomes.items():
            if fidelity == self.fidelities[-1] and outcome.test_accuracy is not None:
                tests.setdefault(code, []).append(outcome.test_accuracy)
        return tests

    def optimum(self) -> tuple[Architecture, float]:
        raise InvalidOption(
            f"the best of {self.name} is not known without training all of {self.space.name}; compare with the best "
            "that was found"
        )
